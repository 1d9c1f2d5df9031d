//go:build !linux

package cmdline

import "os"

// checkFilesystem accepts every file: on other systems, no link leads to files that are interfaces
// of the kernel.
func checkFilesystem(*os.File) error { return nil }
