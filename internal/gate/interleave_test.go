package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// house plays a session in any order of asks, answers, withdrawals, changes of
// the rules, revocations and time, with everything under way at once, and knows
// what was allowed to happen. It counts its own steps: an exchange lives from the
// step it came in to the step it left.
type house struct {
	script []byte
	s      *Session
	d      *person
	j      *journal

	mu      sync.Mutex // guards what follows: outlets and the record come from everywhere
	step    int
	rules   []stretch
	granted map[string][]stretch // by value: when an answer for the session may have held
	guests  []*visitor
	broken  []string
}

// stretch is a time from a step to another; open while to is 0.
type stretch struct {
	from, to int
	of       verdicts
}

func (s stretch) meets(from, to int) bool { return s.from <= to && (s.to == 0 || s.to >= from) }

// verdicts is a policy: what becomes of each value.
type verdicts map[string]policy.Decision

func (v verdicts) DecideAll(cs []policy.Call) policy.Decision           { return v[string(cs[0].Args)] }
func (verdicts) Hint([]policy.Call) string                              { return "" }
func (verdicts) AlterReply([]policy.Call, []string) []policy.Alteration { return nil }
func (verdicts) Timed() bool                                            { return false }
func (verdicts) Labelled() bool                                         { return false }
func (verdicts) Packs() []policy.Pack                                   { return nil }
func (verdicts) Pin(string) policy.Pin                                  { return 0 }
func (verdicts) Revision() string                                       { return "" }
func (verdicts) Screens(policy.On) ([]string, bool)                     { return nil, false }
func (verdicts) FindsIn(*policy.Call) bool                              { return false }
func (verdicts) DecideReply(policy.On, []policy.Call, []string) policy.Decision {
	return policy.Decision{Action: policy.Allow}
}

// visitor is an exchange and its outlet, which watches the gate.
type visitor struct {
	Exchange
	h         *house
	value     string
	came      int
	began     time.Time
	left      string // how
	at        int    // the step
	waits     bool   // Waiting is under way
	record    event.Event
	withdrawn bool
	reply     *Reply // an answer for this very call, and when it was given
	replied   time.Time
}

func (h *house) wrong(format string, args ...any) {
	h.broken = append(h.broken, fmt.Sprintf("step %d: ", h.step)+fmt.Sprintf(format, args...))
}

func (v *visitor) leave(how string) {
	v.h.mu.Lock()
	defer v.h.mu.Unlock()
	if v.left != "" || v.waits {
		v.h.wrong("%s after %q, waiting: %v", how, v.left, v.waits)
	}
	v.left, v.at = how, v.h.step
	if how == "forward" {
		v.h.check(v)
	}
}

func (v *visitor) Forward(*Exchange) error        { v.leave("forward"); return nil }
func (v *visitor) Refuse(_ *Exchange, by Verdict) { v.leave(by.Code) }

func (v *visitor) Waiting(*Exchange, time.Duration) {
	v.h.mu.Lock()
	if v.left != "" {
		v.h.wrong("kept alive after %s", v.left)
	}
	v.waits = true
	v.h.mu.Unlock()
	time.Sleep(time.Millisecond)
	v.h.mu.Lock()
	v.waits = false
	v.h.mu.Unlock()
}

// Record keeps each decision with its exchange.
func (h *house) Record(events ...*event.Event) error {
	h.mu.Lock()
	for _, v := range h.guests {
		for _, ev := range events {
			if ev == &v.Event {
				v.record = *ev
			}
		}
	}
	h.mu.Unlock()
	return h.j.Record(events...)
}

