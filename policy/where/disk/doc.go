// Package disk holds the constraint on a path: under. It is the one constraint
// that looks at the world: a path lies where its links lead, and text does not
// show that.
//
// A path is walked as a kernel walks it (POSIX.1-2024, section 4.16): name by
// name, each link where it stands, dot-dot after the link before it. Servers do
// not all do so. One that cleans the text first drops the link before a dot-dot
// (Node's path.resolve, Go's filepath.Clean), and one that removes, renames or
// replaces a link touches the link, not what it points to. Where these ways lead
// to another answer, the answer is a maybe.
//
// The look comes before the call. A link can change in between, and nothing here
// can stop that (docs/where.md).
package disk
