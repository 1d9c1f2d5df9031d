package mcp

// UnreachedAnswer answers a request that a remote server did not answer; why says what
// went wrong on the way.
func UnreachedAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the server: "+visibleText(why, 300)+".", nil)
}

// UnheardAnswer answers a request of a server's that did not reach its client.
func UnheardAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the client: "+visibleText(why, 300)+".", nil)
}

// RelayedError answers the request id with the error of a server that could not say
// which request it was about. The error is admitted JSON, and stays as it is: its
// code may tell the client what to try next.
func RelayedError(id, failure []byte) []byte {
	b := append(openReply(id), `,"error":`...)
	return append(append(b, failure...), '}')
}
