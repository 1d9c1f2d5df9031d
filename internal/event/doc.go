// Package event is what happened, in words: what the gate, the transports and
// the tools of policies say of a call, its decision and its end. It writes and
// reads no file; package audit does, and docs/record.md is the format.
package event
