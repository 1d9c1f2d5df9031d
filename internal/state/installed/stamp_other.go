//go:build !linux

package installed

import (
	"fmt"
	"hash"
	"io/fs"
	"time"
)

// writeStamp adds to a digest the facts that every system stores about a file. It is not used in
// practice, because clawai installs servers only on Linux, where it has sandboxes.
func writeStamp(to hash.Hash, name string, info fs.FileInfo, link string) error {
	fmt.Fprintf(to, "%q %v %q %d %v\n", name, info.Mode(), link, info.Size(), info.ModTime())
	return nil
}

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func syncTree(string) error { return nil }
