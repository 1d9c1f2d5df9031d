package wrap

import "github.com/clawai/clawai/internal/state/access"

// mayWrite leaves the question to the write itself; the read-only attribute
// shows in the file's mode.
func mayWrite(string) bool { return true }

// notOurs refuses another user's file: one that is put in its place would be ours.
func notOurs(path string) error { return access.CheckOwner(path) }
