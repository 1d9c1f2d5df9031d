// Package queue holds questions that wait for a person in another process. The questions are in a
// SQLite database in the state directory. Many proxies and answerers (the terminal interface, the
// web page, the command decide) can use it at the same time.
//
// A request is pending until it gets an answer, reaches its deadline, or its proxy ends. The first
// of these events wins, and all processes learn of it. This package decides no call: the gate gets
// the answer and judges the call again.
package queue
