// Package disk holds the constraint on a path: under. It is the only constraint that reads the file
// system, because the text of a path does not show where its links lead.
//
// The package resolves a path as a kernel does (POSIX.1-2024, section 4.16): name by name, each
// link where it occurs, and dot-dot after the link before it. Not all servers do so. A server that
// cleans the text first drops the link before a dot-dot (Node's path.resolve, Go's filepath.Clean).
// A server that removes, renames or replaces a link changes the link, not its target. If these ways
// lead to different answers, the answer is Maybe.
//
// The check happens before the call. A link can change between the check and the call. The package
// cannot prevent this (docs/where.md).
package disk
