package audit

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Segment is a file of the record, for code that copies the record to another place.
type Segment struct {
	Name    string // name of the file
	Session string
	Began   time.Time
	Closed  bool  // no record is added any more
	Size    int64 // number of bytes of records
	Shared  bool  // agents' hooks write the segment: it has the calls of one day, and many processes write it one after the other
}

// ListSegments lists the segments of dir, oldest first. If the directory is missing, the list is
// empty.
func ListSegments(dir string) (list []Segment, err error) {
	all, err := listSegments(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, fi := range all {
		began, session, _ := parseSegmentName(fi.Name())
		list = append(list, Segment{fi.Name(), session, began, isClosed(fi), recordedSize(filepath.Join(dir, fi.Name()), fi), isShared(began)})
	}
	return list, err
}

// ErrCut means that a segment is now shorter than the part of it that was read earlier.
var ErrCut = errors.New("it is shorter than it was: it was cut")

// ReadPortion returns at most size bytes of a segment. The parameter at is the offset of the first
// byte. If the segment is not closed, it returns only whole lines. At the end of the segment it
// returns no bytes. It returns ErrCut if the segment ends before the offset. size must be larger
// than the longest line.
func ReadPortion(dir string, s Segment, at, size int64) ([]byte, error) {
	f, err := openPrivate(filepath.Join(dir, s.Name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if before := make([]byte, 1); at > 0 {
		if n, err := f.ReadAt(before, at-1); n == 0 && errors.Is(err, io.EOF) || n == 1 && before[0] == 0 { // a zero byte is reserved space, so the segment ends before it
			return nil, ErrCut
		}
	}
	portion, err := io.ReadAll(io.LimitReader(&written{file: f, at: at}, size))
	if err != nil {
		return nil, err
	}
	if s.Closed && int64(len(portion)) < size {
		return portion, nil // a line that a crash left unfinished is part of the portion
	}
	return portion[:bytes.LastIndexByte(portion, '\n')+1], nil
}

// runningAfter is the age from which a segment without a lock has no writer. A younger segment may
// be one that its writer has created but not locked yet.
const runningAfter = time.Second

// CountRunning returns the number of sessions that write a segment of dir now. It does not count
// hooks, because each process of a hook serves only one call.
func CountRunning(dir string) (n int, err error) {
	list, err := ListSegments(dir)
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if s.Closed || s.Shared || time.Since(s.Began) < runningAfter {
			continue
		}
		f, err := openPrivate(filepath.Join(dir, s.Name), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return n, err
		}
		free, err := tryLock(f, true)
		f.Close()
		if err != nil {
			return n, err
		}
		if !free {
			n++
		}
	}
	return n, nil
}

// ListNamed returns the segments that the ledger of dir names. The value of a segment is true if
// the retention has removed it. If the directory is missing, the map is empty.
func ListNamed(dir string) (map[string]bool, error) {
	v := newVerifier(dir, Retention{})
	if _, err := v.readSnapshot(""); err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for name, s := range v.statements {
		named[name] = s.removed
	}
	return named, nil
}