// check wants the allow that v leaves by: recorded, and good at that moment.
func (h *house) check(v *visitor) {
	if v.record.Decision != "allow" {
		h.wrong("forwarded after the record of %q", v.record.Decision)
	}
	want := policy.Prompt
	switch v.record.Code {
	case CodeAllowedByRule:
		want = policy.Allow
	case CodeAllowedByPerson:
		if v.reply == nil || !v.reply.Allows() || time.Since(v.began) >= 45*time.Second {
			h.wrong("allowed by a person who said %v, after %s", v.reply, time.Since(v.began))
		}
	case CodeAllowedInSession:
		if !meets(h.granted[v.value], v.came, h.step) {
			h.wrong("%s was allowed by an answer that did not hold: %v, came in step %d", v.value, h.granted[v.value], v.came)
		}
	default:
		h.wrong("forwarded with %s", v.record.Code)
	}
	var asked []stretch
	for _, r := range h.rules {
		if d := r.of[v.value]; d.Action == want && (d.Rule == nil || d.Rule.Pos.Line == v.record.RuleLine) {
			asked = append(asked, r)
		}
	}
	if !meets(asked, v.came, h.step) {
		h.wrong("%s went on by rules that never said %s while it was there", v.value, want)
	}
}

func meets(all []stretch, from, to int) bool {
	for _, s := range all {
		if s.meets(from, to) {
			return true
		}
	}
	return false
}

var values = []string{"1", "2", "3"}

// draw takes a number below n from the script.
func (h *house) draw(n int) int {
	if len(h.script) == 0 {
		return 0
	}
	b := h.script[0]
	h.script = h.script[1:]
	return int(b) % n
}

func (h *house) come(ctx context.Context) {
	var xs []*Exchange
	for range h.draw(3) + 1 {
		v := &visitor{h: h, value: values[h.draw(len(values))], came: h.step, began: time.Now()}
		v.Raw, v.Out = fmt.Appendf(nil, "%d", len(h.guests)), v
		v.Calls = []policy.Call{{Subject: policy.ToolSubject, Names: []string{"t"}, Args: []byte(v.value)}}
		h.guests = append(h.guests, v)
		xs = append(xs, &v.Exchange)
	}
	h.mu.Unlock()
	h.s.Do(ctx, xs...)
	h.mu.Lock()
}

func (h *house) answer() {
	h.d.mu.Lock()
	n := len(h.d.questions)
	h.d.mu.Unlock()
	if n == 0 {
		return
	}
	h.d.mu.Lock()
	s := h.d.questions[h.draw(n)]
	h.d.mu.Unlock()
	r := Reply(h.draw(5))
	for _, v := range h.guests {
		if &v.Calls[0] != &s.Calls[0] || v.reply != nil {
			continue
		}
		v.reply, v.replied = &r, time.Now()
		if r == AllowSession || r == AllowAlways {
			h.granted[v.value] = append(h.granted[v.value], stretch{from: h.step})
		}
		s.say(r, "")
	}
}

// settle lets everything that is under way happen.
func (h *house) settle() {
	h.mu.Unlock()
	time.Sleep(2 * time.Millisecond) // longer than a sign of life takes
	synctest.Wait()
	h.mu.Lock()
}

func (h *house) over(grants []stretch) {
	for i := range grants {
		if grants[i].to == 0 {
			grants[i].to = h.step
		}
	}
}

func (h *house) change() {
	quiet := h.draw(2) == 0
	if quiet { // no answer is under way that could be remembered for the new rules
		h.settle()
	}
	next := verdicts{}
	for _, value := range values {
		r := []*policy.Rule{promptRule, promptRule, allowRule, denyRule, rule(policy.Prompt, 20, "new")}[h.draw(5)]
		next[value] = policy.Decision{Action: r.Action, Rule: r}
	}
	h.step++
	h.rules = append(h.rules, stretch{from: h.step, of: next})
	h.mu.Unlock()
	h.s.SetPolicy(next)
	h.mu.Lock()
	h.step++
	h.rules[len(h.rules)-2].to = h.step
	if quiet {
		for _, grants := range h.granted {
			h.over(grants)
		}
	}
	h.step++
}

