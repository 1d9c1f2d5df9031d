package logcmd

import (
	"math"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
)

// These constants limit the memory of a tally, because an agent can invent any number of names.
const (
	mostTools    = 4096
	mostOpen     = 4096  // maximum number of calls that wait for their reply
	mostSessions = 65536 // maximum number of sessions that are counted separately
)

// counts holds the numbers of some calls, by result.
type counts struct {
	Calls   int `json:"calls"`
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`  // includes calls that the policy denied while nothing was enforced
	Asked   int `json:"asked"`   // the rules asked a person; the answer does not matter
	Failed  int `json:"failed"`  // the reply was an error
	Watched int `json:"watched"` // nothing was enforced
	replies replyTimes
}

// toolKey is the key of the counts: the server, and the name of the tool. If a call names no tool,
// name is another name in the call, or else its method.
type toolKey struct{ server, name string }

// tally counts the records in one pass.
type tally struct {
	all         counts
	first, last time.Time
	tools       map[toolKey]*counts
	others      bool              // there are more tools than the limit; the calls of further tools are counted only in the field all
	hours       map[int64]*counts // the key is the number of hours since 1970
	sessions    map[string]bool
	open        map[string]openCall // calls that wait for their reply, by the id of their record
	order       []string            // the keys of open, the oldest first
}

type openCall struct {
	at time.Time
	of []*counts // the counts that contain this call
}

func newTally() *tally {
	return &tally{tools: map[toolKey]*counts{}, hours: map[int64]*counts{}, sessions: map[string]bool{}, open: map[string]openCall{}}
}

func (t *tally) addEntry(e *event.Entry) {
	if e.Kind != event.Decision {
		t.countReply(e)
		return
	}
	if e.Code == gate.CodeUngoverned {
		return // no rule is about a message such as a list or a ping
	}
	if t.first.IsZero() {
		t.first = e.Time
	}
	t.last = e.Time
	if len(t.sessions) < mostSessions {
		t.sessions[e.Session] = true
	}
	of := []*counts{&t.all, t.hourCounts(e.Time)}
	if tool := t.toolCounts(e); tool != nil {
		of = append(of, tool)
	}
	for _, c := range of {
		c.countDecision(e)
	}
	if e.Decision == "allow" && len(e.ID) > 0 {
		t.awaitReply(e, of)
	}
}

func (c *counts) countDecision(e *event.Entry) {
	c.Calls++
	done := e.Decision
	if e.IsObserved() {
		c.Watched++
		done = e.UnenforcedDecision()
	}
	switch done {
	case "allow":
		c.Allowed++
	case "deny":
		c.Denied++
	}
	if e.WasAsked() {
		c.Asked++
	}
}

func (t *tally) toolCounts(e *event.Entry) *counts {
	key := toolKey{server: e.Server, name: e.Method}
	if key.server == "" {
		key.server = e.ServerGuess
	}
	if len(e.Names) > 0 {
		key.name = e.Names[0]
	}
	if t.tools[key] == nil {
		if len(t.tools) == mostTools {
			t.others = true
			return nil
		}
		t.tools[key] = &counts{}
	}
	return t.tools[key]
}

func (t *tally) hourCounts(at time.Time) *counts {
	hour := at.Unix() / 3600
	if t.hours[hour] == nil {
		t.hours[hour] = &counts{}
	}
	return t.hours[hour]
}

// awaitReply stores a call until its reply is read. If too many calls wait, it drops the oldest
// call.
func (t *tally) awaitReply(e *event.Entry, of []*counts) {
	if len(t.order) == mostOpen {
		delete(t.open, t.order[0])
		t.order = t.order[1:]
	}
	t.open[e.Record] = openCall{e.Time, of}
	t.order = append(t.order, e.Record)
}

func (t *tally) countReply(e *event.Entry) {
	call, ok := t.open[e.Ref]
	if !ok {
		return
	}
	delete(t.open, e.Ref)
	for _, c := range call.of {
		if e.IsError {
			c.Failed++
		}
		c.replies.addTime(e.Time.Sub(call.at))
	}
}

// replyTimes counts reply times in steps. The first step is 1 ms, and each step is one eighth
// longer than the previous one. So the error of the median is at most 6 %, and the memory does not
// grow with the number of replies.
type replyTimes struct {
	n                 int
	shortest, longest time.Duration
	steps             []uint32
}

const step = 1.125

func (r *replyTimes) addTime(d time.Duration) {
	i := 0
	if d > time.Millisecond {
		i = 1 + int(math.Log(float64(d)/float64(time.Millisecond))/math.Log(step))
	}
	for len(r.steps) <= i {
		r.steps = append(r.steps, 0)
	}
	r.steps[i]++
	if r.n == 0 {
		r.shortest = d
	}
	r.n++
	r.shortest, r.longest = min(r.shortest, d), max(r.longest, d)
}

// median returns the median of the reply times. The error is at most 6 %.
func (r *replyTimes) median() time.Duration {
	below := 0
	for i, n := range r.steps {
		if below += int(n); 2*below >= r.n {
			middle := time.Duration(math.Pow(step, float64(i)-0.5) * float64(time.Millisecond))
			return min(max(middle, r.shortest), r.longest)
		}
	}
	return 0
}
