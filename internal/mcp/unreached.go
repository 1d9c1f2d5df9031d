package mcp

// UnreachedAnswer returns the error answer to a request that a remote server did not answer. The
// parameter why is the error of the transport, which may contain names of files.
func UnreachedAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the server: "+visibleText(why, 600)+".", nil)
}

// UnheardAnswer returns the error answer to a server's request that did not reach its client.
func UnheardAnswer(id []byte, why string) []byte {
	return errorReply(id, CodeGone, "No answer from the client: "+visibleText(why, 300)+".", nil)
}
