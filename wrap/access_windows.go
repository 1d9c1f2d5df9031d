package wrap

import "github.com/clawai/clawai/internal/state/access"

// mayWrite returns true on Windows: the write fails if it is not permitted, and the read-only
// attribute is in the file's mode, which checkWritable looks at.
func mayWrite(string) bool { return true }

// checkOwner refuses another user's file, because the file that replaces it would belong to the user
// who runs clawai.
func checkOwner(path string) error { return access.CheckOwner(path) }
