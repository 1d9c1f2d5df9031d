// Package pin compares a server's current description of itself with the approved one. It puts each
// difference into one of a few classes by the difference's risk. It also defines the file format of
// the approved description.
//
// Two entries are equal if their canonical forms are equal (see canonical.go). The caller must
// first check a server's lines as strictly as internal/wire/frame does.
package pin

// Formula is the version number of the canonical form. Whole entries are stored, so a new version
// can be computed from them without a new approval.
const Formula = 1
