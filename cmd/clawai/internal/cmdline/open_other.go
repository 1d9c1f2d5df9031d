//go:build !unix

package cmdline

import "os"

func openFile(name string) (*os.File, error) { return os.Open(name) }
