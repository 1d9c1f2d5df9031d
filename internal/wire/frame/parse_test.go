package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// refused parses a line that must not be admitted.
func refused(t *testing.T, line string, l frame.Limits) *frame.Refusal {
	t.Helper()
	f, err := frame.Parse([]byte(line), l)
	var r *frame.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("admitted %.200q as %v", line, f.Kind)
	}
	return r
}

func admitted(t *testing.T, line string, l frame.Limits) frame.Frame {
	t.Helper()
	f, err := frame.Parse([]byte(line), l)
	if err != nil {
		t.Fatalf("refused %.200q: %v", line, err)
	}
	return f
}

func TestParseKinds(t *testing.T) {
	f := admitted(t, ` {"jsonrpc":"2.0", "id":"a","method":"tools\/call","params":{"name":"x"}}`+"\t\r", frame.DefaultLimits())
	if f.Kind != frame.Request || string(f.ID) != `"a"` || f.Method != "tools/call" || string(f.Params) != `{"name":"x"}` ||
		string(f.Raw) != `{"jsonrpc":"2.0", "id":"a","method":"tools\/call","params":{"name":"x"}}` {
		t.Errorf("request read as %+v", f)
	}
	f = admitted(t, `{"method":"notifications/initialized","jsonrpc":"2.0"}`, frame.DefaultLimits())
	if f.Kind != frame.Notification || f.ID != nil || f.Params != nil {
		t.Errorf("notification read as %+v", f)
	}
	f = admitted(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, frame.DefaultLimits())
	if f.Kind != frame.Response || string(f.ID) != `7` || string(f.Result) != `{}` || f.Method != "" {
		t.Errorf("result read as %+v", f)
	}
	f = admitted(t, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}`, frame.DefaultLimits())
	if f.Kind != frame.Response || string(f.Error) != `{"code":-32601,"message":"no"}` {
		t.Errorf("error read as %+v", f)
	}
}

func TestZeroLimitsAdmitNothing(t *testing.T) {
	if r := refused(t, `{}`, frame.Limits{}); r.Code != frame.CodeTooLong {
		t.Error(r.Code)
	}
	if r := refused(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, frame.Limits{MaxBytes: 1000}); r.Code != frame.CodeDepth {
		t.Error(r.Code)
	}
}

func TestDeepNestingDoesNotOverflow(t *testing.T) {
	limits := frame.Limits{MaxBytes: 1 << 30, MaxDepth: 1 << 30, AllowBatch: true}
	for _, deep := range []string{
		strings.Repeat(`[`, 10_000_000),
		strings.Repeat(`{"a":`, 1_000_000),
		strings.Repeat(`[{"a":`, 1_000_000),
	} {
		refused(t, deep, limits)
		r := refused(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":`+deep, limits)
		if r.Code != frame.CodeDepth || r.ID != nil {
			t.Errorf("%.10s: %s for id %q", deep, r.Code, r.ID)
		}
	}
}

func TestDepthLimitCountsTheEnvelope(t *testing.T) {
	limits := frame.DefaultLimits()
	limits.MaxDepth = 3
	admitted(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[]}}`, limits)
	if r := refused(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{}]}}`, limits); r.Code != frame.CodeDepth || string(r.ID) != "1" {
		t.Errorf("%s for id %q", r.Code, r.ID)
	}
	limits.AllowBatch = true
	admitted(t, `[{"jsonrpc":"2.0","id":1,"method":"x","params":{}}]`, limits)
	refused(t, `[{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[]}}]`, limits)
}

func TestLengthLimit(t *testing.T) {
	limits := frame.Limits{MaxBytes: len(ping), MaxDepth: 64}
	admitted(t, ping, limits)
	if r := refused(t, ping+" ", limits); r.Code != frame.CodeTooLong {
		t.Error(r.Code)
	}
}

