package session

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
)

// Limits of the junk (see isJunk) that one sender may add to the record. The first junkOneByOne
// messages are recorded one by one, and after that one message every foldEvery. All other junk is
// only counted, and the count is recorded every foldEvery. Without a limit, junk would push the
// records of calls out of the retained record.
const (
	junkOneByOne = 256
	foldEvery    = 10 * time.Second
)

const codeFolded = "folded"

// folding is a recorder that counts the junk beyond the limits instead of recording it.
type folding struct {
	gate.Recorder
	now func() time.Time

	waits   atomic.Int64 // number of senders whose count has not been written
	mu      sync.Mutex   // guards the fields below
	senders map[sender]*junk
	timer   *time.Timer
}

// sender identifies a sender of messages, for one kind of event.
type sender struct {
	kind                                 event.Kind
	server, guess, invocation, direction string
}

// junk is the state of one sender.
type junk struct {
	left    int       // how many events may still be recorded one by one
	filled  time.Time // time up to which the field left has been increased
	told    time.Time // time at which the last count was written
	record  string    // record id of the last written count
	n       int       // number of events since the last written count
	bytes   int       // total size in bytes of the messages of the counted events
	content hash.Hash // running digest of the counted events
}

func newFolding(all gate.Recorder) *folding {
	return &folding{Recorder: all, now: time.Now, senders: map[sender]*junk{}}
}

// isJunk reports whether an event is junk: it is about a message that was not forwarded, and
// belongs to no other record. A Chatter event with a code is no junk, because clawai itself has
// caused it.
func isJunk(ev *event.Event) bool {
	return ev.Ref == "" && (ev.Kind == event.Dropped || ev.Kind == event.Chatter && ev.Code == "")
}

// Record implements gate.Recorder. An event that is only counted gets the id of the last written
// count.
func (f *folding) Record(events ...*event.Event) error {
	if f.waits.Load() == 0 && !slices.ContainsFunc(events, isJunk) { // no count waits to be written, and no event is junk
		return f.Recorder.Record(events...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*event.Event
	folded, end, now := map[*event.Event]*junk{}, false, f.now()
	for _, ev := range events {
		if !isJunk(ev) || f.admitEvent(ev, now, folded) {
			all = append(all, ev)
		}
		end = end || ev.Kind == event.End
	}
	counts := f.dueCounts(now, end)
	if all = slices.Concat(counts, all); len(all) > 0 {
		if err := f.Recorder.Record(all...); err != nil {
			return err
		}
	}
	f.resetCounts(counts, now)
	for ev, j := range folded {
		ev.Record = j.record
	}
	return nil
}

// admitEvent reports whether an event is recorded by itself. If not, admitEvent counts the event
// and adds it to folded.
func (f *folding) admitEvent(ev *event.Event, now time.Time, folded map[*event.Event]*junk) bool {
	of := sender{ev.Kind, ev.Server, ev.ServerGuess, ev.Invocation, ev.Direction}
	j := f.senders[of]
	if j == nil {
		j = &junk{left: junkOneByOne, filled: now, content: sha256.New()}
		f.senders[of] = j
	}
	if more := int(now.Sub(j.filled) / foldEvery); more > 0 {
		j.left, j.filled = min(junkOneByOne, j.left+more), j.filled.Add(time.Duration(more)*foldEvery)
	}
	if j.left > 0 {
		j.left--
		return true
	}
	if j.n == 0 {
		f.waits.Add(1)
		f.scheduleCounts()
	}
	j.n, j.bytes, folded[ev] = j.n+1, j.bytes+ev.Bytes, j
	text, _ := json.Marshal([]any{ev.Code, ev.Reason, ev.Method, ev.ID, ev.Bytes, ev.Detail})
	_, _ = j.content.Write(append(text, '\n'))
	return false
}

// dueCounts returns the counts that must be written now. If the parameter all is true, it also
// returns counts that are not due yet.
func (f *folding) dueCounts(now time.Time, all bool) (counts []*event.Event) {
	for of, j := range f.senders {
		if j.n == 0 || !all && now.Sub(j.told) < foldEvery {
			continue
		}
		counts = append(counts, &event.Event{
			Kind: of.kind, Server: of.server, ServerGuess: of.guess, Invocation: of.invocation, Direction: of.direction,
			Code: codeFolded, Folded: j.n, Bytes: j.bytes, Digest: [sha256.Size]byte(j.content.Sum(nil)),
			Reason: fmt.Sprintf("so many of these came that %d more are not written one by one", j.n),
		})
	}
	return counts
}

// resetCounts sets the written counts to zero.
func (f *folding) resetCounts(counts []*event.Event, now time.Time) {
	for _, ev := range counts {
		j := f.senders[sender{ev.Kind, ev.Server, ev.ServerGuess, ev.Invocation, ev.Direction}]
		j.n, j.bytes, j.told, j.record = 0, 0, now, ev.Record
		j.content.Reset()
		f.waits.Add(-1)
	}
}

// scheduleCounts writes the counts after a while, even if no other event follows.
func (f *folding) scheduleCounts() {
	if f.timer == nil {
		f.timer = time.AfterFunc(foldEvery, func() { _ = f.Record() })
	} else {
		f.timer.Reset(foldEvery)
	}
}
