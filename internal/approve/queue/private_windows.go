package queue

import "io/fs"

const noFollow = 0

// keepPrivate asks nothing: who may write is in access lists, which are
// inherited from a profile that is the user's alone by default.
func keepPrivate(string, fs.FileInfo, fs.FileMode) error { return nil }
