package overview

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/audit"
)

// MaxLatest is the maximum number of calls that Latest keeps in memory.
const MaxLatest = 3000

// Call is one of the latest calls. It has only short texts, so that many calls fit into memory.
// "foreign" marks a text from strangers. All other texts are safe for a terminal.
type Call struct {
	ID      string
	Session string // key of the session, see SessionKey
	Server  string // foreign
	Tool    string // foreign; the tool's name
	About   string // the argument by which a person recognises the call
	Word    string
	Look    view.Look
	Why     string
	Rule    Rule // foreign
	Time    time.Time
	Ended   string // how the call ended, in a few characters
}

// Latest holds the latest calls in memory.
type Latest struct {
	mu    sync.Mutex
	early []*Call // the last few calls, the newest last; nil when calls is complete
	calls []*Call // a ring buffer
	next  int     // the index in calls where the next call goes
	at    map[string]*Call
	note  string // the latest note about the record, safe for a terminal; "" after a later call
}

// Follow keeps the latest calls up to date until ctx ends. First it reads only the last few calls,
// so that a page can show them at once. When all calls in the record are read, it calls the
// function in the parameter caught.
func (l *Latest) Follow(ctx context.Context, o *Overview, caught func()) {
	l.readEarly(o)
	_ = o.FollowCalls(ctx, MaxLatest, func(r *record.Row) { l.addCall(newCall(r, o.Home)) }, func(text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.note = text
	}, func() {
		l.mu.Lock()
		l.early = nil
		l.mu.Unlock()
		caught()
	}) // the error is ignored: ctx has ended
}

// These are the limits of readEarly, in calls and in bytes.
const (
	maxEarly   = 40
	earlyBytes = 64 << 10
)

// readEarly reads the last few calls. It ignores errors, because Follow reads the same calls again
// and reports the errors.
func (l *Latest) readEarly(o *Overview) {
	var first Latest
	calls := record.Calls{Show: func(r *record.Row) { first.addCall(newCall(r, o.Home)) }}
	f := audit.Filter{Kinds: callKinds, Replies: true, Last: maxEarly, Tail: earlyBytes}
	_, _ = record.ShowEach(audit.Read(o.Dir, f), calls.Add, io.Discard)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.early = first.calls
}

// IsComplete reports whether all of the latest calls are read, not only the last few.
func (l *Latest) IsComplete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.early == nil
}

func newCall(r *record.Row, home string) *Call {
	e := &r.Entry
	b := record.NewBrief(r, home)
	return &Call{
		ID: clip(e.Record), Session: clip(SessionKey(e)), Server: clip(cmp.Or(e.Server, e.ServerGuess)), Tool: clip(toolName(e)),
		About: b.About, Word: b.Word, Look: view.LookOf(e), Why: b.Why, Rule: NewRule(e.RuleFile, e.RuleLine, e.RuleText), Time: e.Time, Ended: b.Ended,
	}
}

// addCall adds a call. If the same call was added before without its reply, addCall replaces it.
func (l *Latest) addCall(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note = ""
	if old := l.at[c.ID]; old != nil {
		*old = *c
		return
	}
	if l.at == nil {
		l.at = map[string]*Call{}
	}
	l.at[c.ID] = c
	if len(l.calls) < MaxLatest {
		l.calls = append(l.calls, c)
		return
	}
	delete(l.at, l.calls[l.next].ID)
	l.calls[l.next] = c
	l.next = (l.next + 1) % MaxLatest
}

// List returns the newest matching calls in memory, the newest first. A call matches if the given
// function returns true for it. The parameter most is the maximum number of calls in the list. The
// result more is the number of further matching calls in memory.
func (l *Latest) List(most int, takes func(*Call) bool) (list []Call, more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls, next := l.calls, l.next
	if l.early != nil {
		calls, next = l.early, 0
	}
	for i := range calls {
		c := calls[(next+len(calls)-1-i)%len(calls)]
		switch {
		case !takes(c):
		case len(list) == most:
			more++
		default:
			list = append(list, *c)
		}
	}
	return list, more
}

// Note returns the latest note about the record, such as a fault. It returns "" if there is no
// note, or if a call came after the note.
func (l *Latest) Note() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note
}
