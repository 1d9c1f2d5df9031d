package record

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// The word that a line begins with is the one --kind takes, or --kind says what
// is.
func TestTheWordOfALineNamesItsKind(t *testing.T) {
	for _, kind := range event.KindWords() {
		for _, ev := range []event.Event{
			{Decision: "allow"}, {Decision: "deny"}, {Decision: "allow", Stage: "observe"}, {Decision: "allow", IsError: true}, {Decision: "allow", Policy: "prompt", Code: "handed_over"},
		} {
			ev.Kind = event.Kind(kind)
			word, _ := verdictWord(&event.Entry{Event: ev})
			got, err := ParseKind(word)
			switch {
			case err == nil && string(got) != kind:
				t.Errorf("%s is printed as %q, which is the kind %s", kind, word, got)
			case err != nil && !strings.Contains(err.Error(), "--decision "+word) && !strings.Contains(err.Error(), "--decision prompt") && !strings.Contains(err.Error(), "--kind "+kind):
				t.Errorf("%s is printed as %q: %v", kind, word, err)
			}
		}
	}
}
