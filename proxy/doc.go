// Package proxy moves frames between one client and one server and lets
// nothing cross but through the gate. It knows which requests are in flight,
// and therefore which replies, cancellations and progress may follow.
//
// It works on readers and writers: where the server runs is a transport's
// business (proxy/stdio). It decides nothing, and no byte of a frame is
// changed on its way.
package proxy
