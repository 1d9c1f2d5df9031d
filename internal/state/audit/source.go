package audit

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// source reads one segment, and continues when the segment has grown.
type source struct {
	path  string
	began time.Time
	wrote time.Time   // time of the last write, from the folder's listing
	file  *os.File    // nil before the first nextEntry and after close
	info  fs.FileInfo // file info of the opened file
	bytes written
	scan  *scanner
	skip  int64       // number of bytes at the beginning that are skipped
	limit int64       // number of bytes to read before io.EOF; noLimit for all
	ended bool        // the segment was already closed when it was listed
	done  bool        // nothing more will be read
	head  event.Entry // the next record, for mergeSources
}

const noLimit = 1<<63 - 1

// listSources lists the segments of dir, oldest first. If the directory is missing, the list is
// empty. The parameter limited means that each source ends where its records end at this moment.
func listSources(dir string, limited bool) ([]*source, error) {
	all, err := listSegments(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := make([]*source, len(all))
	for i, fi := range all {
		list[i] = newSource(filepath.Join(dir, fi.Name()))
		list[i].wrote, list[i].ended = fi.ModTime(), isClosed(fi)
		if !list[i].ended {
			list[i].wrote = time.Now() // a write to a mapped file does not change the file's time
		}
		if limited {
			list[i].limit = recordedSize(list[i].path, fi)
		}
	}
	return list, nil
}

func newSource(path string) *source {
	began, _, _ := parseSegmentName(filepath.Base(path))
	return &source{path: path, began: began, limit: noLimit}
}

// Read implements io.Reader for the scanner: it reads the file up to the limit.
func (s *source) Read(p []byte) (int, error) {
	left := s.limit - s.scan.taken
	if left <= 0 {
		return 0, io.EOF
	}
	n, err := s.bytes.Read(p[:min(int64(len(p)), left)])
	s.scan.taken += int64(n)
	return n, err
}

// nextEntry returns the next record that matches the filter, or a *Damage. It returns io.EOF if
// there is no further record yet.
func (s *source) nextEntry(f *Filter) (event.Entry, error) {
	if s.done {
		return event.Entry{}, io.EOF
	}
	if s.file == nil {
		file, err := os.OpenFile(s.path, os.O_RDONLY|openFlags, 0)
		if errors.Is(err, fs.ErrNotExist) {
			s.done = true // another session has removed the file meanwhile
			return event.Entry{}, io.EOF
		}
		if err != nil {
			return event.Entry{}, err
		}
		if s.info, err = file.Stat(); err != nil {
			return event.Entry{}, errors.Join(err, file.Close())
		}
		s.file, s.bytes, s.scan = file, written{file: file}, newScanner(s)
		if err := s.skipLines(); err != nil {
			return event.Entry{}, err
		}
	}
	for {
		it, err := s.scan.nextItem()
		if err != nil {
			return event.Entry{}, err
		}
		if it.problem != "" {
			s.scan.holdItem(it)
			return event.Entry{}, &event.Damage{File: filepath.Base(s.path), Line: it.line, What: it.problem}
		}
		e, err := parseEntry(filepath.Base(s.path), it)
		if err != nil || f.matchesEntry(&e) {
			return e, err
		}
	}
}

// skipLines skips as many bytes as the field skip says, and then the rest of the line at that
// place. The lines after that place are numbered from 1.
func (s *source) skipLines() error {
	if s.skip == 0 {
		return nil
	}
	at := s.skip - 1 // a line may begin exactly at skip
	for buf := make([]byte, 1<<16); ; {
		n, err := s.file.ReadAt(buf, at)
		if end := bytes.IndexByte(buf[:n], '\n'); end >= 0 {
			at += int64(end) + 1
			break
		}
		if at += int64(n); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return err
		}
	}
	s.bytes.at, s.scan.taken, s.scan.read, s.scan.end = at, at, at, at
	return nil
}

// readsFile reports whether the file at the source's path is still the file of this source. false
// means that another file has taken its place.
func (s *source) readsFile(fi fs.FileInfo) bool {
	if s.info == nil {
		return !s.done || s.ended
	}
	return os.SameFile(s.info, fi)
}

// tailDamage returns the damage after the last sound line. It returns nil if there is no damage, or
// if the source does not read the whole file.
func (s *source) tailDamage() *event.Damage {
	if s.limit != noLimit || s.scan == nil || s.scan.gap.sum == nil {
		return nil
	}
	return &event.Damage{File: filepath.Base(s.path), Line: s.scan.gap.line, What: s.scan.gap.problemText()}
}

// close ends the reading of this source for ever.
func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.bytes, s.scan, s.done = nil, written{}, nil, true
}

// isFinished reports whether everything was read and the segment is closed.
func (s *source) isFinished() bool {
	if s.file == nil {
		return s.done
	}
	fi, err := s.file.Stat()
	return err != nil || isClosed(fi) && s.scan.taken >= fi.Size()
}
