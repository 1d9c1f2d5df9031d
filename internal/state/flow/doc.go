// Package flow remembers what an agent's session has seen, for all proxies of the session: which
// servers returned text that anybody may have written, and which data must not leave. It judges the
// calls that could carry such data out (docs/flow.md).
//
// The memory is one journal for each key of the session. A journal is a file to which lines are
// only added. Writers need no lock and no daemon, because the set of labels only grows: the order
// of lines does not matter, and a repeated line does no harm.
package flow
