package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func TestGrantsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := 0
		s, j, d := sessionWithPerson(t, always(promptRule), Options{OnGrants: func() {
			changed++
			panic("publishing fell")
		}})
		began := time.Now()
		answered(t, s, j, d, "x", AllowSession)
		time.Sleep(time.Minute)
		answered(t, s, j, d, "y", AllowAlways)
		for range 3 {
			time.Sleep(time.Second)
			if got := ask(t, s, j, "y"); got != "forward" {
				t.Error(got)
			}
		}
		all := s.Grants()
		if len(all) != 2 || changed != 2 {
			t.Fatalf("%d grants, %d changes", len(all), changed)
		}
		x, y := all[0], all[1]
		if x.Calls[0].Names[0] != "x" || string(x.Calls[0].Args) != `{"a":1}` || x.Rule != *promptRule || x.Cut ||
			!x.Since.Equal(began) || x.Uses != 0 || !x.Used.IsZero() {
			t.Errorf("listed %+v", x)
		}
		if y.Uses != 3 || !y.Used.Equal(time.Now()) || !y.Since.Equal(began.Add(time.Minute)) {
			t.Errorf("listed %+v", y)
		}
		if len(x.ID) != 8 || x.ID == y.ID || strings.ToLower(x.ID) != x.ID {
			t.Errorf("called %q and %q", x.ID, y.ID)
		}
		s.SetPolicy(always(promptRule))
		if len(s.Grants()) != 0 || changed != 3 {
			t.Errorf("%d grants, %d changes after the rules changed", len(s.Grants()), changed)
		}
		s.SetPolicy(always(promptRule))
		if changed != 3 {
			t.Error("told of a change of nothing")
		}
	})
}

func TestARevokedGrantAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := 0
		s, j, d := sessionWithPerson(t, always(promptRule), Options{OnGrants: func() { changed++ }})
		answered(t, s, j, d, "x", AllowSession)
		answered(t, s, j, d, "y", AllowSession)
		id := s.Grants()[0].ID
		if s.Revoke("nothing") || !s.Revoke(id) || s.Revoke(id) || changed != 3 {
			t.Errorf("%d changes", changed)
		}
		for name, want := range map[string]string{"x": "asked", "y": "forward"} {
			if got := ask(t, s, j, name); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// The last word counts: a no ends what was granted, a yes ends the no.
func TestTheLastWordCounts(t *testing.T) {
	for _, tt := range []struct {
		first, second Reply
		want          string
	}{
		{AllowSession, DenyOnce, CodeDeniedRecently},
		{AllowSession, DenyAlways, CodeDeniedByPerson},
		{DenyOnce, AllowSession, "forward"},
		{DenyOnce, AllowOnce, CodeDeniedRecently},
		{DenyAlways, DenyOnce, CodeDeniedByPerson},
		{DenyAlways, AllowSession, CodeDeniedByPerson}, // a rule that denies has been written
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, _ := sessionWithPerson(t, always(promptRule), Options{})
			for _, r := range []Reply{tt.first, tt.second} { // of two equal calls that wait
				q := &question{x: j.call("x"), now: promptRule, under: s.policy.Load()}
				q.value = valueOf(q.x.Calls)
				switch {
				case r == AllowSession:
					s.rememberAllow(q, nil)
				case !r.Allows():
					s.rememberDeny(q, reply{Answer: Answer{Reply: r}})
				}
			}
			if got := ask(t, s, j, "x"); got != tt.want {
				t.Errorf("%s, then %s: %s", tt.first, tt.second, got)
			}
			for _, g := range s.Grants() { // nor does the no come back
				s.Revoke(g.ID)
				if got := ask(t, s, j, "x"); got != "asked" {
					t.Errorf("%s, then %s, then revoked: %s", tt.first, tt.second, got)
				}
			}
		})
	}
}

// An answer that is remembered after the rules have changed would hold for rules
// that nobody was asked about.
func TestNothingIsRememberedForRulesThatAreGone(t *testing.T) {
	j := newJournal()
	s := session(t, j, always(promptRule))
	q := &question{x: j.call("x"), now: promptRule, under: s.policy.Load()}
	s.SetPolicy(always(promptRule))
	s.rememberAllow(q, nil)
	s.rememberDeny(q, reply{Answer: Answer{Reply: DenyAlways}})
	if len(s.memory.grants)+len(s.memory.denials) != 0 || q.regranted {
		t.Errorf("remembered %+v", s.memory)
	}
}

func TestGrantsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{MaxWaiting: 3 * maxKept})
		for i := range maxKept + 1 {
			x := j.call(fmt.Sprint(i))
			s.Do(t.Context(), x, j.call(fmt.Sprint(i))) // twice the same: one grant
		}
		for _, pendingQuestion := range d.open() {
			pendingQuestion.say(AllowSession, "")
			synctest.Wait()
		}
		if n := len(s.Grants()); n != maxKept {
			t.Errorf("%d are kept", n)
		}
		for i, want := range map[int]string{0: "asked", 1: "forward", maxKept: "forward"} {
			if got := ask(t, s, j, fmt.Sprint(i)); got != want {
				t.Errorf("call %d: %s, want %s", i, got, want)
			}
		}
	})
}

func TestWhatIsKeptOfAGrantToBeShown(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	object := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n) + `"}`) }
	call := func(args []byte, names ...string) policy.Call {
		return policy.Call{Server: "s", Method: "m", Subject: policy.ToolSubject, Names: names, Args: args}
	}
	for name, tt := range map[string]struct {
		cs     []policy.Call
		calls  int
		cut    bool
		noArgs bool
	}{
		"small":       {[]policy.Call{call(object(10), "a", "b")}, 1, false, false},
		"big":         {[]policy.Call{call(object(60_000), "a")}, 1, false, false},
		"too big":     {[]policy.Call{call(object(70_000), "a")}, 1, true, true},
		"much beside": {[]policy.Call{{Server: "s", Method: "m", Subject: policy.ToolSubject, Args: object(10), Extra: object(70_000)}}, 1, true, false},
		"long name":   {[]policy.Call{call(nil, long)}, 1, true, true},
		"many names":  {[]policy.Call{call(nil, slices.Repeat([]string{""}, 9999)...)}, 1, true, true},
		"many calls":  {slices.Repeat([]policy.Call{call(nil, "a")}, 9999), 300, true, true},
	} {
		kept, cut := copyCalls(tt.cs)
		if cut != tt.cut || len(kept) > tt.calls || len(kept) == 0 {
			t.Errorf("%s: %d calls are kept, cut: %v", name, len(kept), cut)
		}
		size := 0
		for i, c := range kept {
			if c.Subject != policy.ToolSubject || c.Server != "s" || c.Method != "m" {
				t.Errorf("%s: kept %+v", name, c)
			}
			for k, n := range c.Names {
				size += len(n) + 16
				if !strings.HasPrefix(tt.cs[i].Names[k], n) {
					t.Errorf("%s: name %d is another", name, k)
				}
			}
			size += len(c.Args)
			if c.Args != nil && !json.Valid(c.Args) || (c.Args == nil) != tt.noArgs {
				t.Errorf("%s: arguments of %d bytes", name, len(c.Args))
			}
		}
		if size > maxShown {
			t.Errorf("%s: %d bytes are kept", name, size)
		}
	}
}

// What is listed shares no memory with the frame: the transport has it back.
func TestAGrantDoesNotHoldTheFrame(t *testing.T) {
	raw := []byte("file{}")
	c := policy.Call{Names: []string{string(raw[:4])}, Args: raw[4:], Extra: raw[4:]}
	kept, _ := copyCalls([]policy.Call{c})
	raw[4] = '!'
	if string(kept[0].Args) != "{}" || string(kept[0].Extra) != "{}" {
		t.Errorf("kept %q and %q", kept[0].Args, kept[0].Extra)
	}
}

// A question that is handed to the client's own dialog lets the call on, once, and says
// so; never where the rule asks by other means than the client.
func TestHandedOver(t *testing.T) {
	for _, c := range []struct {
		rule *policy.Rule
		code Code
	}{{promptRule, CodeHandedOver}, {&policy.Rule{Action: policy.Prompt, OutOfBand: true}, CodeWrongAnswer}} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := sessionWithPerson(t, always(c.rule), Options{})
			for range 2 { // the first is not remembered
				x := j.call("x")
				s.Do(t.Context(), x)
				open := d.open()
				open[len(open)-1].say(HandOver, "")
				synctest.Wait()
				if x.Event.Code != c.code || (x.Event.Decision == "allow") != (c.code == CodeHandedOver) {
					t.Errorf("%s %s", x.Event.Decision, x.Event.Code)
				}
			}
			if answers := j.of(event.Answered); len(answers) != 2 || answers[0].Answer != "handed over" {
				t.Errorf("%+v", answers)
			}
		})
	}
}
