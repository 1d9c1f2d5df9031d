// Package redact keeps secrets out of stored data. It recognizes a secret by its form, by the name
// of its member, or by the command that uses it. It writes a marker in place of the secret. The
// package is pure.
package redact
