package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// book is what ledgers are of, one for each process.
type book struct {
	all  []Entry
	dead map[string]bool
}

// pages is one process's ledger.
type pages struct {
	*book
	by   string
	read int
	err  error
	lose bool // what is added
}

func (b *book) of(by string) *pages { return &pages{book: b, by: by} }

func (p *pages) Append(own ...Entry) ([]Entry, error) {
	if p.err != nil {
		return nil, p.err
	}
	for _, e := range own {
		if e.By = p.by; !p.lose {
			p.all = append(p.all, e)
		}
	}
	since := slices.Clone(p.all[p.read:])
	p.read = len(p.all)
	return since, nil
}

func (p *pages) Alive(by string) bool { return !p.dead[by] }

// Two processes of a session let no more through together than one would, and what one does
// not send on the other has room for.
func TestProcessesCountTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, j := &book{}, newJournal()
		p := ruleText(t, limited("allow", `"3/min"`))
		of := func(by string) *Session {
			return sessionOf(t, j, p, Options{Limits: &Meter{Ledger: b.of(by)}})
		}
		one, other := of("1"), of("2")
		for i, s := range []*Session{one, other, other} {
			if _, got := do(s, j, fmt.Sprint(i)); got != "forward" {
				t.Errorf("call %d became %s", i, got)
			}
			time.Sleep(10 * time.Second)
		}
		x, got := do(one, j, "late")
		if v := j.verdicts[x]; got != CodeLimit || v.Reason != "at most 3 a minute; try again in 30 s" {
			t.Errorf("became %s: %+v", got, v)
		}
		if _, got := do(of("3"), j, "comes later"); got != CodeLimit {
			t.Errorf("who comes later: %s", got)
		}
		time.Sleep(30 * time.Second)
		if _, got := do(other, j, "again"); got != "forward" {
			t.Errorf("after the time that was named: %s", got)
		}
		if _, got := do(one, j, "two for the room of one"); got != CodeLimit {
			t.Error(got)
		}
		lost := j.call("lost")
		time.Sleep(10 * time.Second)
		j.forward = func() error { return errors.New("lost") }
		one.Do(t.Context(), lost)
		j.forward = nil
		if _, got := do(other, j, "in its place"); got != "forward" {
			t.Errorf("for what was lost: %s", got)
		}
	})
}

// What is not known of others opens nothing.
func TestWhatOthersHaveCountedIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ruleText(t, limited("allow", `{ rate = "9/hour", sum = "args.n" }`))
		key := p.Rules()[0].Rate.Key
		for name, c := range map[string]struct {
			ledger *pages
			owner  string
		}{
			"unreadable": {&pages{book: &book{}, err: errors.New("cut")}, "it could not be counted against a limit: cut"},
			"lost":       {&pages{book: &book{}, lose: true}, "it could not be counted against a limit: " + errMissed.Error()},
			"beyond": {(&book{all: []Entry{
				{Key: keyOf(policy.Charge{Rule: &policy.Rule{Rate: policy.Rate{Key: key}}}, []policy.Call{{}}), ID: 1, At: time.Now(), Every: time.Hour, Amount: math.MaxInt64},
				{Key: keyOf(policy.Charge{Rule: &policy.Rule{Rate: policy.Rate{Key: key}}}, []policy.Call{{}}), ID: 2, At: time.Now(), Every: time.Hour, Amount: 1},
			}}).of("1"), "it could not be counted against a limit: " + errBeyond.Error()},
		} {
			j := newJournal()
			s := sessionOf(t, j, p, Options{Limits: &Meter{Ledger: c.ledger}})
			x := j.call("x")
			x.Calls[0].Args = []byte(`{"n":1}`)
			s.Do(t.Context(), x)
			if v := j.verdicts[x]; j.became(x) != CodeLimit || x.Event.Reason != c.owner {
				t.Errorf("%s: %s, %q, %+v", name, j.became(x), x.Event.Reason, v)
			}
		}
	})
}

