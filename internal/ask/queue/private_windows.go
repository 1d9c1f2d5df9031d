package queue

import (
	"io/fs"

	"github.com/clawai/clawai/internal/state/access"
)

const noFollow = 0

// keepPrivate refuses a path that another user owns or may write.
func keepPrivate(path string, _ fs.FileInfo, _ fs.FileMode) error { return access.CheckWrite(path) }
