// Package redact keeps secrets out of what is stored: it knows them by their
// shape, by the name of the member that holds them and by the command that takes
// them, and writes a marker in their place. Pure.
package redact
