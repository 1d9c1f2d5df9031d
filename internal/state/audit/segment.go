package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// segment is the file that a session currently writes. While the file is open, its writer holds the
// lock on it.
type segment struct {
	path   string
	file   *os.File
	mem    *mapping // nil if each record is written with a system call
	size   int64    // bytes of all records
	begin  uint64   // number of the segment's first line
	first  string   // hash of the segment's first line
	shared bool     // later processes may continue the file, so Log.Close does not close it in the ledger
}

const (
	segmentEnd  = ".ndjson"
	segmentTime = "20060102T150405.000000000Z"
)

// segmentName returns the file name of a segment that begins at t. Names sort by time.
func segmentName(t time.Time, session string) string {
	return t.UTC().Format(segmentTime) + "-" + session + segmentEnd
}

// parseSegmentName returns the parts of a segment's file name.
func parseSegmentName(name string) (began time.Time, session string, ok bool) {
	stem, ok := strings.CutSuffix(name, segmentEnd)
	if !ok {
		return began, "", false
	}
	stamp, session, ok := strings.Cut(stem, "-")
	if !ok || session == "" {
		return began, "", false
	}
	began, err := time.Parse(segmentTime, stamp)
	return began, session, err == nil
}

// newSegment creates the next segment of the session, a file called name, and writes its first
// line. The caller holds the ledger's lock. c changes only on success. The parameter brief means
// that few records will follow. Then newSegment reserves no space, because that would cost more
// than the records.
func newSegment(dir, name string, e *encoder, c *chain, now time.Time, brief bool) (*segment, error) {
	s := &segment{path: filepath.Join(dir, name), begin: c.next}
	f, err := openPrivate(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	s.file = f
	if err := lockFile(f, false); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	if !brief {
		if s.mem, err = newMapping(f); err != nil {
			return nil, errors.Join(err, s.discard())
		}
	}
	next := *c
	if _, err := s.appendLines(e.appendHeader(nil, &next, now, name)); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	*c, s.first = next, string(next.prev[:])
	return s, nil
}

// appendLines writes lines. It returns the number of their bytes that are in the file.
func (s *segment) appendLines(lines []byte) (n int, err error) {
	if s.mem != nil {
		n, err = s.mem.appendBytes(lines)
	} else {
		n, err = s.file.Write(lines)
	}
	s.size += int64(n)
	return n, err
}

// close cuts the file at the end of its records and closes it. ended means that the ledger lists
// the segment as closed. In that case close also gives the file closedMode, but only after the cut,
// so that no file with this mode has reserved space.
func (s *segment) close(ended bool) error {
	var err error
	if s.mem != nil {
		err = s.mem.truncateFile()
	}
	if ended && err == nil {
		err = s.file.Chmod(closedMode)
	}
	return errors.Join(err, s.file.Close())
}

// isLost reports whether the file is mapped and was cut short, or its disk failed.
func (s *segment) isLost() bool { return s.mem != nil && s.mem.lost }

// discard removes a segment that holds no event.
func (s *segment) discard() error {
	return errors.Join(s.close(false), os.Remove(s.path))
}

func (s *segment) fileName() string { return filepath.Base(s.path) }

func (s *segment) openingMark() mark {
	m := mark{Kind: opened, Segment: s.fileName(), First: s.first}
	if fi, err := s.file.Stat(); err == nil {
		m.Node = fileNode(fi)
	}
	return m
}

// closingMark returns the closing mark of a segment. c is the chain after the segment's last line.
func (s *segment) closingMark(c *chain) mark {
	return mark{Kind: closed, Segment: s.fileName(), First: s.first, Last: string(c.prev[:]), Lines: c.next - s.begin, Size: s.size}
}

// closedMode is the file mode of a segment that the ledger has closed. The mode is only a quick
// hint; the ledger decides.
const closedMode fs.FileMode = 0o400

// rotateSegment continues in a new segment. If the new segment cannot be created, the old segment
// grows, and Record tries the rotation again later: a session never stops because of a rotation.
func (l *Log) rotateSegment(now time.Time) {
	if l.failed.refused > 0 {
		return
	}
	var next *segment
	c := l.chain
	_ = withLedger(l.dir, l.o.Now, func(led *ledger) error {
		begun, err := newSegment(l.dir, segmentName(now, l.enc.session), &l.enc, &c, now, l.isBrief())
		if err != nil {
			return err
		}
		if err := led.appendMark(l.seg.closingMark(&l.chain)); err != nil {
			return errors.Join(err, begun.discard())
		}
		next = begun
		return led.appendMark(next.openingMark()) // an error is ignored: the closing mark of the new segment will also name it in the ledger
	})
	if next == nil {
		l.rotateAt = l.seg.size + max(l.o.MaxBytes/32, 1)
		return
	}
	if l.o.Sync != SyncNone {
		_ = l.seg.file.Sync() // with SyncInterval the records of the last second may not be on the disk; with SyncEach every record is on the disk
	}
	_ = l.seg.close(true) // an error is ignored, because the ledger says that the segment is closed and the file mode is only a hint
	l.seg, l.chain, l.rotateAt = next, c, l.o.MaxBytes
	l.cleanUp()
}
