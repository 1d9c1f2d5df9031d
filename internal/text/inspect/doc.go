// Package inspect finds content in a server's text that a person does not see or should not get:
// hidden characters, text for a model's template, secrets, card and account numbers. It only checks
// the form of a text. It does not find a request in plain words (docs/detection.md).
//
// The package is pure: it gets a text and the kinds to look for, and returns what it found and
// where.
package inspect
