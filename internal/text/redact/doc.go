// Package redact keeps secrets out of stored data. It recognizes a secret by its form, by the
// name of its member and by the command that takes it, and writes a marker in its place. The
// package is pure.
package redact
