// Package pin holds the approved description of a server and compares it with the current one. It
// sorts each difference into one of a few classes by its risk. It also defines the file format of
// the approved description.
//
// Two entries are equal when their canonical forms are equal (see canonical.go). A caller must
// admit a server's lines as strictly as internal/wire/frame does.
package pin

// Formula is the version number of the canonical form. Whole entries are stored, so another version
// can be computed from them without a new approval.
const Formula = 1
