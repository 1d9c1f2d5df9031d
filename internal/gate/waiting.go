package gate

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/clawai/clawai/policy"
)

// question is an exchange that waits for a person. Its goroutine owns it, but
// for the state, which Session.mu guards: it leaves undecided once, and that
// picks the winner between the caller who withdraws and the goroutine that
// concludes.
type question struct {
	x      *Exchange
	frame  int // its length
	server string
	digest [32]byte // of the frame
	value  [32]byte // of the calls
	number uint64
	start  time.Time
	state  state
	cancel context.CancelCauseFunc // ends everything
	wake   chan struct{}           // holds one: the rules or the memory have changed
	done   chan struct{}           // closed after the Outlet was called

	rule      *policy.Rule // the one that the person is shown
	now       *policy.Rule // the one that asks by now
	labels    string       // what the session has seen, where that asks, in words
	shown     string       // the same as the person was shown it
	over      string       // the limit that made it ask, in words; "" when a prompt rule asks
	under     *Policy      // where that rule stands
	asked     Question
	answers   <-chan reply            // nil when the Approver was not called
	end       context.CancelCauseFunc // ends the Approver's part
	resolved  bool                    // because nobody need be asked any more
	regranted bool                    // the answer has changed the grants
}

// isGrantable reports whether an answer can hold for longer than this call. Beyond a
// limit, where what the session has seen asks, and of an answer, every call is asked about.
func (q *question) isGrantable() bool {
	return q.over == "" && q.labels == "" && q.x.asks == "" && isGrantable(q.x.Calls)
}

type state uint8

const (
	undecided state = iota
	withdrawn
	delivering
)

// waiting are the questions of a session, guarded by Session.mu.
type waiting struct {
	of   map[*Exchange]*question
	by   map[string]load // server: one that asks much leaves room for the others
	last uint64
}

// load is how many questions wait, and the bytes of their frames.
type load struct{ n, bytes int }

// addQuestion takes q in unless there is no room for its server.
func (w *waiting) addQuestion(q *question, o *Options) bool {
	q.server = q.x.Event.Server
	h := w.by[q.server]
	if h.n >= o.MaxWaiting || q.frame > o.MaxWaitingBytes-h.bytes {
		return false
	}
	w.by[q.server] = load{h.n + 1, h.bytes + q.frame}
	w.last++
	q.number = w.last
	w.of[q.x] = q
	return true
}

// removeQuestion takes q out.
func (w *waiting) removeQuestion(q *question) {
	if h := w.by[q.server]; h.n > 1 {
		w.by[q.server] = load{h.n - 1, h.bytes - q.frame}
	} else {
		delete(w.by, q.server)
	}
	if w.of[q.x] == q { // the transport may have used the exchange again by now
		delete(w.of, q.x)
	}
}

// wakeQuestions has the questions about this value judged again, or all when it is nil.
func (w *waiting) wakeQuestions(value *[sha256.Size]byte) {
	for _, q := range w.of {
		if value == nil || q.value == *value {
			select {
			case q.wake <- struct{}{}:
			default: // it has not yet looked since the last time
			}
		}
	}
}
