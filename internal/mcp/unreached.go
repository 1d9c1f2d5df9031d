package mcp

// Unreached answers a request that a remote server did not answer; why says what
// went wrong on the way.
func Unreached(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the server: "+visible(why, 300)+".", nil)
}

// Unheard answers a request of a server's that did not reach its client.
func Unheard(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the client: "+visible(why, 300)+".", nil)
}

// Relayed answers the request id with the error of a server that could not say
// which request it was about. The error is admitted JSON, and stays as it is: its
// code may tell the client what to try next.
func Relayed(id, failure []byte) []byte {
	b := append(open(id), `,"error":`...)
	return append(append(b, failure...), '}')
}
