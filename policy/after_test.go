package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

func TestAfter(t *testing.T) {
	p := parsed(t, `
[[rule]]
action = "prompt"
tool = "drop"
after = "untrusted"
[[rule]]
action = "deny"
tool = "drop"
[[rule]]
action = "deny"
tool = "*"
after = ["untrusted", "private"]
[[rule]]
action = "allow"
tool = "*"
`)
	if !p.Labelled() || !p.DependsOnHints() {
		t.Error("nobody is told what looks at the session")
	}
	for _, c := range []struct {
		tool, session string
		want          policy.Action
	}{
		{"send", "", policy.Allow},
		{"send", "untrusted", policy.Allow},
		{"send", "secret", policy.Allow},
		{"send", "untrusted private", policy.Deny},
		{"send", "secret untrusted", policy.Deny}, // a secret is private
		{"send", "unknown", policy.Deny},
		{"drop", "", policy.Deny},
		{"drop", "untrusted", policy.Deny}, // no label asks in place of a denial
	} {
		call := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{c.tool}}
		if c.session != "unknown" {
			call.Seen, _ = policy.SeenOf(strings.Fields(c.session))
		}
		if d := p.Decide(&call); d.Action != c.want {
			t.Errorf("%s after %q: %v", c.tool, c.session, d.Action)
		}
	}
	if _, whole := policy.SeenOf([]string{"public"}); whole {
		t.Error("read what is no label")
	}
	if got := strings.Join(policy.SeenWords(), " "); got != "untrusted private secret" {
		t.Error(got)
	}
	k, _ := policy.CallKeyOf("after")
	like, c := policy.Call{Facts: policy.Facts{Seen: policy.Known | policy.Untrusted}}, policy.Call{}
	k.Fill(&c, &like)
	if c.Seen != like.Seen {
		t.Error("not filled")
	}
	for _, s := range p.Sources()[2].Calls {
		if s.MeetCondition(&c); strings.Join(c.Seen.LabelWords(), " ") != "untrusted private" {
			t.Error(c.Seen.LabelWords())
		}
		if s.MissCondition(&c); len(c.Seen.LabelWords()) > 0 {
			t.Error(c.Seen.LabelWords())
		}
	}
}

func TestAfterRefuses(t *testing.T) {
	const head = "[[rule]]\naction='deny'\ntool='*'\nafter="
	const choice = " (some of untrusted, private, secret)"
	for text, want := range map[string]string{
		head + "1":              "4:7: after must be a string or a list of strings, not a number" + choice,
		head + "'secrt'":        `4:7: unknown label "secrt" (did you mean "secret"?)`,
		head + "[]":             "4:1: after is an empty list" + choice,
		head + "['secret', {}]": "4:18: after must be a string or a list of strings, not a table" + choice,
		strings.Replace(head, "deny", "allow", 1) + "'secret'": `4:1: after beside action "allow" (what a session has seen may close and open nothing: write a deny or a prompt above the allow)`,
	} {
		_, err := policy.Parse("p.toml", []byte(text), policy.Options{})
		if err == nil || strings.TrimPrefix(err.Error(), "p.toml:") != want {
			t.Errorf("%q:\n got %v\nwant p.toml:%s", text, err, want)
		}
	}
}

// What is written of such a rule keeps its condition, or says that it has none.
func TestAfterWritten(t *testing.T) {
	p := parsed(t, "[[rule]]\naction = 'prompt'\ntool = 'send'\nafter = 'secret'\n[[rule]]\naction = 'allow'\ntool = '*'\n")
	call := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"send"}, Facts: policy.Facts{Seen: policy.Known | policy.PrivateData | policy.Secret}}
	trace := p.Trace(&call)
	if got := trace.Steps[0]; got.Match != where.Maybe {
		t.Errorf("%+v", got)
	}
	if k, _ := policy.CallKeyOf("after"); k.Recorded || k.Proof != policy.Tightening || k.Hint == "" {
		t.Errorf("%+v", k)
	}
	for session, want := range map[policy.Seen]string{call.Seen: "private, secret", policy.Known: "none of these", 0: ""} {
		call.Seen = session
		at := p.Trace(&call).Steps[0].At
		if got := at.Got; got != want {
			t.Errorf("%v: got %q, want %q", session, got, want)
		}
	}
	call.Seen, _ = policy.SeenOf([]string{"secret"})
	n, err := p.NarrowRule(p.Rules()[0], &call, policy.Exact, policy.Allow)
	if err != nil || strings.Contains(n.Text, "after") {
		t.Errorf("%v: an allow with after:\n%+v", err, n)
	}
}

func TestAfterKinds(t *testing.T) {
	p := parsed(t, `
[[rule]]
action = "deny"
tool = "send"
after = ["untrusted", "secret"]

[[rule]]
action = "prompt"
tool = "send"
server = "mail"
`)
	all := p.Sources()
	if got := all[0].AfterKinds().LabelWords(); strings.Join(got, " ") != "untrusted private secret" || all[1].AfterKinds() != 0 {
		t.Errorf("%q, %v", got, all[1].AfterKinds())
	}
}

func TestSeenGivesEachKind(t *testing.T) {
	for words, want := range map[string][]policy.Seen{
		"":                 nil,
		"private":          {policy.PrivateData},
		"untrusted secret": {policy.Untrusted, policy.PrivateData, policy.Secret}, // a secret is private, too
	} {
		seen, _ := policy.SeenOf(strings.Fields(words))
		if got := slices.Collect(seen.Each()); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	all, _ := policy.SeenOf(policy.SeenWords())
	for one := range all.Each() {
		if one != policy.Untrusted {
			t.Errorf("first is %v", one)
		}
		break
	}
}
