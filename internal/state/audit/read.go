package audit

import (
	"container/heap"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// Read returns the records of dir that match f, ordered by time. It returns a *Damage where a
// record was changed, and then continues. Any other error ends the reading. The directory need not
// exist.
func Read(dir string, f Filter) iter.Seq2[event.Entry, error] {
	return func(yield func(event.Entry, error) bool) {
		list, err := listSources(dir, f.Tail > 0)
		if err != nil {
			yield(event.Entry{}, err)
			return
		}
		defer func() {
			for _, s := range list {
				s.close()
			}
		}()
		skipHeads(list, &f)
		readBacklog(list, &f, (*source).close)(yield)
	}
}

// skipHeads applies f.Tail: each source begins that many bytes before its limit.
func skipHeads(list []*source, f *Filter) {
	for _, s := range list {
		if f.Last > 0 && f.Tail > 0 {
			s.skip = max(0, s.limit-f.Tail)
		}
	}
}

// readBacklog reads the current records of the sources. It calls drained with each source that it
// has read to its end, so that the caller can close the file.
func readBacklog(list []*source, f *Filter, drained func(*source)) iter.Seq2[event.Entry, error] {
	if f.Last > 0 {
		return readLatest(list, f, drained)
	}
	return mergeSources(list, f, drained)
}

// The modification time of a file may be up to clockSlack earlier than the file's last record,
// because the system updates the modification time in coarse steps.
const clockSlack = time.Minute

// mergeSources yields the records of all sources, ordered by time. It opens a source only when the
// merge has reached the start of that source.
func mergeSources(list []*source, f *Filter, drained func(*source)) iter.Seq2[event.Entry, error] {
	return func(yield func(event.Entry, error) bool) {
		m := merger{yield: yield, f: f, drained: drained}
		for len(list) > 0 || len(m.open) > 0 {
			for len(list) > 0 && (len(m.open) == 0 || !list[0].began.After(m.open[0].head.Time)) {
				s := list[0]
				list = list[1:]
				if !s.wrote.Add(clockSlack).Before(f.Since) && !m.addSource(s) {
					return
				}
			}
			if len(m.open) > 0 && !m.yieldHead() {
				return
			}
		}
	}
}

// merger is a heap of open sources, ordered by the time of their next record.
type merger struct {
	open    byHead
	f       *Filter
	yield   func(event.Entry, error) bool
	drained func(*source)
}

// addSource adds a source to the heap. It returns false when the merge must end.
func (m *merger) addSource(s *source) bool {
	ok, more := m.fetchHead(s)
	if ok {
		heap.Push(&m.open, s)
	}
	return more
}

// yieldHead yields the earliest record. It returns false when the merge must end.
func (m *merger) yieldHead() bool {
	s := m.open[0]
	if !m.yield(s.head, nil) {
		return false
	}
	ok, more := m.fetchHead(s)
	if ok {
		heap.Fix(&m.open, 0)
	} else {
		heap.Pop(&m.open)
	}
	return more
}

// fetchHead reads the source's next record into its head. ok is false when the source has no more
// records; the result more is false when the merge must end.
func (m *merger) fetchHead(s *source) (ok, more bool) {
	for {
		e, err := s.nextEntry(m.f)
		if err == nil {
			s.head = e
			return true, true
		}
		if errors.Is(err, io.EOF) {
			more = true
			if d := s.tailDamage(); d != nil {
				more = m.yield(event.Entry{}, d)
			}
			m.drained(s)
			return false, more
		}
		if !m.yield(event.Entry{}, err) || !isDamage(err) {
			return false, false
		}
	}
}

func isDamage(err error) bool {
	var d *event.Damage
	return errors.As(err, &d)
}

type byHead []*source

func (h byHead) Len() int           { return len(h) }
func (h byHead) Less(i, j int) bool { return isEarlier(&h[i].head, &h[j].head) }
func (h byHead) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byHead) Push(x any)        { *h = append(*h, x.(*source)) }
func (h *byHead) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}

// isEarlier orders records by time; records of one session with equal times, by number.
func isEarlier(a, b *event.Entry) bool { return compareEntries(a, b) < 0 }

func compareEntries(a, b *event.Entry) int {
	if c := a.Time.Compare(b.Time); c != 0 {
		return c
	}
	if a.Session != b.Session {
		return slices.Compare([]byte(a.Session), []byte(b.Session))
	}
	return int(min(max(int64(a.Seq)-int64(b.Seq), -1), 1))
}

// readLatest yields the f.Last newest records. It reads the sources in the order of their last
// write, newest first, and stops when no remaining source can have a newer record.
func readLatest(list []*source, f *Filter, drained func(*source)) iter.Seq2[event.Entry, error] {
	return func(yield func(event.Entry, error) bool) {
		newest := slices.Clone(list)
		slices.SortStableFunc(newest, func(a, b *source) int { return b.wrote.Compare(a.wrote) })
		var kept []event.Entry
		limit := 2*f.Last + 64
		calls := map[string]bool{} // calls in kept, whose replies must be kept too
		for _, s := range newest {
			if f.countEntries(kept) == f.Last && s.wrote.Add(clockSlack).Before(kept[0].Time) {
				break
			}
			m := merger{f: f, yield: yield, drained: drained}
			for {
				ok, more := m.fetchHead(s)
				if !more {
					return
				}
				if !ok {
					break
				}
				if f.countsEntry(&s.head) {
					calls[s.head.Record] = f.Replies
				} else if !calls[s.head.Ref] {
					continue
				}
				if kept = append(kept, s.head); len(kept) >= limit {
					kept = f.trimEntries(kept, calls)
					limit = 2*len(kept) + 64
				}
			}
			kept = f.trimEntries(kept, calls)
		}
		for _, e := range kept {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// trimEntries sorts the records. Of the records for which countsEntry returns true, it keeps only
// the newest; f.Last is their maximum number. It also keeps the replies that come after the oldest
// of these records. It removes the dropped records from calls.
func (f *Filter) trimEntries(kept []event.Entry, calls map[string]bool) []event.Entry {
	slices.SortStableFunc(kept, func(a, b event.Entry) int { return compareEntries(&a, &b) })
	first, n := len(kept), 0
	for first > 0 && n < f.Last {
		if first--; f.countsEntry(&kept[first]) {
			n++
		}
	}
	for i := range first {
		delete(calls, kept[i].Record)
	}
	return slices.Delete(kept, 0, first)
}

// countsEntry reports whether a record counts against the number in the field Last. A reply does
// not count if the field Replies is set.
func (f *Filter) countsEntry(e *event.Entry) bool { return !f.Replies || !f.isReply(e) }

func (f *Filter) countEntries(kept []event.Entry) (n int) {
	for i := range kept {
		if f.countsEntry(&kept[i]) {
			n++
		}
	}
	return n
}
