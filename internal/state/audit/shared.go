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

// An agent starts a process for each call of its own tools. With a segment for each call, every
// listing, verification and cleanup would have to read one more file and two more ledger lines per
// call. So the calls of one agent's session share one segment per day. The process of each call
// finds the segment by name, continues after its last line, and does not close it in the ledger. A
// later cleanup closes the segment when the day is over.

const day = 24 * time.Hour

// sharedSession returns the session id for the calls of one day (UTC), and the time in the name of
// their segment. The id depends on the redaction mode, because only the first line of a segment
// states the mode.
func sharedSession(name string, keep redact.Mode, now time.Time) (session string, began time.Time) {
	began = now.UTC().Truncate(day)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", began.Format(time.DateOnly), keep, name))
	return sessionID([10]byte(sum[:])), began
}

// isShared reports whether a segment is shared by the calls of a day. began is the time in the
// segment's name; a shared segment has the beginning of the day.
func isShared(began time.Time) bool { return began.Equal(began.Truncate(day)) }

// acceptsCalls reports whether calls may still be added to a segment that has no writer.
func acceptsCalls(name string, now time.Time) bool {
	began, _, _ := parseSegmentName(name)
	return isShared(began) && now.Before(began.Add(day))
}

// errTaken means that this call cannot be recorded in the shared segment of its day.
var errTaken = errors.New("the segment is in use, closed, or not whole")

// shareSegment continues the shared segment for the calls of an agent's session. If there is no
// such segment, it begins one. name is the name of that session.
func (l *Log) shareSegment(name string) error {
	session, began := sharedSession(name, l.o.Redact, l.o.Now())
	file := segmentName(began, session)
	err := l.continueSegment(session, filepath.Join(l.dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		err = l.beginSession(session, file)
	}
	if err == nil {
		l.seg.shared, l.rotateAt = true, math.MaxInt64
	}
	return err
}

// continueSegment continues a segment at its end. It refuses a segment with only one line, because
// such a segment may be missing in the ledger. The ledger names every longer segment, so
// continueSegment need not read the ledger.
func (l *Log) continueSegment(session, path string) error {
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

// lockAndReadLast takes the lock, sets the size and returns the last line. It refuses a segment
// that has more bytes than the parameter most allows.
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
	for _, most := range [...]int64{4 << 10, maxLine} { // most lines are short; a long line is for example a call that writes a file
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
