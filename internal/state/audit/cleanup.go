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

// cleanupAfter lets the session begin first: its server is being started, and
// whoever waits for that should not wait for a sweep.
const cleanupAfter = 50 * time.Millisecond

// cleanUp looks after the other segments beside the session's work: what
// crashed sessions left, and what is too old. Close waits for it. What goes
// wrong there is recorded, and no concern of this session's calls.
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
		all, err := listSegments(l.dir) // one listing: there may be thousands
		if errors.Is(err, fs.ErrNotExist) {
			return // the next record finds that the folder is gone, and says so
		}
		if err = errors.Join(err, closeLeft(l.dir, all, l.o), removeOld(l.dir, all, l.o)); err != nil {
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
			continue // retention was faster
		}
		if err != nil {
			return nil, err
		}
		all = append(all, fi)
	}
	return all, nil
}

func isClosed(fi fs.FileInfo) bool { return fi.Mode().Perm()&0o200 == 0 }

// closeLeft closes in the ledger every segment whose writer is gone, telling
// how far it is whole and what lies behind that. The file stays as it is. A shared one is
// left to the calls of its day.
func closeLeft(dir string, all []fs.FileInfo, o Options) error {
	var errs []error
	for _, fi := range all {
		if !isClosed(fi) && !acceptsCalls(fi.Name(), o.Now()) {
			errs = append(errs, closeIfLeft(filepath.Join(dir, fi.Name()), o))
		}
	}
	return errors.Join(errs...)
}

func closeIfLeft(path string, o Options) error {
	f, err := openFree(path)
	if f == nil {
		return err
	}
	// The ledger's lock comes first, as in a session that begins: asking again
	// under it finds no segment between its creation and its lock.
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
			m, err := markLeft(f)
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

// cutReserved gives back what a writer that is gone had reserved behind its records.
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

// openFree opens a segment and takes its lock; nil when it has a writer, or is
// gone. Closing the file gives the lock back.
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

// markLeft reads a segment without a writer: one whose writer died, or a shared one that is
// whole.
func markLeft(f *os.File) (mark, error) {
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

// readMarks reads what the ledger says of one segment.
func (l *ledger) readMarks(name string) (found []mark, err error) {
	s := newScanner(io.NewSectionReader(l.file, 0, 1<<62))
	err = s.eachItem(func(it item) {
		if m, ok := parseMark(it); ok && m.Segment == name {
			found = append(found, m)
		}
	})
	return found, err
}
