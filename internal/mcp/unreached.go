package mcp

// UnreachedAnswer answers a request that a remote server did not answer; why is the transport
// error.
func UnreachedAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the server: "+visibleText(why, 300)+".", nil)
}

// UnheardAnswer answers a server's request that did not reach its client.
func UnheardAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the client: "+visibleText(why, 300)+".", nil)
}

// RelayedError answers the request id with an error of a server that named no request. The error
// is admitted JSON and stays unchanged: its code may tell the client what to try next.
func RelayedError(id, failure []byte) []byte {
	b := append(openReply(id), `,"error":`...)
	return append(append(b, failure...), '}')
}
