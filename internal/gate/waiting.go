package gate

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/clawai/clawai/policy"
)

// question is an exchange that waits for a person. Its goroutine owns it, except for
// state, which Session.mu guards. state leaves undecided only once. That decides the
// race between the caller who withdraws and the goroutine that concludes.
type question struct {
	x      *Exchange
	frame  int // length of the frame
	server string
	digest [32]byte // digest of the frame
	value  [32]byte // digest of the calls
	number uint64
	start  time.Time
	state  state
	cancel context.CancelCauseFunc // ends the whole question
	wake   chan struct{}           // capacity 1: the rules or the memory have changed
	done   chan struct{}           // closed after the Outlet was called

	rule      *policy.Rule // the rule that the person is shown
	now       *policy.Rule // the rule that asks now
	labels    string       // in words: what the session has seen, when that asks
	shown     string       // labels as the person was shown them
	over      string       // in words: the limit that made it ask; "" when a prompt rule asks
	under     *Policy      // the policy that holds that rule
	asked     Question
	answers   <-chan reply            // nil when the Approver was not called
	end       context.CancelCauseFunc // ends the Approver's part
	resolved  bool                    // nobody needs to be asked any more
	regranted bool                    // the answer has changed the grants
}

// isGrantable reports whether an answer can hold for longer than this call. It cannot
// for a call over a limit, for a prompt because of the session's labels, or for a
// reply: those are asked about each time.
func (q *question) isGrantable() bool {
	return q.over == "" && q.labels == "" && q.x.asks == "" && isGrantable(q.x.Calls)
}

type state uint8

const (
	undecided state = iota
	withdrawn
	delivering
)

// waiting holds the waiting questions of a session. Session.mu guards it.
type waiting struct {
	of   map[*Exchange]*question
	by   map[string]load // by server: a server with many questions leaves room for the others
	last uint64
}

// load is the number of waiting questions and the bytes of their frames.
type load struct{ n, bytes int }

// addQuestion adds q unless there is no room for its server.
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

// removeQuestion removes q.
func (w *waiting) removeQuestion(q *question) {
	if h := w.by[q.server]; h.n > 1 {
		w.by[q.server] = load{h.n - 1, h.bytes - q.frame}
	} else {
		delete(w.by, q.server)
	}
	if w.of[q.x] == q { // the transport may already have reused the exchange
		delete(w.of, q.x)
	}
}

// wakeQuestions makes the questions about this value be judged again, or all questions
// when value is nil.
func (w *waiting) wakeQuestions(value *[sha256.Size]byte) {
	for _, q := range w.of {
		if value == nil || q.value == *value {
			select {
			case q.wake <- struct{}{}:
			default: // the last wake-up is still unread
			}
		}
	}
}