// A question that one process asks is one that the other may not, and who is muted is so
// everywhere.
func TestProcessesAskTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		one, j, _ := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: 3, Asked: b.of("1")})
		other, k, _ := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: 3, Asked: b.of("2")})
		if got := asksEvery(t, one, j, 2, 2*time.Second) + asksEvery(t, other, k, 2, 2*time.Second); got != "aaam" {
			t.Errorf("became %s", got)
		}
		if got := asksEvery(t, one, j, 1, time.Second); got != "m" || len(j.of(event.Muted)) != 0 {
			t.Errorf("where the other is muted: %s", got)
		}
		time.Sleep(time.Minute)
		if got := asksEvery(t, one, j, 1, 2*time.Second) + asksEvery(t, other, k, 1, time.Second); got != "aa" {
			t.Errorf("afterwards became %s", got)
		}
		for _, p := range []*pages{{book: &book{}, err: errors.New("cut")}} {
			s, j, d := sessionWithPerson(t, always(promptRule), Options{Asked: p})
			if got := ask(t, s, j, "x"); got != CodeNobodyToAsk || len(d.open()) != 0 {
				t.Errorf("unknown: %s", got)
			}
			p.err = nil
			if got := ask(t, s, j, "y"); got != "asked" || len(d.open()) != 1 {
				t.Errorf("known again: %s", got)
			}
		}
		full := &filling{pages: b.of("3")}
		s, l, d := sessionWithPerson(t, always(promptRule), Options{Asked: full})
		if got := ask(t, s, l, "x"); got != CodeNobodyToAsk || len(d.open()) != 0 {
			t.Errorf("what cannot be written: %s", got)
		}
	})
}

// filling reads and does not write.
type filling struct{ *pages }

func (f *filling) Append(own ...Entry) ([]Entry, error) {
	if len(own) > 0 {
		return nil, errors.New("full")
	}
	return f.pages.Append()
}

// What was allowed for the session in one process is so in the others that run with the same
// rules, until it is taken back or that process ends.
func TestProcessesGrantTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{dead: map[string]bool{}}
		p := always(promptRule)
		begin := func(by string) (*Session, *journal, *person) {
			return sessionWithPerson(t, p, Options{Granted: b.of(by), DenyMemory: -1})
		}
		one, j, d := begin("1")
		other, k, e := begin("2")
		passes := func(what string, s *Session, j *journal, name string, want bool) {
			t.Helper()
			if got := ask(t, s, j, name); (got == "forward") != want {
				t.Errorf("%s: %s", what, got)
			}
		}
		answered(t, one, j, d, "x", AllowSession)
		passes("where it was given", one, j, "x", true)
		passes("in the other", other, k, "x", true)
		passes("another call", other, k, "y", false)
		if len(one.Grants()) != 1 || len(other.Grants()) != 0 || one.Grants()[0].Uses != 1 {
			t.Errorf("listed: %+v, %+v", one.Grants(), other.Grants())
		}
		other.SetPolicy(always(&policy.Rule{Action: policy.Prompt, Index: 7}))
		passes("of other rules", other, k, "x", false)
		other.SetPolicy(p)
		passes("of the same", other, k, "x", true)
		b.dead["1"] = true
		passes("when the first has ended", other, k, "x", false)
		b.dead["1"] = false
		one.Revoke(one.Grants()[0].ID)
		passes("taken back", other, k, "x", false)

		answered(t, one, j, d, "x", AllowSession)
		answered(t, other, k, e, "z", AllowSession)
		passes("given in the other", one, j, "z", true)
		one.SetPolicy(p)
		passes("the rules of the first are new", other, k, "x", false)
		passes("those of the second are not", one, j, "z", true)

		// A server of the same name that is another, or that relative paths lead elsewhere at.
		for name, o := range map[string]Options{"another server": {Upstream: "b"}, "another folder": {Facts: policy.Facts{Cwd: "/b"}}} {
			o.Granted, o.DenyMemory = b.of("3"), -1
			apart, l, _ := sessionWithPerson(t, p, o)
			passes("before "+name, apart, l, "z", false)
		}

		// A no ends it everywhere.
		answered(t, one, j, d, "w", AllowSession)
		third, l, f := sessionWithPerson(t, p, Options{DenyMemory: -1})
		x, y := j.call("v"), k.call("v")
		one.Do(t.Context(), x)
		other.Do(t.Context(), y)
		synctest.Wait()
		d.open()[len(d.open())-1].say(AllowSession, "")
		synctest.Wait()
		passes("yes", one, j, "v", true)
		e.open()[len(e.open())-1].say(DenyOnce, "")
		synctest.Wait()
		passes("no", one, j, "v", false)
		passes("no, to the other", other, k, "v", false)
		if n := len(one.Grants()); n != 1 {
			t.Errorf("%d are listed", n)
		}
		answered(t, third, l, f, "w", AllowSession)
		passes("alone", third, l, "w", true)
	})
}