func TestBatches(t *testing.T) {
	limits := frame.DefaultLimits()
	limits.AllowBatch = true
	f := admitted(t, ` [ `+call+` ,	`+ping+`,{"jsonrpc":"2.0","method":"a"} ] `, limits)
	if f.Kind != frame.Batch || len(f.Elements) != 3 || string(f.Elements[0].Raw) != call || string(f.Elements[1].Raw) != ping ||
		f.Elements[2].Kind != frame.Notification || !strings.HasPrefix(string(f.Raw), "[ {") || !strings.HasSuffix(string(f.Raw), "} ]") {
		t.Errorf("read as %+v", f)
	}
	admitted(t, "["+strings.Repeat(ping+",", 999)+ping+"]", limits)
	for line, code := range map[string]string{
		`[]`:                            frame.CodeBatch,
		`[ ]`:                           frame.CodeBatch,
		`[`:                             frame.CodeSyntax,
		`[` + ping:                      frame.CodeSyntax,
		`[` + ping + `,]`:               frame.CodeSyntax,
		`[` + ping + `]]`:               frame.CodeTrailing,
		`[` + ping + ",\r" + ping + `]`: frame.CodeControl,
		`[` + ping + ` ` + ping + `]`:   frame.CodeSyntax,
		`[1]`:                           frame.CodeNotObject,
		`[` + ping + `,null]`:           frame.CodeNotObject,
		`[[` + ping + `]]`:              frame.CodeNotObject,
		`[` + call + `,{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}]`: frame.CodeDuplicate,
		`[` + call + `,{"jsonrpc":"2.0","id":1.5,"method":"a"}]`:            frame.CodeID,
		`[` + strings.Repeat(ping+",", 1000) + ping + `]`:                   frame.CodeBatch,
	} {
		if r := refused(t, line, limits); r.Code != code || r.ID != nil || r.Request {
			t.Errorf("%.80s: refused as %s for id %q", line, r.Code, r.ID)
		}
	}
}

func TestMessages(t *testing.T) {
	batch := frame.DefaultLimits()
	batch.AllowBatch = true
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"a"}`:                                            "a",
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`:           "ab",
		`[{"jsonrpc":"2.0","id":1,"method":"stop"},{"jsonrpc":"2.0","id":2,"method":"a"}]`: "stop",
	} {
		f, got := admitted(t, line, batch), ""
		for m := range f.Messages {
			if got += m.Method; got == "stop" {
				break
			}
		}
		if got != want {
			t.Errorf("%s has %s, want %s", line, got, want)
		}
	}
}

func TestOffsets(t *testing.T) {
	for line, offset := range map[string]int{
		`  {"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`: 40,
		`{"jsonrpc":"2.0",` + "\x01" + `}`:                     17,
		`{"jsonrpc":"2.0","id":"` + "é\xff" + `"}`:             25,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}`:              22,
		`{"jsonrpc":"2","id":1,"method":"a"}`:                  11,
		`{"jsonrpc":"2.0","id":1,"method":7}`:                  33,
	} {
		if r := refused(t, line, frame.DefaultLimits()); r.Offset != offset {
			t.Errorf("%s: %s at %d, not %d", line, r.Code, r.Offset, offset)
		}
	}
}

func TestIDKey(t *testing.T) {
	for a, b := range map[string]string{`"a"`: `"\u0061"`, `"\/"`: `"/"`, `"\""`: `"\u0022"`, `1`: `1`, `"é"`: `"\u00e9"`} {
		if frame.IDKey([]byte(a)) != frame.IDKey([]byte(b)) {
			t.Errorf("%s and %s differ", a, b)
		}
	}
	if got := frame.IDKey([]byte(`"\b\f\n\r\t\/\u0000\ud83d\ude00"`)); got != "\"\b\f\n\r\t/\x00😀\"" {
		t.Errorf("%q", got)
	}
	for a, b := range map[string]string{`"1"`: `1`, `"a"`: `"A"`, `""`: `0`, `"\\u0061"`: `"\u0061"`, `"a\""`: `"a"`, `"\""`: `""`} {
		if frame.IDKey([]byte(a)) == frame.IDKey([]byte(b)) {
			t.Errorf("%s and %s are one", a, b)
		}
	}
}
