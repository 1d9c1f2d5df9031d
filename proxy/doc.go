// Package proxy moves frames between one client and one server. Every frame passes the gate. The
// package keeps a table of the requests in flight. The table shows which responses, cancellations
// and progress messages may follow.
//
// The package reads and writes plain streams. A transport, for example proxy/stdio, starts the
// server. The gate decides about every frame; the package makes no decisions. The package rewrites
// an id or a progress token only in two cases: the caller has answered a form with a second
// request, or a server's answer needs a repair.
package proxy
