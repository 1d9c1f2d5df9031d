package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
)

// What does not fit into the record is passed over, whatever it holds, and what
// was written stays one JSON value.
func TestWhatDoesNotFitIsPassedOver(t *testing.T) {
	full := `{"l":[` + strings.Repeat(`"0123456789",`, redact.MaxBlock/10) + `"`
	for _, rest := range []string{
		`"]}`,
		`",{"a":["]}",{"b":"\\\"}]"}]}],"m":{"n":[[]]}}`,
		`"],"m":1, "o" : [ {} ] } `,
	} {
		raw, e := line(t, redact.Redacted, event.Event{Kind: event.Decision, Args: []byte(full + rest)})
		if !json.Valid(e.Args) || !e.ArgsCut || !strings.HasPrefix(string(e.Args), `{"l":["0123456789",`) || len(raw) > 3*redact.MaxBlock {
			t.Errorf("%s: cut %v, %d bytes, %.40s", rest, e.ArgsCut, len(raw), e.Args)
		}
	}
	for _, rest := range []string{``, `",{"a":1`, `","a`, `"],"m":{`} {
		if _, e := line(t, redact.Redacted, event.Event{Kind: event.Decision, Args: []byte(full + rest)}); !strings.HasPrefix(string(e.Args), `"{`) {
			t.Errorf("%q: no JSON is written as a text, not as %.40s", rest, e.Args)
		}
	}
}
