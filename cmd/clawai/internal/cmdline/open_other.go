//go:build !unix

package cmdline

import "os"

func open(name string) (*os.File, error) { return os.Open(name) }
