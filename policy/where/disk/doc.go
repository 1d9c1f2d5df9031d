// Package disk holds the constraint on a path: under. It is the only constraint that
// reads the file system: a path lies where its links lead, and text does not show
// that.
//
// A path is walked as a kernel walks it (POSIX.1-2024, section 4.16): name by name,
// each link where it occurs, dot-dot after the link before it. Not all servers do so.
// A server that cleans the text first drops the link before a dot-dot (Node's
// path.resolve, Go's filepath.Clean). A server that removes, renames or replaces a
// link changes the link, not its target. When these ways lead to different answers,
// the answer is a maybe.
//
// The check happens before the call. A link can change in between, and nothing here
// can prevent that (docs/where.md).
package disk
