package audit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Retention says which closed segments are kept. The zero value is the product's
// default.
type Retention struct {
	Keep    int64         // bytes of all of them; 0 means 1 GiB, negative all
	KeepFor time.Duration // since one was closed; 0 means 90 days, negative for ever
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

// removeOld deletes the segments that retention does not keep, and says so in the
// ledger before it does. How old and how large one is, the ledger says: what the
// file system says of a file, whoever writes beside us can change.
func removeOld(dir string, all []fs.FileInfo, o Options) error {
	if !o.mayRemove(all, o.Now()) {
		return nil
	}
	return withLedger(dir, o.Now, func(led *ledger) error {
		all, err := listSegments(dir) // another session may have been here
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

// mayRemove spares most sessions the reading of the ledger: no segment is closed
// before it is begun, and its name says when that was.
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

// findOld finds them, oldest first. Of a segment that the ledger has not closed, nothing
// is known that would let it be removed.
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

// readEnds reads how each segment ended.
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

// removeSegment deletes one segment, unless somebody writes it after all.
func (l *ledger) removeSegment(v removable, r Retention) error {
	f, err := openFree(v.path)
	if f == nil {
		return err
	}
	f.Close() // an open file cannot be removed everywhere; nobody begins to write a closed one
	m := mark{
		Kind: removed, Segment: filepath.Base(v.path), Detail: v.why,
		Keep: max(r.Keep, 0), KeepFor: int64(max(r.KeepFor, 0) / time.Second),
	}
	if err := l.appendMark(m); err != nil {
		return err
	}
	return os.Remove(v.path)
}
