package gate

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

func TestKindsAreWordsOfTheirOwn(t *testing.T) {
	words := event.KindWords()
	for i, word := range words {
		if word == "" || !event.IsKind(word) || slices.Contains(words[:i], word) {
			t.Errorf("%q is not a kind of its own", word)
		}
	}
	for _, word := range []string{"", "decide", "Decision", "decision "} {
		if event.IsKind(word) {
			t.Errorf("%q is taken for a kind", word)
		}
	}
}

// In a session that enforced nothing, what would have been done is what the
// rules said, and a limit that was reached denies.
func TestWould(t *testing.T) {
	for _, tt := range []struct{ policy, stage, code, want string }{
		{"allow", "policy", "", "allow"},
		{"prompt", "ask", "", "prompt"},
		{"deny", "observe", "", "deny"},
		{"allow", "observe", "", "allow"},
		{"allow", "observe", "limit", "deny"},
		{"allow", "rate", "limit", "allow"},
	} {
		e := event.Entry{Event: event.Event{Kind: event.Decision, Policy: tt.policy, Stage: tt.stage, Code: tt.code}}
		if got := e.UnenforcedDecision(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestDamageNamesItsPlace(t *testing.T) {
	d := &event.Damage{File: "a.ndjson", Line: 7, What: "not JSON"}
	if got := d.Error(); got != "a.ndjson:7: not JSON" {
		t.Error(got)
	}
}
