//go:build !linux

package cmdline

import "os"

// onDisk accepts every file: on other systems, no link leads to files that are interfaces of
// the kernel.
func onDisk(*os.File) error { return nil }
