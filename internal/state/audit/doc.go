// Package audit writes and reads the record: messages that were judged, decisions, and messages
// that were passed or dropped. An event is written before the proxy acts on it. The record stays
// readable for years without this program.
//
// Log writes segment files. A segment belongs to one proxy session, or to all calls that the hooks
// of an agent's session record on one day. Only one process at a time writes to a segment and holds
// a lock on the file. So a record costs one write, and the lines of several processes never mix.
// Every line has the hash of the line before it. The ledger is a file next to the segments. It is
// chained in the same way and names each segment with its first and last hash. Read, Follow and
// Verify read the record. docs/record.md describes the format.
//
// Record must never fail because of the content of an event. The package must never write a secret
// that it recognizes, unless it is told to. It must never write a byte that can reach a terminal as
// a control character. It must never remove or change a written line; it only removes whole old
// segments.
package audit
