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

// writeStamp adds to a digest the facts that the system stores about a file. Every write changes
// the file's change time (ctime), and no system call sets that time. The times and size of a folder
// change only with the names in it. These names are in the digest, so the times and size are left
// out.
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

// changeTime returns the time at which a file or its name was last changed. No system call can set
// this time back.
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
	return unix.Syncfs(int(f.Fd())) //nolint:gosec // a file descriptor fits into an int
}
