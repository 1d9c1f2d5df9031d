package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keepTidy looks after the other segments beside the session's work: what
// crashed sessions left, and what is too old. Close waits for it.
func (l *Log) keepTidy() {
	l.tidy.Go(func() {
		l.tidyMu.Lock()
		defer l.tidyMu.Unlock()
		l.tidyErr = errors.Join(closeCrashed(l.dir, l.o), removeOld(l.dir, l.o))
	})
}

// segments lists the segment files of dir, oldest first.
func segments(dir string) ([]fs.FileInfo, error) {
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

// closeCrashed closes in the ledger every segment whose writer is gone, telling
// how far it is whole and what lies behind that. The file stays as it is.
func closeCrashed(dir string, o Options) error {
	all, err := segments(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, fi := range all {
		if !isClosed(fi) {
			errs = append(errs, closeIfCrashed(filepath.Join(dir, fi.Name()), o))
		}
	}
	return errors.Join(errs...)
}

func closeIfCrashed(path string, o Options) error {
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
		marks, err := led.marks(filepath.Base(path))
		if err != nil {
			return err
		}
		if len(marks) == 0 || marks[len(marks)-1].Kind == opened {
			m, err := crash(f)
			if err != nil {
				return err
			}
			if err := led.append(m); err != nil {
				return err
			}
		}
		return f.Chmod(closedMode)
	})
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

// crash reads a segment without a writer.
func crash(f *os.File) (mark, error) {
	m := mark{Kind: crashed, Segment: filepath.Base(f.Name())}
	s := newScanner(f)
	for {
		it, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, err
		}
		if it.raw == nil {
			continue
		}
		if m.Lines++; m.Lines == 1 {
			m.First = string(it.place.hash)
		}
		m.Last = string(it.place.hash)
	}
	n, digest := s.rest()
	m.Bytes, m.Digest = int64(n), digest
	return m, nil
}

// removeOld deletes closed segments that are older than KeepFor, and the oldest
// beyond Keep bytes, and says so in the ledger before it does.
func removeOld(dir string, o Options) error {
	victims, err := old(dir, o)
	if err != nil || len(victims) == 0 {
		return err
	}
	return withLedger(dir, o.Now, func(led *ledger) error {
		victims, err := old(dir, o) // another session may have been here
		for _, v := range victims {
			if err != nil {
				break
			}
			err = led.remove(v)
		}
		return err
	})
}

// victim is a segment that retention removes.
type victim struct{ path, why string }

func old(dir string, o Options) ([]victim, error) {
	all, err := segments(dir)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, fi := range all {
		if isClosed(fi) {
			total += fi.Size()
		}
	}
	var victims []victim
	for _, fi := range all {
		if !isClosed(fi) {
			continue
		}
		v := victim{path: filepath.Join(dir, fi.Name())}
		switch {
		case o.KeepFor > 0 && o.Now().Sub(fi.ModTime()) > o.KeepFor:
			v.why = fmt.Sprintf("older than %v", o.KeepFor.Round(time.Second))
		case o.Keep > 0 && total > o.Keep:
			v.why = fmt.Sprintf("more than %d bytes of closed segments", o.Keep)
		default:
			continue
		}
		total -= fi.Size()
		victims = append(victims, v)
	}
	return victims, nil
}

// remove deletes one segment, unless somebody writes it after all.
func (l *ledger) remove(v victim) error {
	f, err := openFree(v.path)
	if f == nil {
		return err
	}
	f.Close() // an open file cannot be removed everywhere; nobody begins to write a closed one
	if err := l.append(mark{Kind: removed, Segment: filepath.Base(v.path), Detail: v.why}); err != nil {
		return err
	}
	return os.Remove(v.path)
}

// marks reads what the ledger says of one segment.
func (l *ledger) marks(name string) ([]mark, error) {
	var found []mark
	s := newScanner(io.NewSectionReader(l.file, 0, 1<<62))
	for {
		it, err := s.next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if m, ok := parseMark(it); ok && m.Segment == name {
			found = append(found, m)
		}
	}
}
