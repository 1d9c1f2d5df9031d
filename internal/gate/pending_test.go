package gate

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
)

func full() error { return errors.New("disk full") }

// recorded are the kinds of what is on record, in order.
func (j *journal) recorded() (kinds []event.Kind) {
	for _, ev := range j.events {
		kinds = append(kinds, ev.Kind)
	}
	return kinds
}

func TestAReplyGoesOnBeforeItsOutcomeIsRecorded(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	s.Observe(t.Context(), j.message("a"), j.message("b"))
	if want := []string{"forward a", "forward b"}; !slices.Equal(j.lines, want) {
		t.Fatalf("%q, want %q", j.lines, want)
	}
	for range 2 { // the second time nothing is pending
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got := j.lines[2:]; !slices.Equal(got, []string{"record 2"}) {
		t.Errorf("%q: not one record for the replies of one read", got)
	}
}

// What was passed on first stands first in the record.
func TestWhatIsRecordedNextTakesThePendingAlong(t *testing.T) {
	for name, next := range map[string]func(*journal, *Session){
		"call": func(j *journal, s *Session) { s.Do(t.Context(), j.call("allow")) },
		"list": func(j *journal, s *Session) {
			x := j.message("l")
			x.Event.Kind = event.Listed
			s.Observe(t.Context(), x)
		},
		"note":  func(_ *journal, s *Session) { _ = s.NoteEvents(&event.Event{Kind: event.Policy}) },
		"close": func(_ *journal, s *Session) { s.Close() },
	} {
		j := newJournal()
		s := session(t, j, byName)
		s.Observe(t.Context(), j.message("reply"))
		next(j, s)
		if got := j.recorded(); len(got) == 0 || got[0] != event.Outcome {
			t.Errorf("%s: recorded %v", name, got)
		}
	}
}

// After a failed record nothing goes on, replies neither, until the record
// holds what is pending.
func TestAFailedOutcomeRefusesWhatFollows(t *testing.T) {
	for name, fails := range map[string]func() error{"error": full, "panic": func() error { panic("log fell") }} {
		j := newJournal()
		s := session(t, j, byName)
		j.record = fails
		s.Observe(t.Context(), j.message("first"))
		if s.Flush() == nil {
			t.Fatal(name, "no error")
		}
		call, reply := j.call("allow"), j.message("second")
		s.Do(t.Context(), call)
		s.Observe(t.Context(), reply)
		j.expect(t, call, CodeRecordFailed)
		j.expect(t, reply, CodeRecordFailed)

		j.record = nil
		again, later := j.message("third"), j.message("fourth")
		s.Observe(t.Context(), again)
		if want := []event.Kind{event.Outcome, event.Outcome}; !slices.Equal(j.recorded(), want) {
			t.Errorf("%s: recorded %v, want the pending one and the next", name, j.recorded())
		}
		s.Observe(t.Context(), later)
		j.expect(t, again, "forward")
		j.expect(t, later, "forward")
		if len(j.events) != 2 {
			t.Errorf("%s: the record is sound, and yet the reply waited for it", name)
		}
	}
}

func TestALostReplyIsRecorded(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	j.forward = func() error { return errors.New("broken pipe") }
	x := j.message("reply")
	x.Event.Ref = "r7"
	s.Observe(t.Context(), x)
	s.Close()
	if len(j.events) != 2 || j.events[1].Code != CodeForwardFailed || j.events[1].Ref != "r7" {
		t.Errorf("recorded %+v", j.events)
	}
}

func TestASessionThatCloses(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	j.forward = func() error { s.Close(); return nil }
	x, y := j.message("before"), j.message("after")
	s.Observe(t.Context(), x, y)
	_ = s.Flush()
	j.expect(t, x, "forward")
	j.expect(t, y, CodeClosed)
	if len(j.events) != 2 {
		t.Errorf("%d events", len(j.events))
	}
}

// However often the record fails: what was forwarded is on record once there
// is room again, decisions before they were forwarded, and at most the replies
// of one read went on while it failed.
func TestTheRecordCatchesUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := newJournal()
		s := session(t, j, byName)
		var xs []*Exchange
		failing, since := false, 0
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"call", "reply", "settle", "fail", "heal"}).Draw(rt, "step") {
			case "call":
				xs = append(xs, j.call("allow"))
				s.Do(t.Context(), xs[len(xs)-1])
			case "reply":
				xs = append(xs, j.message("reply"))
				s.Observe(t.Context(), xs[len(xs)-1])
				tried := s.Flush() // as a transport does after each read
				if failing && j.became(xs[len(xs)-1]) == "forward" {
					since++
				}
				if failing != (tried != nil) && len(s.pending.events) > 0 {
					rt.Fatalf("failing %v, settled %v", failing, tried)
				}
			case "settle":
				_ = s.Flush()
			case "fail":
				if !failing {
					since = 0
				}
				failing, j.record = true, full
			case "heal":
				failing, j.record = false, nil
			}
			if since > 1 {
				rt.Fatalf("%d replies went on while the record failed", since)
			}
		}
		j.record = nil
		s.Close()
		forwarded := 0
		for _, x := range xs {
			if j.became(x) == "forward" {
				forwarded++
			}
		}
		if len(j.events) != forwarded {
			rt.Fatalf("%d forwarded, %d on record", forwarded, len(j.events))
		}
	})
}
