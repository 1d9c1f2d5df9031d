// Package flow remembers what an agent's session has seen, for all proxies that the session
// runs through: which servers have given it what anybody may have written, and what must
// not leave. It judges the calls that could carry that out (docs/flow.md).
//
// The memory is a journal for each key of the session, a file to which lines are only
// added. There is no lock and no daemon: labels only grow, so the order of lines does not
// matter, nor one that is said twice.
package flow
