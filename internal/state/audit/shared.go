package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/text/redact"
)

// An agent starts a process for each call of its own tools. A segment per call would add a file
// and two ledger lines for each call, which every listing, verification and cleanup would have to
// read. So the calls of one agent's session share one segment per day. Each call finds the segment
// by name, continues after its last line, and leaves it open. A later cleanup closes the segment
// in the ledger when the day is over.

const day = 24 * time.Hour

// sharedSession returns the session id for the calls of one day (UTC), and the time in the name of
// their segment. The redaction mode is part of the id, because a segment states it once.
func sharedSession(name string, keep redact.Mode, now time.Time) (session string, began time.Time) {
	began = now.UTC().Truncate(day)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", began.Format(time.DateOnly), keep, name))
	return sessionID([10]byte(sum[:])), began
}

// isShared reports whether a segment is shared by the calls of a day, by the time in its name.
func isShared(began time.Time) bool { return began.Equal(began.Truncate(day)) }

// acceptsCalls reports whether calls may still be added to a segment that has no writer.
func acceptsCalls(name string, now time.Time) bool {
	began, _, _ := parseSegmentName(name)
	return isShared(began) && now.Before(began.Add(day))
}

// errTaken means that the segment cannot take this call.
var errTaken = errors.New("the segment is in use, closed, or not whole")

// shareSegment continues the segment that belongs to name, or begins it.
func (l *Log) shareSegment(name string) error {
	session, began := sharedSession(name, l.o.Redact, l.o.Now())
	file := segmentName(began, session)
	err := l.goOn(session, filepath.Join(l.dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		err = l.beginSession(session, file)
	}
	if err == nil {
		l.seg.shared, l.rotateAt = true, math.MaxInt64
	}
	return err
}

// goOn continues a segment at its end. It does not use the ledger, because a segment with only one
// line may be missing there.
func (l *Log) goOn(session, path string) error {
	f, err := openPrivate(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	s := &segment{path: path, file: f, begin: 1}
	last, err := s.lockAndReadLast(l.o.MaxBytes)
	if err == nil {
		err = l.useKey(session, readKey)
	}
	if err != nil {
		return errors.Join(errTaken, err, s.close(false))
	}
	l.chain.next = last.seq + 1
	copy(l.chain.prev[:], last.hash)
	l.seg = s
	return nil
}

// lockAndReadLast takes the lock, and finds the last line and the size.
func (s *segment) lockAndReadLast(most int64) (link, error) {
	if ours, err := tryLock(s.file, false); err != nil || !ours {
		return link{}, errors.Join(errTaken, err)
	}
	fi, err := s.file.Stat()
	if err != nil {
		return link{}, err
	}
	if isClosed(fi) || fi.Size() == 0 || fi.Size() > most {
		return link{}, errTaken
	}
	s.size = fi.Size()
	for _, most := range [...]int64{4 << 10, maxLine} { // long lines are rare, for example a call that writes a file
		tail := make([]byte, min(s.size, most))
		if _, err := s.file.ReadAt(tail, s.size-int64(len(tail))); err != nil {
			return link{}, err
		}
		if last, ok := lastLink(tail); ok && last.seq > 1 {
			return last, nil
		}
	}
	return link{}, errTaken
}
