package wrap

import "github.com/clawai/clawai/internal/state/access"

// mayWrite returns true: the write itself decides, and the read-only attribute is in the file's
// mode.
func mayWrite(string) bool { return true }

// notOurs refuses another user's file: its replacement would be ours.
func notOurs(path string) error { return access.CheckOwner(path) }
