// Package queue holds questions that wait for a person in another process: a SQLite database in
// the state directory that any number of proxies and answerers (the terminal interface, the web
// page, decide) use at the same time.
//
// A request is pending until one answer, its deadline or the end of its proxy resolves it. The
// first of these wins, and all others are told. This package decides no call: it hands the answer
// to the gate, which judges again.
package queue
