package remember

import (
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

const extendingPolicy = `# mine
[[extends]]
profile = "files"
server = "files"

[[rule]]
action = "prompt"
tool = "deploy"
description = "Ask before a deployment"

[[rule]]
action = "deny"
tool = "*"
description = "The rest"
`

// extending gives a Writer of a policy that extends rules of others where it stands.
func extending(t *testing.T) *Writer {
	t.Helper()
	k := lateWriter(t, extendingPolicy)
	k.Options.Extend = func(x policy.Extension) (string, []byte, error) {
		return x.String(), []byte(keysShut + homePolicy + "[[rule]]\naction='allow'\ntool='list'\ndescription='List'\n[[rule]]\naction='allow'\ntool='look'\n"), nil
	}
	return k
}

// "Always" writes above a rule that is extended, as above one that stands in the file, and the
// questions that wait are found again.
func TestAlwaysAboveExtendedRules(t *testing.T) {
	k := extending(t)
	first, second := question(t, k, aWrite("/home/user/a/b")), question(t, k, aWrite("/home/user/c/d"))
	own := question(t, k, tool("deploy", `{}`))
	for _, q := range []gate.Question{first, second} {
		offers, whyNot := k.Offers(q)
		if len(offers) == 0 || !strings.Contains(offers[0].Allow, "to a rule of profile:files.\n") || !strings.Contains(offers[0].Allow, "above = \"Ask before writes\"\n") {
			t.Fatalf("%+v, %s", offers, whyNot)
		}
		note, err := k.Write(t.Context(), q, "folder", gate.AllowAlways)
		if err != nil || !strings.Contains(note, "above profile:files:") {
			t.Fatal(note, err)
		}
	}
	if note, err := k.Write(t.Context(), own, "tool", gate.DenyAlways); err != nil || !strings.Contains(note, "above policy.toml:") {
		t.Errorf("a rule of its own is not found again: %s, %v", note, err)
	}
	p, err := policy.Parse(k.Policy, []byte(holds(t, k.Policy)), k.Options)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]policy.Action{"/home/user/a/x": policy.Allow, "/home/user/c/x": policy.Allow, "/home/user/c/.env": policy.Deny, "/home/user/e": policy.Prompt} {
		c := aWrite(path)
		if d := p.Decide(&c); d.Action != want {
			t.Errorf("%s: %v, want %v", path, d.Action, want)
		}
	}
	if rules := strings.Split(holds(t, k.Policy), "[[rule]]"); len(rules) != 6 || !strings.Contains(rules[1], "/home/user/a/**") || !strings.Contains(rules[2], "/home/user/c/**") {
		t.Errorf("%s", holds(t, k.Policy))
	}
}

// Late answers, too.
func TestLateAboveExtendedRules(t *testing.T) {
	for name, c := range map[string]struct {
		late  *Late
		want  string // of the rule
		error string
	}{
		"a question":                 {late(policy.Allow, aWrite("/home/user/a/b")), "above = \"Ask before writes\"\n", ""},
		"what is allowed":            {late(policy.Deny, tool("list", `{}`)), "above = \"List\"\n", ""},
		"what no rule allows":        {late(policy.Allow, tool("other", `{}`)), "tool = \"other\"\n", ""},
		"what is denied":             {late(policy.Allow, tool("write_file", `{"path":"/home/user/.env"}`)), "", "never undone"},
		"a rule without description": {late(policy.Deny, tool("look", `{}`)), "", "comes from profile:files"},
	} {
		k := extending(t)
		plan, err := k.PlanLate(t.Context(), c.late, "tool")
		if c.error != "" {
			if err == nil || !strings.Contains(err.Error(), c.error) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(plan.Text, c.want) || plan.New.Decide(&c.late.Call).Action != c.late.Action {
			t.Errorf("%s: %s", name, plan.Text)
		}
		if lines := strings.Split(string(plan.Next()), "\n"); !strings.HasPrefix(lines[plan.Line-1], "# Written") {
			t.Errorf("%s: line %d\n%s", name, plan.Line, plan.Next())
		}
		if err := k.Apply(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		undo, err := k.PlanUndo()
		if err == nil {
			err = k.Apply(t.Context(), undo)
		}
		if err != nil || holds(t, k.Policy) != extendingPolicy {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without a last rule of the file, extended rules stand at the end.
	k := extending(t)
	if err := os.WriteFile(k.Policy, []byte("[[extends]]\nprofile = \"files\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.PlanLate(t.Context(), late(policy.Allow, tool("other", `{}`)), "tool"); err == nil || !strings.Contains(err.Error(), "extends others") {
		t.Error(err)
	}
}
