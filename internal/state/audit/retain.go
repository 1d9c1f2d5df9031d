package audit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Retention says which closed segments are kept. The zero value is the product's default.
type Retention struct {
	Keep    int64         // total bytes of closed segments that are kept; 0 means 1 GiB, negative means all
	KeepFor time.Duration // time for which a closed segment is kept; 0 means 90 days, negative means for ever
}

func (r Retention) withDefaults() Retention {
	if r.Keep == 0 {
		r.Keep = 1 << 30
	}
	if r.KeepFor == 0 {
		r.KeepFor = 90 * 24 * time.Hour
	}
	return r
}

// removeOld deletes the segments that retention does not keep, and writes each removal to the
// ledger first. Age and size come from the ledger, because another program can change what the
// file system reports.
func removeOld(dir string, all []fs.FileInfo, o Options) error {
	if !o.mayRemove(all, o.Now()) {
		return nil
	}
	return withLedger(dir, o.Now, func(led *ledger) error {
		all, err := listSegments(dir) // again, because another session may have removed segments meanwhile
		if err != nil {
			return err
		}
		ends, err := led.readEnds()
		if err != nil {
			return err
		}
		for _, v := range o.findOld(dir, all, ends, o.Now()) {
			if err = led.removeSegment(v, o.Retention); err != nil {
				break
			}
		}
		return err
	})
}

// mayRemove reports whether removeOld may have to remove a segment. It uses only the listing, so
// that most sessions need not read the ledger. It computes the age of a segment from the time in
// the name, at which the segment was begun. The segment was closed later, so mayRemove may return
// true although no segment is old enough yet.
func (r Retention) mayRemove(all []fs.FileInfo, now time.Time) bool {
	var total int64
	for _, fi := range all {
		began, _, _ := parseSegmentName(fi.Name())
		if r.KeepFor > 0 && now.Sub(began) > r.KeepFor {
			return true
		}
		total += fi.Size()
	}
	return r.Keep > 0 && total > r.Keep
}

// removable is a segment that retention removes.
type removable struct{ path, why string }

// findOld returns the segments to remove, oldest first. It leaves out segments that have no closing
// mark in the ledger.
func (r Retention) findOld(dir string, all []fs.FileInfo, ends map[string]mark, now time.Time) []removable {
	var total int64
	size := func(fi fs.FileInfo) int64 {
		if end := ends[fi.Name()]; end.Size > 0 {
			return end.Size
		}
		return fi.Size()
	}
	for _, fi := range all {
		if _, ended := ends[fi.Name()]; ended {
			total += size(fi)
		}
	}
	var victims []removable
	for _, fi := range all {
		end, ended := ends[fi.Name()]
		if !ended {
			continue
		}
		v := removable{path: filepath.Join(dir, fi.Name())}
		switch {
		case r.tooOld(end.Time, now):
			v.why = fmt.Sprintf("older than %v", r.KeepFor.Round(time.Second))
		case r.Keep > 0 && total > r.Keep:
			v.why = fmt.Sprintf("more than %d bytes of closed segments", r.Keep)
		default:
			continue
		}
		total -= size(fi)
		victims = append(victims, v)
	}
	return victims
}

func (r Retention) tooOld(closed, now time.Time) bool {
	return r.KeepFor > 0 && now.Sub(closed) > r.KeepFor
}

// readEnds returns the closing mark of each closed segment, by the segment's file name.
func (l *ledger) readEnds() (map[string]mark, error) {
	ends := map[string]mark{}
	s := newScanner(io.NewSectionReader(l.file, 0, 1<<62))
	err := s.eachItem(func(it item) {
		if m, ok := parseMark(it); ok && (m.Kind == closed || m.Kind == crashed) {
			ends[m.Segment] = m
		}
	})
	return ends, err
}

// removeSegment deletes one segment, unless a process is writing it.
func (l *ledger) removeSegment(v removable, r Retention) error {
	f, err := openFree(v.path)
	if f == nil {
		return err
	}
	f.Close() // close before the removal, because some systems cannot remove an open file; no process writes to a closed segment
	m := mark{
		Kind: removed, Segment: filepath.Base(v.path), Detail: v.why,
		Keep: max(r.Keep, 0), KeepFor: int64(max(r.KeepFor, 0) / time.Second),
	}
	if err := l.appendMark(m); err != nil {
		return err
	}
	return os.Remove(v.path)
}
