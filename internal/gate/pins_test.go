package gate

import (
	"testing"

	"github.com/clawai/clawai/policy"
)

// pins is an Inspector and a Policy that hold the server "held" to what was approved.
type pins struct{ inspects }

func (pins) Pin(server string) policy.Pin {
	return map[string]policy.Pin{"held": policy.PinAsk, "recorded": policy.PinRecord}[server]
}

// A call of what was not approved is refused, by its own name; of another server nobody is
// asked. A session that observes lets it pass, and says so.
func TestCallsOfWhatWasNotApproved(t *testing.T) {
	for name, tt := range map[string]struct {
		server, bars string
		observe      bool
		want         string
	}{
		"barred":          {"held", "it changed", false, CodePinned},
		"approved":        {"held", "", false, "forward"},
		"another server":  {"other", "it changed", false, "forward"},
		"only recorded":   {"recorded", "it changed", false, "forward"},
		"barred, observe": {"held", "it changed", true, "forward"},
	} {
		j := newJournal()
		in := pins{inspects{Policy: byName, bars: tt.bars}}
		s := sessionOf(t, j, in, Options{Inspector: in, ObserveOnly: tt.observe})
		x := j.call("allow")
		x.Calls[0].Server = tt.server
		s.Do(t.Context(), x)
		j.expect(t, x, tt.want)
		if tt.want == CodePinned && (x.Event.Stage != string(StagePins) || x.Event.Reason != tt.bars || x.Event.Policy != "allow") {
			t.Errorf("%s: recorded %s, %q", name, line(x.Event), x.Event.Reason)
		}
		if tt.observe && (x.Event.Code != CodeNotEnforced || x.Event.Reason != tt.bars) {
			t.Errorf("%s: recorded %s", name, line(x.Event))
		}
	}
	if (None{}).Bars(nil, byName) == "" || (noRules{}).Pin("x") != 0 {
		t.Error("nobody bars nothing, or no rules pin")
	}
}

// Whoever keeps lists hears that they pass in another way.
func TestRelist(t *testing.T) {
	s := sessionOf(t, newJournal(), byName, Options{})
	was := s.RulesChanged()
	s.Relist()
	select {
	case <-was:
	default:
		t.Error("nobody heard of it")
	}
	if s.RulesChanged() == was {
		t.Error("it is over already")
	}
}
