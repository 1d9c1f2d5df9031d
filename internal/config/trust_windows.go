package config

import (
	"io/fs"
	"os"
)

// checkOwner asks nothing: who may write is in access lists, which are inherited
// from a profile that is the user's alone by default.
func checkOwner(string, fs.FileInfo) error { return nil }

const (
	openFlags = os.O_RDONLY
	lookFlags = openFlags
)
