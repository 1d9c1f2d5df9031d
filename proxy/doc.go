// Package proxy moves frames between one client and one server. Every frame passes the gate. The
// package tracks the requests in flight, and so it can tell which responses, cancellations and
// progress messages may follow.
//
// It works on readers and writers: the transport (proxy/stdio) decides where the server runs. The
// package makes no decisions. It rewrites ids and progress tokens only where the caller has
// returned from a form or where a server's answer needs a repair.
package proxy
