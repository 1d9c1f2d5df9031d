// Package event defines the records that the gate, the transports and the policy tools
// report: a call, its decision, its end, and others. The package reads and writes no
// file. Package audit does that, and docs/record.md describes the format.
package event
