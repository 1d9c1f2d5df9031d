package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/text/builtin"

	"github.com/clawai/clawai/policy"
)

// charged lists the limits that a call counts against, by the lines they stand on.
func charged(d policy.Decision) string {
	var all []string
	for _, c := range d.Rates {
		all = append(all, fmt.Sprintf("%s:%d=%d", strings.TrimSuffix(c.Rule.Pos.File, ".toml"), c.Rule.Pos.Line, c.Amount))
	}
	return strings.Join(all, " ")
}

func TestLimitTables(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte(`[[limit]]
rate = "100/min"
description = "Whatever tool"
[[rule]]
action = "allow"
tool = ["send", "read"]
limit = "2/min"
[[limit]]
rate = "5/hour"
per = "tool"
tool = ["send", "pay"]
server = ["bank", "mail"]
[[rule]]
action = "prompt"
tool = "pay"
[[limit]]
rate = "99.5/day"
sum = "args.amount"
tool = "pay"
[[rule]]
action = "allow"
resource = "**"
[[limit]]
rate = "100/min"
description = "The same again"
`), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, server string) policy.Call {
		return policy.Call{Subject: policy.ToolSubject, Names: []string{tool}, Server: server, Args: []byte(`{"amount":1.5}`)}
	}
	for _, c := range []struct {
		call policy.Call
		want string
	}{
		{call("read", "bank"), "p:4=1 p:1=1"},
		{call("send", "bank"), "p:4=1 p:1=1 p:8=1"},
		{call("send", "files"), "p:4=1 p:1=1"},
		{call("send", ""), "p:4=1 p:1=1 p:8=1"},
		{call("pay", "files"), "p:1=1 p:16=1500000"},
		{call("denied", "bank"), ""},
		{policy.Call{Subject: policy.ResourceSubject, Names: []string{"file:///x"}, Server: "bank"}, ""},
	} {
		if got := charged(p.Decide(&c.call)); got != c.want {
			t.Errorf("%s on %q: %q, want %q", c.call.Names, c.call.Server, got, c.want)
		}
	}
	limits := p.LimitTables()
	if len(limits) != 3 || limits[0].Description != "Whatever tool" || limits[1].Rate.Per != policy.PerTool || limits[2].Index != 5 || limits[2].Rate.Sum != "args.amount" {
		t.Errorf("%+v", limits)
	}
	both := p.DecideAll([]policy.Call{call("read", "x"), call("pay", "x")})
	if got := charged(both); got != "p:4=1 p:1=1 p:1=1 p:16=1500000" || both.Rates[2].Call != 1 {
		t.Errorf("together: %q", got)
	}
}

// TestLimitTablesOfOthers: those of what a policy extends, and of layers, come on top.
func TestLimitTablesOfOthers(t *testing.T) {
	const hundred = "[[limit]]\nrate = \"100/min\"\n"
	library["profile:limited"] = hundred + one("allow", "a", "")
	defer delete(library, "profile:limited")
	p, err := extending(`["profile:limited"]`, "[[limit]]\nrate = \"9/min\"\n")
	if err != nil {
		t.Fatal(err)
	}
	call := policy.Call{Subject: policy.ToolSubject, Names: []string{"a"}, Server: "s"}
	if got := charged(p.Decide(&call)); got != "mine:2=1 profile:limited:1=1" || p.LimitTables()[1].From != "profile:limited" {
		t.Errorf("extended: %q", got)
	}
	d := layered(t, hundred+one("allow", "a", ""), hundred, one("allow", "b", "")+"[[limit]]\nrate = \"7/min\"\ntool = \"b\"\n").Decide(&call)
	if got := charged(d); got != "user:1=1 layer0:1=1" || d.Rates[0].Rule.Rate.Key == d.Rates[1].Rule.Rate.Key || d.Action != policy.Allow {
		t.Errorf("layers: %v %q", d.Action, got)
	}
	denied := layered(t, hundred+one("deny", "a", ""), hundred).Decide(&call)
	if got := charged(denied); got != "" {
		t.Errorf("denied: %q", got)
	}
	if alone := layered(t, hundred).Decide(&call); alone.Action != policy.Deny {
		t.Errorf("a limit opens: %+v", alone)
	}
}

// A limit by class counts what agents bring along, as a rule by class opens it; a server's
// tool of that name has no class.
func TestLimitTablesCountByClass(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[limit]]\nrate = \"9/min\"\ntool = \"shell\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, server, tool string
		limits               int
	}{
		{builtin.Method, "claude-code", "Bash", 1}, {builtin.Method, "claude-code", "Read", 0}, {"tools/call", "claude-code", "Bash", 0}, {"tools/call", "x", "shell", 1},
	} {
		call := policy.Call{Subject: policy.ToolSubject, Method: c.method, Server: c.server, Names: []string{c.tool}}
		if d := p.Decide(&call); d.Action != policy.Allow || len(d.Rates) != c.limits {
			t.Errorf("%s of %s by %s: %v, %d limits", c.tool, c.server, c.method, d.Action, len(d.Rates))
		}
	}
}
