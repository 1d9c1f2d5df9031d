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

// An agent starts a process for each call of its own tools. A segment for each would be a
// file a call, and two lines of the ledger, which all who list, verify and tidy up would
// read. So the calls of one agent's session share the segment of a day: each finds it by
// its name, goes on behind its last line and leaves it open. Whoever tidies up closes it
// in the ledger when the day is over.

const day = 24 * time.Hour

// sharedSession gives the session, and the time in the name of its segment, of the calls of
// one day (UTC). How secrets are kept out belongs to it: a segment says that once.
func sharedSession(name string, keep redact.Mode, now time.Time) (session string, began time.Time) {
	began = now.UTC().Truncate(day)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", began.Format(time.DateOnly), keep, name))
	return sessionID([10]byte(sum[:])), began
}

// isShared says that a segment is that of a day, by the time in its name.
func isShared(began time.Time) bool { return began.Equal(began.Truncate(day)) }

// acceptsCalls says that calls may still be added to a segment in which nobody writes.
func acceptsCalls(name string, now time.Time) bool {
	began, _, _ := parseSegmentName(name)
	return isShared(began) && now.Before(began.Add(day))
}

// errTaken is of a shared segment to which this call is not added.
var errTaken = errors.New("the segment is in use, closed, or not whole")

// shareSegment goes on in the segment that name shares, or begins it.
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

// goOn takes up a segment where it ends. It does not go by the ledger: a segment with but
// one line may not stand there.
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
		return errors.Join(errTaken, err, s.close())
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
	for _, most := range [...]int64{4 << 10, maxLine} { // few lines are long: what a call wrote into a file
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
