package gate

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/clawai/clawai/policy"
)

// question is an exchange that waits for a person. Its goroutine owns it, except for
// state, which Session.mu guards. state changes from undecided only once. This settles
// the race between the caller who withdraws and the goroutine that concludes.
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
	labels    string       // why the session's labels ask, in words; "" when they do not
	shown     string       // the labels that the person was shown
	over      string       // the exceeded limit that asks, in words; "" when a prompt rule asks
	under     *Policy      // the policy of the rule in now
	asked     Question
	answers   <-chan reply            // nil when the Approver was not called
	end       context.CancelCauseFunc // ends the Approver's part
	resolved  bool                    // nobody needs to be asked any more
	regranted bool                    // the answer has changed the grants
}

// isGrantable reports whether an answer can hold for longer than this call. An answer
// cannot when the call is over a limit, when the session's labels ask, when a team's
// centre is asked, or when the question is about a reply: then each call is asked about.
func (q *question) isGrantable() bool {
	return q.over == "" && q.labels == "" && q.x.asks == "" && (q.now == nil || q.now.Approval == nil) && isGrantable(q.x.Calls)
}

type state uint8

const (
	undecided state = iota
	withdrawn
	delivering
)

// waitingQuestions holds the waiting questions of a session. Session.mu guards it.
type waitingQuestions struct {
	questions map[*Exchange]*question
	loads     map[string]load // by server: a server with many questions leaves room for the others
	last      uint64          // number of the newest question
}

// load is the number of waiting questions and the bytes of their frames.
type load struct{ n, bytes int }

// addQuestion adds q unless there is no room for its server.
func (w *waitingQuestions) addQuestion(q *question, o *Options) bool {
	q.server = q.x.Event.Server
	h := w.loads[q.server]
	if h.n >= o.MaxWaiting || q.frame > o.MaxWaitingBytes-h.bytes {
		return false
	}
	w.loads[q.server] = load{h.n + 1, h.bytes + q.frame}
	w.last++
	q.number = w.last
	w.questions[q.x] = q
	return true
}

// removeQuestion removes q.
func (w *waitingQuestions) removeQuestion(q *question) {
	if h := w.loads[q.server]; h.n > 1 {
		w.loads[q.server] = load{h.n - 1, h.bytes - q.frame}
	} else {
		delete(w.loads, q.server)
	}
	if w.questions[q.x] == q { // the transport may already have reused the exchange
		delete(w.questions, q.x)
	}
}

// wakeQuestions makes the questions about this value be judged again, or all questions
// when value is nil.
func (w *waitingQuestions) wakeQuestions(value *[sha256.Size]byte) {
	for _, q := range w.questions {
		if value == nil || q.value == *value {
			select {
			case q.wake <- struct{}{}:
			default: // the last wake-up is still unread
			}
		}
	}
}
