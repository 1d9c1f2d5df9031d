// Package event describes events in words: a call, its decision and its end, as the
// gate, the transports and the policy tools report them. It reads and writes no file.
// Package audit does that, and docs/record.md describes the format.
package event
