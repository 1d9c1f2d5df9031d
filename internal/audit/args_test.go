package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What does not fit into the record is passed over, whatever it holds, and what
// was written stays one JSON value.
func TestWhatDoesNotFitIsPassedOver(t *testing.T) {
	full := `{"l":[` + strings.Repeat(`"0123456789",`, maxBlock/10) + `"`
	for _, rest := range []string{
		`"]}`,
		`",{"a":["]}",{"b":"\\\"}]"}]}],"m":{"n":[[]]}}`,
		`"],"m":1, "o" : [ {} ] } `,
	} {
		raw, e := line(t, Redacted, Event{Kind: Decision, Args: []byte(full + rest)})
		if !json.Valid(e.Args) || !e.ArgsCut || !strings.HasPrefix(string(e.Args), `{"l":["0123456789",`) || len(raw) > 3*maxBlock {
			t.Errorf("%s: cut %v, %d bytes, %.40s", rest, e.ArgsCut, len(raw), e.Args)
		}
	}
	for _, rest := range []string{``, `",{"a":1`, `","a`, `"],"m":{`} {
		if _, e := line(t, Redacted, Event{Kind: Decision, Args: []byte(full + rest)}); !strings.HasPrefix(string(e.Args), `"{`) {
			t.Errorf("%q: no JSON is written as a text, not as %.40s", rest, e.Args)
		}
	}
}

// A call of the largest size is recorded sooner than it is checked: it holds
// up everything behind it.
func TestLargeArgumentsAreRecordedFast(t *testing.T) {
	args := []byte(`{` + strings.Repeat(`"token_a":"bearer xxxx","0":0,"b":[{}],`, 1<<17) + `"c":1}`)
	r := newRedactor(Redacted, testKey)
	valid, took := time.Hour, time.Hour
	for range 20 { // a machine that is busy now is not so all the time
		start := time.Now()
		json.Valid(args)
		valid = min(valid, time.Since(start))
		start = time.Now()
		r.json(nil, args)
		if took = min(took, time.Since(start)); took <= valid {
			return
		}
	}
	t.Errorf("%v, and to check that it is JSON %v", took, valid)
}
