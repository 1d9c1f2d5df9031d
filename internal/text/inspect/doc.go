// Package inspect finds content in a server's text that a person does not see or should not get:
// hidden characters, text for a model's template, secrets, card and account numbers. It checks
// form alone. It does not find a request in plain words (docs/detection.md).
//
// It is pure: it takes a text and the kinds to look for, and returns what it found and where.
package inspect
