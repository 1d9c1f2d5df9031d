//go:build !unix

package diskfile

import "os"

func open(name string) (*os.File, error) { return os.Open(name) }
