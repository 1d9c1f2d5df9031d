package installed

import (
	"fmt"
	"hash"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// writeStamp adds to a digest what the system keeps of a file. Whoever writes a file changes its
// time of change (ctime), and no call sets that time. A folder's own times and size say only that names
// in it have changed, and the names are there already.
func writeStamp(to hash.Hash, name string, info fs.FileInfo, link string) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the system says too little of %q", name)
	}
	fmt.Fprintf(to, "%q %v %q %d", name, info.Mode(), link, st.Uid)
	if !info.IsDir() {
		fmt.Fprintf(to, " %d %d %d.%d", st.Ino, st.Size, st.Ctim.Sec, st.Ctim.Nsec)
	}
	fmt.Fprintln(to)
	return nil
}

// changeTime returns when a file or its place was changed, which no call sets back.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}

// syncTree writes the files of a folder to the disk, before a manifest names them.
func syncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return unix.Syncfs(int(f.Fd())) //nolint:gosec // a descriptor
}
