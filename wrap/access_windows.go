package wrap

import "github.com/clawai/clawai/internal/state/access"

// mayWrite always returns true on Windows. A write without permission fails later, and
// checkWritable reads the read-only attribute from the file's mode.
func mayWrite(string) bool { return true }

// checkOwner returns an error for another user's file. The write would replace this file by a file
// of the user who runs clawai.
func checkOwner(path string) error { return access.CheckOwner(path) }
