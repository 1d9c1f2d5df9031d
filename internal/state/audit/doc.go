// Package audit is the record: it stores what was judged, decided, passed and dropped, before it
// happens. The record stays readable for years without this program.
//
// Log writes one segment file per proxy session. A single writer holds a lock on the file, so a
// record costs one write, and the lines of fifty proxies never mix. Every line carries the hash of
// the line before it. The ledger next to the segments is chained the same way and names each
// segment with its first and last hash. Read, Follow and Verify read the record. docs/record.md
// describes the format.
//
// A record must never fail because of its content. The package must never write a secret that it
// recognizes (unless told to) or a byte that can reach a terminal as a control character, and must
// never shorten or rewrite a file.
package audit