// A grant that cannot be written or read is none.
func TestAGrantThatIsNotKnownIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := (&book{}).of("1")
		s, j, d := sessionWithPerson(t, always(promptRule), Options{Granted: ledger, DenyMemory: -1})
		answered(t, s, j, d, "x", AllowSession)
		ledger.err = errors.New("cut")
		if got := ask(t, s, j, "x"); got == "forward" || len(s.Grants()) != 0 {
			t.Errorf("unreadable: %s, %d", got, len(s.Grants()))
		}
		answered(t, s, j, d, "y", AllowSession)
		ledger.err = nil
		if got := ask(t, s, j, "y"); got == "forward" || len(s.Grants()) != 0 {
			t.Errorf("unwritten: %s, %d", got, len(s.Grants()))
		}
	})
}

// What another has asked before is heard of later, and takes its place.
func TestQuestionsStandInTheirOrder(t *testing.T) {
	b, now := &book{}, time.Now()
	p := pace{limit: 3, most: 1, shared: b.of("1")}
	if got := p.questionRoom("srv", now); got != bearable {
		t.Fatal(got)
	}
	if _, err := b.of("2").Append(Entry{Key: askedKey, ID: 1, At: now.Add(-30 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	if got := p.questionRoom("srv", now.Add(2*time.Second)); got != bearable || !slices.IsSortedFunc(p.asked, time.Time.Compare) || len(p.asked) != 3 {
		t.Errorf("%v, %v", got, p.asked)
	}
	if got := p.questionRoom("srv", now.Add(31*time.Second)); got != bearable {
		t.Errorf("when the first no longer counts: %v", got)
	}
	if got := p.questionRoom("srv", now.Add(33*time.Second)); got != muting {
		t.Errorf("one too many: %v", got)
	}
}

// That another was muted is heard of late, when it is over: then asking begins anew.
func TestMutedElsewhereMeanwhile(t *testing.T) {
	b, now := &book{}, time.Now()
	p, other := pace{limit: 1, most: 2, shared: b.of("1")}, pace{limit: 1, most: 2, shared: b.of("2")}
	for i, want := range []room{bearable, muting, muted} {
		who := []*pace{&p, &other, &other}[i]
		if got := who.questionRoom("srv", now.Add(time.Duration(i)*2*time.Second)); got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	if got := p.questionRoom("srv", now.Add(2*time.Minute)); got != bearable {
		t.Error(got)
	}
	// What another has asked just now is of one burst with ours.
	for i, want := range []room{bearable, bearable, crowded} {
		if got := other.questionRoom("srv", now.Add(2*time.Minute+time.Duration(i+1)*time.Millisecond)); got != want {
			t.Errorf("beside another's: %d: %v, want %v", i, got, want)
		}
	}
}
