package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
)

// The screen has what was refused as no message, says that a client asks, and never cuts an id.
func TestScreenLine(t *testing.T) {
	call := event.Event{Kind: event.Decision, Record: "k3f9x2m7qa-1234567", Method: "tools/call", Subject: "tool", Names: []string{"Bash"}, Args: []byte(`{"command":"rm -rf build"}`), Policy: "prompt", Decision: "allow"}
	handed, answered, denied := call, call, call
	handed.Code = gate.CodeHandedOver
	denied.Decision, denied.Reason = "deny", "nobody answered in time"
	for name, c := range map[string]struct {
		e          event.Event
		word       string
		wide, thin string // what lines of 118 and 78 columns hold
	}{
		"handed over":        {handed, "prompted", "rm -rf build · its client asks", "rm -rf build · its client asks"},
		"answered":           {answered, "allow", "rm -rf build · asked", "rm -rf build · asked"},
		"answered by nobody": {denied, "deny", "nobody answered in time", "nobody answered"},
		"no message": {event.Event{Kind: event.Dropped, Record: "k3f9x2m7qa-1234568", Direction: "client", Stage: "frame", Code: "duplicate_name", Reason: "an object names one member twice"},
			"dropped", "an object names one member twice", "an object names one member"},
	} {
		var rows []*Row
		calls := Calls{Show: func(r *Row) { rows = append(rows, r) }}
		c.e.Time = time.Unix(0, 0)
		if err := calls.Add(&event.Entry{Event: c.e}); err != nil || len(rows) != 1 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
			continue
		}
		for width, want := range map[int]string{118: c.wide, 78: c.thin} {
			line, word := ScreenLine(rows[0], width, "")
			if word != c.word || !strings.Contains(line, want) || !strings.Contains(line, word) || len([]rune(line)) > width {
				t.Errorf("%s: %q, %d columns\n%s", name, word, len([]rune(line)), line)
			}
			if width > roomy && !strings.HasSuffix(line, c.e.Record) {
				t.Errorf("%s: the id is cut\n%s", name, line)
			}
		}
		open := CanOpen(&rows[0].Entry)
		if facts := strings.Join(Facts(rows[0], 100, ""), "\n"); strings.Contains(facts, "log explain") != open || open != (c.e.Kind == event.Decision) {
			t.Errorf("%s: it can be opened: %v\n%s", name, open, fmt.Sprint(facts))
		}
	}
}
