package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/frame"
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
	for _, open := range []string{"[", `{"a":`, " \t[", `[{"x":`} {
		deep := strings.Repeat(open, 10_000_000)
		for _, line := range []string{deep, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + deep} {
			for _, batch := range []bool{false, true} {
				refused(t, line, frame.Limits{MaxBytes: 1 << 30, MaxDepth: 1 << 30, AllowBatch: batch})
			}
		}
	}
}
