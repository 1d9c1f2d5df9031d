package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func callOf(s Subject, name string) *Call {
	return &Call{Server: "s", Subject: s, Names: []string{name}}
}

func TestOffers(t *testing.T) {
	const all = "\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	rule := func(action, more string) string { return "[[rule]]\naction = \"" + action + "\"\n" + more + "\n" }
	for _, tt := range []struct {
		rules string
		c     *Call
		want  bool
	}{
		{"", callOf(ToolSubject, "a"), false},
		{all, callOf(ToolSubject, "a"), true},
		{all, callOf(PromptSubject, "a"), false},
		{all, &Call{Subject: ToolSubject, Names: []string{"a"}, Malformed: "x"}, false},
		{rule("prompt", `tool = "a"`), callOf(ToolSubject, "a"), true},
		{rule("deny", `tool = "a"`) + all, callOf(ToolSubject, "a"), false},
		{rule("deny", `tool = "b"`) + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nargs.x = \"1\"") + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nserver = \"s\"") + all, callOf(ToolSubject, "a"), false},
		{rule("deny", "tool = \"a\"\nserver = \"t\"") + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nnot.server = \"s\"") + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nnot.server = \"t\"") + all, callOf(ToolSubject, "a"), false},
		{rule("deny", "tool = \"a\"\nnot.tool = \"a\"") + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nwhen = { days = [\"mon\"] }") + all, callOf(ToolSubject, "a"), true},
		{rule("deny", "tool = \"a\"\nargs_only = true\nargs.x = \"1\"") + all, callOf(ToolSubject, "a"), true},
		{rule("redact", "tool = \"a\"\non = \"reply\"\nfind = [\"secret\"]"), callOf(ToolSubject, "a"), false},
		{rule("deny", "tool = \"a\"\non = \"reply\"") + all, callOf(ToolSubject, "a"), true},
		{rule("allow", `resource = "file:///p/**"`), callOf(ResourceSubject, "file:///p/x"), true},
		{rule("allow", `resource = "file:///p/**"`), callOf(ResourceSubject, "file:///q/x"), false},
		{rule("allow", `resource = "file:///p/**"`), callOf(ResourceSubject, "file:///{x}"), true},
		{rule("deny", `resource = "file:///p/s*"`) + rule("allow", `resource = "file:///p/**"`), callOf(ResourceSubject, "file:///p/s1"), false},
		{rule("deny", `resource = "file:///p/s*"`) + rule("allow", `resource = "file:///p/**"`), callOf(ResourceSubject, "file:///{x}"), true},
		{rule("allow", `resource = "**"`), callOf(ResourceSubject, "file:///"+strings.Repeat("%2541", 200)), true},
	} {
		p := load(t, tt.rules, Options{HideDenied: true})
		if got := p.OffersEntry(tt.c); got != tt.want {
			t.Errorf("%q of\n%s: %v", tt.c.Names[0], tt.rules, got)
		}
		if _, ruled := p.Screens(OnList); !ruled {
			t.Error("nobody looks at lists")
		}
		if d := p.DecideReply(OnList, []Call{*tt.c}, nil); (d.Action == Allow) != tt.want {
			t.Errorf("%q of\n%s: %v %s", tt.c.Names[0], tt.rules, d.Action, d.Reason)
		}
		if d := load(t, tt.rules, Options{}).DecideReply(OnList, []Call{*tt.c}, nil); d.Action != Allow {
			t.Errorf("%q is left out without the setting", tt.c.Names[0])
		}
	}
}

// A layer takes away and gives nothing.
func TestOffersUnderLayers(t *testing.T) {
	layer := func(rules string) Options {
		return Options{Above: []*Policy{load(t, rules, Options{Layer: "organisation"})}}
	}
	const allow = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	deny := strings.Replace(allow, "allow", "deny", 1)
	for _, tt := range []struct {
		layer, own string
		want       bool
	}{{deny, allow, false}, {"", allow, true}, {allow, "", false}} {
		if got := load(t, tt.own, layer(tt.layer)).OffersEntry(callOf(ToolSubject, "a")); got != tt.want {
			t.Errorf("%q under %q: %v", tt.own, tt.layer, got)
		}
	}
}

// On Windows a call may say that its server runs there, where paths are compared otherwise.
func TestOffersOnWindows(t *testing.T) {
	c := callOf(ResourceSubject, "file:///c:/data/x")
	if !load(t, "[[rule]]\naction = \"allow\"\nresource = \"file:///C:/Data/**\"\n", Options{OS: Windows}).OffersEntry(c) {
		t.Error("hidden, and allowed")
	}
	if load(t, "", Options{OS: Windows}).OffersEntry(c) {
		t.Error("offered, and denied")
	}
}

// What is not offered is denied, however it is called.
func TestNotOfferedIsDenied(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 20))
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	hidden := 0
	for range 3000 {
		var rules strings.Builder
		for range 1 + r.IntN(5) {
			fmt.Fprintf(&rules, "[[rule]]\naction = %q\n%s\n%s\n", pick("allow", "deny", "prompt"),
				pick(`tool = "read"`, `tool = "re*"`, `tool = "*"`, `tool = ["read", "write"]`, `resource = "file:///p/**"`, `resource = "**"`, `resource = "file:///p/%61"`, "tool = \"*\"\nnot.tool = \"read\""),
				pick("", "", `server = "s"`, `server = "t*"`, `not.server = "s"`, `when = { days = ["mon", "tue"] }`, `after = ["secret"]`, `find = ["secret"]`))
		}
		text := rules.String()
		if r.IntN(2) == 0 {
			text = strings.ReplaceAll(text, "tool = \"re*\"", "tool = \"re*\"\nargs.path = \"/p/**\"")
		}
		p, err := Parse("p.toml", []byte(text), Options{HideDenied: true})
		if err != nil {
			continue // find and after are not for every subject
		}
		c := Call{Server: pick("s", "t1", ""), Method: "tools/call", Subject: ToolSubject, Names: []string{pick("read", "write", "x")}}
		if r.IntN(2) == 0 {
			c.Method, c.Subject, c.Names = "resources/read", ResourceSubject, []string{pick("file:///p/a", "file:///p/%61", "file:///q", "https://h.example/", "file:///p/../q")}
		}
		if p.OffersEntry(&c) {
			continue
		}
		hidden++
		for range 8 {
			full := c
			if c.Subject == ToolSubject {
				full.Args = []byte(pick("{}", `{"path":"/p/x"}`, `{"path":["/p/x","/q"]}`, `{"path":7}`, `{"other":"/p/%61"}`))
			}
			full.At = time.Date(2026, 11, 20+r.IntN(7), r.IntN(24), 0, 0, 0, time.UTC)
			if full.Screened = r.IntN(2) == 0; full.Screened && r.IntN(2) == 0 {
				full.Finds = []string{"secret"}
			}
			full.Seen = []Seen{0, Known, Known | 1, Known | 2, Known | 4}[r.IntN(5)]
			if d := p.Decide(&full); d.Action != Deny {
				t.Fatalf("%s\nhides %+v, and %v", text, full, d.Action)
			}
		}
	}
	if hidden < 300 {
		t.Errorf("%d were hidden: the rules are no test", hidden)
	}
}