func (h *house) revoke() {
	h.settle()
	grants := h.s.Grants()
	if len(grants) == 0 {
		return
	}
	g := grants[h.draw(len(grants))]
	if !h.s.Revoke(g.ID) {
		h.wrong("%s was not there to be revoked", g.ID)
	}
	// What went on by it has done so: nothing that comes from here on may.
	h.over(h.granted[string(g.Calls[0].Args)])
	for _, left := range h.s.Grants() {
		if left.ID == g.ID {
			h.wrong("%s is still there", g.ID)
			continue
		}
		if string(left.Calls[0].Args) == string(g.Calls[0].Args) { // under another rule
			h.granted[string(g.Calls[0].Args)] = append(h.granted[string(g.Calls[0].Args)], stretch{from: h.step})
		}
	}
	h.step++
}

func (h *house) withdraw() {
	if len(h.guests) == 0 {
		return
	}
	v := h.guests[h.draw(len(h.guests))]
	h.mu.Unlock()
	gone := h.s.Withdraw(&v.Exchange)
	h.mu.Lock()
	if v.withdrawn = v.withdrawn || gone; !gone && v.left == "" {
		h.wrong("not withdrawn, and not yet gone")
	}
}

func (h *house) play(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.script) > 0 {
		h.step++
		switch h.draw(9) {
		case 0, 1, 2:
			h.come(ctx)
		case 3, 4:
			h.answer()
		case 5:
			h.change()
		case 6:
			h.revoke()
		case 7:
			h.withdraw()
		case 8:
			h.mu.Unlock()
			time.Sleep(time.Duration(h.draw(30)) * time.Second)
			h.mu.Lock()
		}
	}
	h.step++
}

// ended says what must hold when the session is over.
func (h *house) ended() {
	for i, v := range h.guests {
		if v.left == "" {
			h.wrong("exchange %d never left", i)
		}
		if v.withdrawn && v.left != CodeWithdrawn {
			h.wrong("exchange %d was withdrawn, and left by %s", i, v.left)
		}
	}
	answered := map[string]int{}
	for _, ev := range h.j.of(event.Answered) {
		answered[ev.By]++
	}
	told := 0
	for number, vs := range h.d.told {
		if told++; len(vs) != 1 {
			h.wrong("question %d was concluded %d times", number, len(vs))
		}
	}
	if answered["anna"] != told {
		h.wrong("%d answers are on record, %d were concluded", answered["anna"], told)
	}
	if w := &h.s.waiting; len(w.loads) != 0 || len(w.questions) != 0 {
		h.wrong("questions are left over: %v", w.loads)
	}
}

// playAll plays the script and says what was wrong.
func playAll(t *testing.T, script []byte) (broken []string) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{script: script, j: newJournal(), granted: map[string][]stretch{}, step: 1}
		first := verdicts{}
		for _, value := range values {
			first[value] = policy.Decision{Action: policy.Prompt, Rule: promptRule}
		}
		h.rules = []stretch{{from: 1, of: first}}
		h.d = newPerson(h.j)
		h.d.deaf = h.draw(4)
		var err error
		h.s, err = New(alone(Options{
			Policy: first, Recorder: h, Approver: h.d, Concluder: h.d,
			DenyMemory: []time.Duration{-1, 0}[h.draw(2)], AskPerMinute: []int{-1, 3}[h.draw(2)],
		}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		h.play(ctx)
		if h.draw(2) == 1 {
			cancel(errors.New("hung up"))
		}
		h.s.Close()
		cancel(nil)
		h.ended()
		broken = h.broken
	})
	return broken
}

func TestEverythingAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var seed [32]byte
		binary.BigEndian.PutUint64(seed[:], rapid.Uint64().Draw(rt, "seed"))
		script := make([]byte, rapid.IntRange(1, 400).Draw(rt, "length")) // of even chances, cut to shrink
		_, _ = rand.NewChaCha8(seed).Read(script)
		if broken := playAll(t, script); len(broken) > 0 {
			rt.Fatal(strings.Join(broken, "\n"))
		}
	})
}

func FuzzEverythingAtOnce(f *testing.F) {
	f.Add([]byte("everything at once"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 1000 {
			return
		}
		if broken := playAll(t, script); len(broken) > 0 {
			t.Error(strings.Join(broken, "\n"))
		}
	})
}
