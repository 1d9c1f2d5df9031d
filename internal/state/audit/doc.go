// Package audit is the record: what was judged, decided, passed and dropped,
// written before it happens and readable years later without this program.
//
// Log writes one segment file per proxy session; a single writer holds a lock
// on it, so a record costs one write and fifty proxies never interleave. Every
// line carries the hash of the line before it. The ledger beside the segments,
// chained the same way, names each segment with its first and last hash.
// Read, Follow and Verify are the other side. docs/record.md is the format.
//
// The room must never let a record fail for what is in it, never write a
// secret that it recognises (unless told to), never write a byte that can
// reach a terminal as a control, and never shorten or rewrite a file.
package audit
