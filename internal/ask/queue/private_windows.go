package queue

import (
	"io/fs"

	"github.com/clawai/clawai/internal/state/access"
)

const noFollow = 0

// keepPrivate returns an error if another user owns the path or may write to it.
func keepPrivate(path string, _ fs.FileInfo, _ fs.FileMode) error { return access.CheckWrite(path) }
