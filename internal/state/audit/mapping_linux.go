package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// mapping is the end of a segment, mapped into memory. A record that is stored in the mapping is at
// once in the file, without a system call. Every reader sees it, and it stays there even if this
// process dies. Disk space is reserved before a record is stored in it. So a full disk is an error
// of reserveRoom and never a memory fault. Reserved space reads as zeros.
type mapping struct {
	file   *os.File
	window []byte // the mapped part of the file
	base   int64  // offset of window in the file, a multiple of the page size
	end    int64  // offset in the file of the end of the stored data
	filled int64  // offset in the file up to which fillPages has written zeros
	fills  bool   // fillPages is cheap and safe on this file system
	lost   bool   // the file has been cut short, or its disk failed
}

// reserveStep is the number of bytes that are reserved at once, enough for about 400 records.
const reserveStep = 256 << 10

// mappable holds the types of file systems on which mapping is safe: reserved space is really
// available, and all readers see the stored data. Network and FUSE file systems are not in the map.
// The value is whether fillPages may be used. It must not be used where a second write to reserved
// space needs new space (btrfs, f2fs). On tmpfs it gains nothing. Below an overlay is any system.
var mappable = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:      true, // ext2 and ext3 too
	unix.XFS_SUPER_MAGIC:       true,
	unix.BTRFS_SUPER_MAGIC:     false,
	unix.F2FS_SUPER_MAGIC:      false,
	unix.TMPFS_MAGIC:           false,
	unix.OVERLAYFS_SUPER_MAGIC: false,
}

// newMapping maps the end of an empty file. It returns nil if mapping is not possible. In that case
// the file is written with system calls. synced means that each record is synced: then fillPages
// would make each sync write more pages.
func newMapping(f *os.File, synced bool) (*mapping, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return nil, nil
	}
	fills, known := mappable[fs.Type]
	if !known {
		return nil, nil
	}
	m := &mapping{file: f, fills: fills && !synced, filled: int64(os.Getpagesize())}
	err := m.reserveRoom(1)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EPERM) {
		return nil, f.Truncate(0)
	}
	if err == nil { // clear O_APPEND: with it, writeBytes would write after the reserved space
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, openFlags)
	}
	return m, err
}

// appendBytes stores all of p or nothing.
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
	if len(p) >= largeSize {
		put = m.writeBytes
	} else if m.fills && m.end+int64(len(p)) > m.filled {
		m.fillPages(int64(len(p)))
	}
	if err := put(p); err != nil {
		m.lost = true
		return 0, err
	}
	m.end += int64(len(p))
	return len(p), nil
}

// reservedSize returns the size of the file with its reserved space. A smaller file was cut short
// by somebody else.
func (m *mapping) reservedSize() int64 { return m.base + int64(len(m.window)) }

// reserveRoom reserves space for n bytes and reserveStep more, or only for n bytes if the disk has
// no more space.
func (m *mapping) reserveRoom(n int) error {
	page := int64(os.Getpagesize())
	need := (m.end + int64(n) + page - 1) / page * page
	size := need + reserveStep
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
	_ = unix.Madvise(window, unix.MADV_RANDOM) // only advice: without it, the first fault reads all pages of the window
	m.unmap()
	m.window, m.base = window, base
	return nil
}

// allocateRange reserves disk space for a range of the file.
func allocateRange(f *os.File, from, to int64) error {
	for {
		if err := unix.Fallocate(int(f.Fd()), 0, from, to-from); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// largeSize is the number of bytes from which one system call is cheaper than the page faults of a
// mapping (BenchmarkRecord).
const largeSize = 8 << 10

// fillStep is the number of bytes that fillPages writes at once, enough for about 25 calls.
const fillStep = 32 << 10

// noBytes holds the bytes that fillPages writes.
var noBytes [fillStep]byte

// fillPages brings the pages after the stored data into memory, so that a store of n bytes and the
// next stores cause no dear page faults: it writes zeros into reserved space, which reads as zeros
// already. One write brings eight pages in a quarter of the time of their faults (ADR 32). A session
// of few records causes no such write, because the first page counts as filled.
//
// A write makes a file longer that somebody has cut short, and then a store into it would not fail.
// So fillPages looks at the size first, and it leaves out the last page of the window: the file
// stays shorter than reservedSize if it is cut meanwhile, which reopenIfMoved sees. An error is
// ignored, because the store finds out itself if the disk fails.
func (m *mapping) fillPages(n int64) {
	page := int64(os.Getpagesize())
	from := max(m.filled, (m.end+page-1)/page*page)
	to := min((m.end+n+fillStep)/fillStep*fillStep, m.reservedSize()-page)
	m.filled = max(m.end+n, to)
	if from < to && !isSpoiled(m.file, m.reservedSize()) {
		_, _ = unix.Pwrite(int(m.file.Fd()), noBytes[:min(to-from, fillStep)], from)
	}
}

// writeBytes writes p with a system call to the place where storeLines would store p. The mapping
// shows the written bytes too.
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

// storeLines copies p into the mapping line by line. If the process is killed meanwhile, only the
// last line in the file can be incomplete. If somebody cuts the file short or the disk fails, the
// memory fault becomes an error.
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
		_ = unix.Munmap(m.window) // an error is ignored: Munmap fails only for a wrong address
		m.window = nil
	}
}

// truncateFile cuts the file at the end of its records; nothing more can be stored.
func (m *mapping) truncateFile() error {
	m.unmap()
	if isSpoiled(m.file, m.end) {
		return nil
	}
	return m.file.Truncate(m.end)
}
