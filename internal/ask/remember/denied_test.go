package remember

import (
	"testing"

	"github.com/clawai/clawai/policy"
)

// What the record does not know of a denied call is taken to be what the asking
// call has there.
func TestWorst(t *testing.T) {
	call := func(name, args string) policy.Call {
		return policy.Call{Server: "s", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(args)}
	}
	const hidden = "[redacted:x:1]"
	asked := call("t", `{"a":"A","n":1}`)
	for _, c := range []struct {
		name   string
		denied DeniedCall
		want   string
		tool   string
		exact  bool
	}{
		{"all known", DeniedCall{Call: call("t", `{"a":"B"}`)}, `{"a":"B"}`, "t", true},
		{"ours redacted", DeniedCall{Call: call("t", `{"a":"`+hidden+`","n":2}`)}, `{"a":"A","n":2}`, "t", true},
		{"inside a list", DeniedCall{Call: call("t", `{"a":["x","`+hidden+`"]}`)}, `{"a":"A"}`, "t", true},
		{"not ours", DeniedCall{Call: call("t", `{"b":"`+hidden+`"}`)}, `{"b":"` + hidden + `"}`, "t", false},
		{"cut", DeniedCall{Call: call("t", `{"a":"B"}`), Cut: true}, `{"a":"B","n":1}`, "t", false},
		{"cut to nothing", DeniedCall{Call: call("t", ``), Cut: true}, `{"a":"A","n":1}`, "t", false},
		{"a name", DeniedCall{Call: call(hidden, `{}`)}, `{}`, "t", true},
		{"no arguments", DeniedCall{Call: call("u", ``)}, ``, "u", true},
	} {
		a := &Writer{Denied: record(nil)}
		got, exact := a.worstCase(&asked, c.denied)
		if string(got.Args) != c.want || got.Names[0] != c.tool || exact != c.exact {
			t.Errorf("%s: got %s %q, exact %v", c.name, got.Args, got.Names, exact)
		}
	}
	server := call("t", `{}`)
	server.Server = hidden
	if got, _ := (&Writer{Denied: record(nil)}).worstCase(&asked, DeniedCall{Call: server}); got.Server != "s" {
		t.Errorf("server %q", got.Server)
	}
	several := policy.Call{Names: []string{"a", "b"}}
	if _, exact := (&Writer{Denied: record(nil)}).worstCase(&several, DeniedCall{Call: call(hidden, `{}`)}); exact {
		t.Error("a hidden name of several is exact")
	}
}
