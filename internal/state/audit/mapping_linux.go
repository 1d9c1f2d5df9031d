package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// mapping is the end of a segment in memory. A record is in the file, for every reader
// and whatever becomes of this process, the moment it is stored there: without a system
// call. Room is reserved on the disk before anything is stored into it, so that a full
// disk is an error of reserve and never a fault; what is reserved reads as zeros.
type mapping struct {
	file   *os.File
	window []byte // of the file, from base on
	base   int64  // a multiple of a page
	end    int64  // of what was stored
	lost   bool   // the file is no longer what was reserved
}

// room is how much is reserved at once: some four hundred records.
const room = 256 << 10

// mappable are the file systems on which a reservation keeps its word and all who read
// the file see what is stored: not those of a network, nor those of a program.
var mappable = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:      true, // ext2 and ext3 too
	unix.XFS_SUPER_MAGIC:       true,
	unix.BTRFS_SUPER_MAGIC:     true,
	unix.F2FS_SUPER_MAGIC:      true,
	unix.TMPFS_MAGIC:           true,
	unix.OVERLAYFS_SUPER_MAGIC: true,
}

// newMapping maps the end of an empty file, or returns nil where that cannot be had and
// the file is to be written.
func newMapping(f *os.File) (*mapping, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || !mappable[fs.Type] {
		return nil, nil
	}
	m := &mapping{file: f}
	err := m.reserveRoom(1)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EPERM) {
		return nil, f.Truncate(0)
	}
	if err == nil { // what is appended would land behind what is reserved
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, openFlags)
	}
	return m, err
}

// appendBytes stores p, all of it or nothing.
func (m *mapping) appendBytes(p []byte) (int, error) {
	if m.lost {
		return 0, errLost
	}
	if m.end+int64(len(p)) > m.reservedSize() {
		if err := m.reserveRoom(len(p)); err != nil {
			return 0, err
		}
	}
	put := m.storeLines
	if len(p) >= many {
		put = m.writeBytes
	}
	if err := put(p); err != nil {
		m.lost = true
		return 0, err
	}
	m.end += int64(len(p))
	return len(p), nil
}

// reservedSize gives the size that the file has, unless somebody else changed it.
func (m *mapping) reservedSize() int64 { return m.base + int64(len(m.window)) }

// reserveRoom makes room for n bytes and more, or for these alone when the disk has no more.
func (m *mapping) reserveRoom(n int) error {
	page := int64(os.Getpagesize())
	need := (m.end + int64(n) + page - 1) / page * page
	size := need + room
	err := allocateRange(m.file, m.reservedSize(), size)
	if err != nil && need > m.reservedSize() {
		size = need
		err = allocateRange(m.file, m.reservedSize(), size)
	}
	if err != nil {
		return &os.PathError{Op: "reserve room in", Path: m.file.Name(), Err: err}
	}
	base := m.end / page * page
	window, err := unix.Mmap(int(m.file.Fd()), base, int(size-base), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return &os.PathError{Op: "map", Path: m.file.Name(), Err: err}
	}
	m.unmap()
	m.window, m.base = window, base
	return nil
}

// allocateRange reserves the file from one place to another.
func allocateRange(f *os.File, from, to int64) error {
	for {
		if err := unix.Fallocate(int(f.Fd()), 0, from, to-from); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// many is from how many bytes on one system call is cheaper than the faults by which the
// system gets each page of a mapping (BenchmarkRecord).
const many = 8 << 10

// writeBytes puts p where store would, of which the mapping knows as well.
func (m *mapping) writeBytes(p []byte) error {
	for at := m.end; len(p) > 0; {
		n, err := unix.Pwrite(int(m.file.Fd()), p, at)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: m.file.Name(), Err: err}
		}
		at, p = at+int64(n), p[n:]
	}
	return nil
}

var errLost = errors.New("its file is gone under it: it was cut short, or its disk fails")

// storeLines copies p, a line at a time: a process that is killed leaves whole lines and at
// most one that has zeros in it, and none behind that. A file that somebody cut short,
// or a disk that fails, is a fault, which is an error here.
func (m *mapping) storeLines(p []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = errLost
		}
	}()
	for dst := m.window[m.end-m.base:]; len(p) > 0; {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			n = len(p)
		}
		copy(dst, p[:n])
		dst, p = dst[n:], p[n:]
	}
	return nil
}

func (m *mapping) unmap() {
	if m.window != nil {
		_ = unix.Munmap(m.window) // fails of a wrong address only
		m.window = nil
	}
}

// truncateFile cuts the file where its records end; nothing more is stored.
func (m *mapping) truncateFile() error {
	m.unmap()
	if isSpoiled(m.file, m.end) {
		return nil
	}
	return m.file.Truncate(m.end)
}
