package gate

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/clawai/clawai/policy"
)

// question is an exchange that waits for a person. Its goroutine owns the question, except the
// field state, which Session.mu guards. state changes only once, from undecided. This decides the
// race between a caller that withdraws and the goroutine that concludes.
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
	wake   chan struct{}           // signals that the rules or the memory have changed; capacity 1
	done   chan struct{}           // closed after the call of Forward or Refuse

	rule      *policy.Rule // the rule in the question that the person sees
	now       *policy.Rule // the rule that asks after the last judgement
	labels    string       // why the session's labels ask, as text; "" when they do not
	shown     string       // labels at the time of the question
	over      string       // the exceeded limit that asks, as text; "" when a prompt rule asks
	under     *Policy      // the policy that contains the rule now
	asked     Question
	answers   <-chan reply            // nil when the Approver was not called
	end       context.CancelCauseFunc // ends the Approver's part
	resolved  bool                    // the call needs no person any more
	regranted bool                    // the answer has changed the grants
}

// isGrantable reports whether an answer can hold for longer than this call. An answer holds only
// for this call, and a person is asked about each further call, in these cases: the call is over a
// limit; the session's labels ask; a team's centre is asked; the question is about a reply; the
// person is not shown everything in the calls.
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
	loads     map[string]load // load by server, so that a server with many questions leaves room for the others
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
	if w.questions[q.x] == q { // the transport may already use the same Exchange for another question
		delete(w.questions, q.x)
	}
}

// wakeQuestions wakes the questions about this value, so that they are judged again. A nil value
// wakes all questions.
func (w *waitingQuestions) wakeQuestions(value *[sha256.Size]byte) {
	for _, q := range w.questions {
		if value == nil || q.value == *value {
			select {
			case q.wake <- struct{}{}:
			default: // an earlier wake-up is still unread, so one is enough
			}
		}
	}
}
