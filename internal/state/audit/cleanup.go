package audit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// cleanupAfter is the delay of the cleanup: the session's server is just starting, and the cleanup
// must not slow down that start. Tests that begin hundreds of records wait shorter.
var cleanupAfter = 50 * time.Millisecond

// cleanUp works on the segments of other sessions in the background: it closes segments of crashed
// sessions and removes segments that are too old. Log.Close waits for the end of cleanUp. Errors
// are recorded, but do not affect the calls of this session.
func (l *Log) cleanUp() {
	if l.closing {
		return
	}
	l.cleanups.Go(func() {
		select {
		case <-l.ending:
		case <-time.After(cleanupAfter):
		}
		l.cleanupMu.Lock()
		defer l.cleanupMu.Unlock()
		all, err := listSegments(l.dir) // one listing for both steps: there may be thousands of segments
		if errors.Is(err, fs.ErrNotExist) {
			return // the next Record notices that the folder is missing, and reports it
		}
		if err = errors.Join(err, closeAbandoned(l.dir, all, l.o), removeOld(l.dir, all, l.o)); err != nil {
			_ = l.Record(&event.Event{Kind: event.Upkeep, Detail: err.Error()})
		}
	})
}

// listSegments lists the segment files of dir, oldest first.
func listSegments(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if _, _, ok := parseSegmentName(e.Name()); !ok || !e.Type().IsRegular() {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another session has removed the file meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, fi)
	}
	return all, nil
}

func isClosed(fi fs.FileInfo) bool { return fi.Mode().Perm()&0o200 == 0 }

// closeAbandoned writes a closing mark to the ledger for every open segment whose writer has gone.
// The mark says where the whole lines end and what follows them. The records in the file stay
// unchanged. A shared segment stays open until its day is over.
func closeAbandoned(dir string, all []fs.FileInfo, o Options) error {
	var errs []error
	for _, fi := range all {
		if !isClosed(fi) && !acceptsCalls(fi.Name(), o.Now()) {
			errs = append(errs, closeIfAbandoned(filepath.Join(dir, fi.Name()), o))
		}
	}
	return errors.Join(errs...)
}

func closeIfAbandoned(path string, o Options) error {
	f, err := openFree(path)
	if f == nil {
		return err
	}
	// A session that begins a segment takes the ledger's lock first and then the segment's lock.
	// Take the locks in the same order here. While we hold the ledger's lock, every new segment is
	// already locked by its writer.
	f.Close()
	return withLedger(filepath.Dir(path), o.Now, func(led *ledger) error {
		f, err := openFree(path)
		if f == nil {
			return err
		}
		defer f.Close()
		marks, err := led.readMarks(filepath.Base(path))
		if err != nil {
			return err
		}
		if len(marks) == 0 || marks[len(marks)-1].Kind == opened {
			m, err := abandonedMark(f)
			if err != nil {
				return err
			}
			if err := led.appendMark(m); err != nil {
				return err
			}
		}
		if err := cutReserved(f, path); err != nil {
			return err
		}
		return f.Chmod(closedMode)
	})
}

// cutReserved frees the space that a dead writer had reserved after its records.
func cutReserved(f *os.File, path string) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	end, _, err := lookBehind(f, 0)
	if err != nil || end == fi.Size() {
		return err
	}
	return os.Truncate(path, end)
}

// openFree opens a segment that has no writer and takes its lock. It returns nil when the segment
// has a writer or is missing. Closing the file releases the lock.
func openFree(path string) (*os.File, error) {
	f, err := openPrivate(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if ours, err := tryLock(f, false); err != nil || !ours {
		f.Close()
		return nil, err
	}
	return f, nil
}

// abandonedMark reads a segment without a writer and returns its closing mark. The kind of the mark
// is crashed. But for a shared segment that ends with a whole line, the kind is closed.
func abandonedMark(f *os.File) (mark, error) {
	m := mark{Kind: crashed, Segment: filepath.Base(f.Name())}
	s, _, err := readSegment(f, func(it item) {
		if it.raw == nil {
			return
		}
		if m.Lines++; m.Lines == 1 {
			m.First = string(it.link.hash)
		}
		m.Last = string(it.link.hash)
	})
	if err != nil {
		return m, err
	}
	n, digest := s.digestRest()
	m.Bytes, m.Digest, m.Size = int64(n), digest, s.end+int64(n)
	if fi, err := f.Stat(); err == nil {
		m.Node = fileNode(fi)
	}
	if began, _, _ := parseSegmentName(m.Segment); isShared(began) && n == 0 {
		m.Kind = closed
	}
	return m, nil
}

// readMarks returns the ledger's lines about one segment.
func (l *ledger) readMarks(name string) (found []mark, err error) {
	s := newScanner(io.NewSectionReader(l.file, 0, 1<<62))
	err = s.eachItem(func(it item) {
		if m, ok := parseMark(it); ok && m.Segment == name {
			found = append(found, m)
		}
	})
	return found, err
}
