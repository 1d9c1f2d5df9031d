// Package queue is where questions wait for a person in another process: a
// SQLite database in the state directory that any number of proxies and
// answerers (the terminal interface, the web page, decide) use at once.
//
// A request is pending until one answer, its deadline or the end of its proxy
// resolves it; the first of them wins, and everybody else is told so. Nothing in
// here decides a call: an answer is handed to the gate, which judges again.
package queue
