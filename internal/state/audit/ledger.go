package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ledgerName is the file that names every segment.
const ledgerName = "ledger.ndjson"

// The kinds of ledger lines.
const (
	opened  = "open"    // a segment was begun
	closed  = "close"   // the writer of a segment has finished
	crashed = "crashed" // a segment was found without a writer and is now closed
	removed = "removed" // retention deletes a segment
)

// mark is one line of the ledger.
type mark struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Segment  string    `json:"segment"`
	First    string    `json:"first"`  // hash of the segment's first line
	Last     string    `json:"last"`   // hash of the segment's last line
	Lines    uint64    `json:"lines"`  // number of whole lines
	Bytes    int64     `json:"bytes"`  // number of bytes after the last whole line; a crash left these bytes
	Size     int64     `json:"size"`   // size of the whole file; missing in ledgers of older versions
	Digest   string    `json:"digest"` // digest of the bytes after the last whole line
	Detail   string    `json:"detail"`
	Keep     int64     `json:"keep"`     // in a removal: number of bytes that the retention keeps; 0 means all
	KeepFor  int64     `json:"keep_for"` // in a removal: number of seconds for which the retention keeps a segment; 0 means for ever
	Node     uint64    `json:"node"`     // inode number of the file; 0 if the system has none, or if the writer made the mark when it closed the file
	position int       // number of this mark's line in the ledger
}

// ledger is the locked ledger of one directory.
type ledger struct {
	file  *os.File
	chain chain
	heal  *failure // the bytes that a crash left at the end of the file, for the report in the next line; nil if the file ends with an LF
	now   func() time.Time
}

// lockPatience limits the wait for the ledger's lock. Opening or closing a segment holds the lock
// for about 0.1 ms. Tests with many processes on few processors wait longer.
var lockPatience = 10 * time.Second

// withLedger calls the function in the parameter do while it holds the ledger's lock. Segments are
// begun, closed and removed only under this lock.
func withLedger(dir string, now func() time.Time, do func(*ledger) error) (err error) {
	f, err := openPrivate(filepath.Join(dir, ledgerName), os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lockFile(f, false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlockFile(f)) }()
	l := &ledger{file: f, now: now}
	if err := l.seekEnd(); err != nil {
		return err
	}
	return do(l)
}

// lockFile waits for the lock on f, but not for ever, because a stopped process may hold the lock.
// The pauses are short. With long pauses, processes that come later would take the lock first.
func lockFile(f *os.File, shared bool) error {
	for patience, pause := lockPatience, 50*time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		ok, err := tryLock(f, shared)
		if err != nil {
			return fmt.Errorf("lock %q: %w", f.Name(), err)
		}
		if ok {
			return nil
		}
		if patience -= pause; patience < 0 {
			return fmt.Errorf("lock %q: another process has held it for %v", f.Name(), lockPatience)
		}
		time.Sleep(pause)
	}
}

// seekEnd sets the chain to the end of the ledger. If the last line is sound, the line gives the
// position in the chain. Otherwise seekEnd reads the whole file.
func (l *ledger) seekEnd() error {
	fi, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.chain = newChain()
	if fi.Size() == 0 {
		return nil
	}
	var tail []byte
	for _, size := range [...]int64{1 << 10, 4 << 10} { // a line that reports a failure is longer than other lines
		tail = make([]byte, min(fi.Size(), size))
		if _, err := l.file.ReadAt(tail, fi.Size()-int64(len(tail))); err != nil {
			return fmt.Errorf("read %q: %w", l.file.Name(), err)
		}
		if p, ok := lastLink(tail); ok {
			l.chain.next = p.seq + 1
			copy(l.chain.prev[:], p.hash)
			return nil
		}
	}
	return l.seekAll(tail[len(tail)-1] == '\n')
}

// seekAll sets the chain by reading the whole ledger. ended is true if the file ends with an LF. If
// not, a crash left bytes at the end, and the next line will report these bytes. Other damage stays
// in the file, and Verify reports it.
func (l *ledger) seekAll(ended bool) error {
	s := newScanner(io.NewSectionReader(l.file, 0, 1<<62))
	s.expectChain(l.chain)
	if err := s.eachItem(func(item) {}); err != nil {
		return err
	}
	l.chain = s.chain
	if ended {
		return nil
	}
	rest := make([]byte, s.read+int64(len(s.buf)-s.at)-s.end)
	if _, err := l.file.ReadAt(rest, s.end); err != nil {
		return fmt.Errorf("read %q: %w", l.file.Name(), err)
	}
	if p, good := parseLink(rest); good && p.seq == l.chain.next && string(p.prev) == string(l.chain.prev[:]) {
		l.chain.next = p.seq + 1 // the line is whole, and only its LF is missing
		copy(l.chain.prev[:], p.hash)
		rest = nil
	}
	l.heal = &failure{fragment: rest, unended: true, reason: "a process died while it wrote here"}
	return nil
}

// appendMark writes one line. If the ledger has damage at its end, it writes a recovery line first.
func (l *ledger) appendMark(m mark) error {
	var dst []byte
	c := l.chain
	if l.heal != nil {
		dst = l.heal.appendSeparator(dst)
	}
	if l.heal != nil && len(l.heal.fragment) > 0 {
		start := len(dst)
		dst = append(c.beginLine(dst, l.now()), `,"kind":"recovery"`...)
		dst = c.sealLine(l.heal.appendFailure(dst), start)
	}
	start := len(dst)
	dst = c.beginLine(dst, l.now())
	for _, member := range [...]struct{ name, value string }{
		{"kind", m.Kind}, {"segment", m.Segment}, {"first", m.First}, {"last", m.Last},
	} {
		dst = appendWord(dst, member.name, member.value)
	}
	dst = appendNumber(dst, "lines", int64(m.Lines))
	dst = appendNumber(dst, "bytes", m.Bytes)
	dst = appendNumber(dst, "size", m.Size)
	dst = appendWord(dst, "digest", m.Digest)
	dst = appendWord(dst, "detail", m.Detail)
	dst = appendNumber(dst, "keep", m.Keep)
	dst = appendNumber(dst, "keep_for", m.KeepFor)
	dst = appendNumber(dst, "node", int64(m.Node)) //nolint:gosec // fileNode returns no number above the maximum of int64
	if _, err := l.file.Write(c.sealLine(dst, start)); err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	l.chain, l.heal = c, nil
	return nil
}

// openPrivate opens a regular file that other users cannot write.
func openPrivate(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|openFlags, 0o600) //nolint:gosec // the caller names the folder
	if err != nil {
		if fi, lerr := os.Lstat(path); lerr == nil && fi.Mode()&fs.ModeSymlink != 0 { //nolint:gosec // as above
			err = fmt.Errorf("%q is a symbolic link: %w", path, err)
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file", path)
	}
	if err == nil {
		err = checkPrivate(path, fi)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// parseMark parses a line of the ledger. It returns false for a recovery line, which names no
// segment.
func parseMark(it item) (mark, bool) {
	m := mark{position: it.line}
	return m, it.raw != nil && json.Unmarshal(it.raw, &m) == nil && m.Segment != ""
}
