package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

func nameSet(t interface{ Fatal(...any) }, names ...string) policy.NameSet {
	n, err := policy.NewNameSet(names)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// set sets the fact that a key about the caller looks at. No name at all is known to be none.
func setIdentity(t interface{ Fatal(...any) }, f *policy.Facts, key string, names ...string) {
	switch key {
	case "who":
		f.Who = nameSet(t, names...)
	case "role":
		f.Roles = nameSet(t, names...)
	case "group":
		f.Groups = nameSet(t, names...)
	case "env":
		f.Env = names[0]
	case "agent":
		f.Agent = names[0]
	}
}

var identityKeys = []string{"who", "role", "group", "env", "agent"}

// What is not known is a maybe, what is known to be nothing is a no, and one of several values is enough.
func TestIdentityConditions(t *testing.T) {
	t.Parallel()
	for _, key := range identityKeys {
		for _, c := range []struct {
			rule                      string
			yes, no, unknown, nothing policy.Action // nothing: known to be none
		}{
			{rule: "action = 'allow'\ntool = 'write'\nKEY = ['on*', 'b']", yes: policy.Allow, no: policy.Deny, unknown: policy.Deny, nothing: policy.Deny},
			{rule: "action = 'deny'\ntool = 'write'\nKEY = ['on*', 'b']\n[[rule]]\naction = 'allow'\ntool = '*'", yes: policy.Deny, no: policy.Allow, unknown: policy.Deny, nothing: policy.Allow},
			{rule: "action = 'prompt'\ntool = 'write'\nKEY = ['on*', 'b']\n[[rule]]\naction = 'allow'\ntool = '*'", yes: policy.Prompt, no: policy.Allow, unknown: policy.Prompt, nothing: policy.Allow},
			{rule: "action = 'allow'\ntool = 'write'\nnot.KEY = ['on*', 'b']", yes: policy.Deny, no: policy.Allow, unknown: policy.Deny, nothing: policy.Allow},
			{rule: "action = 'deny'\ntool = 'write'\nnot.KEY = ['on*', 'b']\n[[rule]]\naction = 'allow'\ntool = '*'", yes: policy.Allow, no: policy.Deny, unknown: policy.Deny, nothing: policy.Deny},
		} {
			p := clientPolicy(t, "[[rule]]\n"+strings.ReplaceAll(c.rule, "KEY", key)+"\n")
			judge := func(want policy.Action, what string, names ...string) {
				t.Helper()
				call := writeFrom("files")
				if names != nil {
					setIdentity(t, &call.Facts, key, names...)
				}
				if d := p.Decide(&call); d.Action != want {
					t.Errorf("%s %s:\n%s\n%v, want %v", key, what, c.rule, d.Action, want)
				}
			}
			judge(c.yes, "meets", "oncall")
			judge(c.no, "is another", "a")
			judge(c.unknown, "is not known")
			if key == "env" || key == "agent" {
				continue
			}
			judge(c.yes, "meets by the second", "a", "oncall")
			judge(c.nothing, "is none", []string{}...)
		}
	}
}

// A policy without these keys answers as before, whoever calls.
func TestOldRulesMatchEveryCaller(t *testing.T) {
	t.Parallel()
	p := clientPolicy(t, forClient("allow", "write", ""))
	if p.AsksIdentity() {
		t.Error("it asks who calls")
	}
	call := writeFrom("files")
	for _, key := range identityKeys {
		setIdentity(t, &call.Facts, key, "x")
		if d := p.Decide(&call); d.Action != policy.Allow {
			t.Errorf("%s: %v", key, d.Action)
		}
		q := clientPolicy(t, "[[rule]]\naction = 'deny'\ntool = 'x'\nnot."+key+" = 'a'\n")
		if !q.AsksIdentity() || !q.AsksIdentity(key) || q.AsksIdentity("server") {
			t.Errorf("%s: it does not say what it asks", key)
		}
	}
}

// What is known of a caller less never gives a wider answer: a fact that is lost turns no deny into a
// question or an allow.
func TestLosingIdentityOnlyTightens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "rules") {
			fmt.Fprintf(&src, "[[rule]]\naction = %q\ntool = %q\n", rapid.SampledFrom([]string{"allow", "deny", "prompt"}).Draw(t, "action"), rapid.SampledFrom([]string{"write", "w*", "read"}).Draw(t, "tool"))
			for _, key := range identityKeys {
				for _, at := range []string{"", "not."} {
					if rapid.IntRange(0, 3).Draw(t, "condition") == 0 {
						fmt.Fprintf(&src, "%s%s = %q\n", at, key, rapid.SampledFrom([]string{"a", "b", "*", "a*", "?"}).Draw(t, "glob"))
					}
				}
			}
		}
		p, err := policy.Parse("p.toml", []byte(src.String()), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := writeFrom("files")
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab"}), 1, 3)
		for _, key := range identityKeys {
			setIdentity(t, &call.Facts, key, names.Draw(t, key)...)
		}
		known := p.Decide(&call)
		less := call
		for _, key := range identityKeys {
			if rapid.Bool().Draw(t, "lose") {
				switch key {
				case "who":
					less.Who = ""
				case "role":
					less.Roles = ""
				case "group":
					less.Groups = ""
				case "env":
					less.Env = ""
				case "agent":
					less.Agent = ""
				}
			}
		}
		if d := p.Decide(&less); d.Action > known.Action {
			t.Fatalf("%v became %v\n%s\n%+v\n%+v", known.Action, d.Action, src.String(), call.Facts, less.Facts)
		}
	})
}

// Only an organisation's policy says where a machine works, and several that disagree say nothing.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	org := func(env string) *policy.Policy {
		t.Helper()
		p, err := policy.Parse("org.toml", fmt.Appendf(nil, "env = %q\n[[rule]]\naction = 'deny'\ntool = 'x'\n", env), policy.Options{Layer: policy.Organisation})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		layers []*policy.Policy
		also   []string
		want   string
	}{{nil, nil, ""}, {nil, []string{"prod"}, "prod"}, {[]*policy.Policy{org("prod")}, []string{""}, "prod"}, {[]*policy.Policy{org("prod"), org("prod")}, []string{"prod"}, "prod"},
		{[]*policy.Policy{org("prod"), org("dev")}, nil, ""}, {[]*policy.Policy{org("prod")}, []string{"dev"}, ""}} {
		p, err := policy.Parse("p.toml", nil, policy.Options{Above: c.layers})
		if err != nil || p.Environment(c.also...) != c.want {
			t.Errorf("%d layers, %q: %q, want %q (%v)", len(c.layers), c.also, p.Environment(c.also...), c.want, err)
		}
	}
	if c := org("prod").ChangeTo(org("prod")); c.Loosens || c.Lost > 0 {
		t.Errorf("the same: %+v", c)
	}
	if c := org("prod").ChangeTo(org("dev")); !c.Loosens || c.Lost != 1 {
		t.Errorf("another environment: %+v", c)
	}
	for _, layer := range []string{"", "project", "layer"} {
		_, err := policy.Parse("p.toml", []byte("env = 'prod'\n"), policy.Options{Layer: layer})
		if err == nil || !strings.Contains(err.Error(), "p.toml:1:1: only an organisation's policy says in which environment this machine works") {
			t.Errorf("layer %q: %v", layer, err)
		}
	}
	fetch := func(policy.Extension) (string, []byte, error) { return "far.toml", []byte("env = 'prod'\n"), nil }
	_, err := policy.Parse("p.toml", []byte("extends = [\"profile:open\"]\n"), policy.Options{Layer: policy.Organisation, Extend: fetch})
	if err == nil || !strings.Contains(err.Error(), "what it extends has env") {
		t.Errorf("extended: %v", err)
	}
	if _, err := policy.Parse("p.toml", []byte("env = 'prod'\n"), policy.Options{Draft: true}); err != nil {
		t.Errorf("a draft: %v", err)
	}
	for text, want := range map[string]string{
		"env = 1\n": "env must be a text", "env = ''\n": "env must be a text", "env.x = 'a'\n": "env must be a text", "env = 'a'\nenv = 'b'\n": "env is given twice",
		"env = \"a\\n\"\n": "env must be a text",
	} {
		if _, err := policy.Parse("p.toml", []byte(text), policy.Options{Layer: policy.Organisation}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A witness of the prover names the caller that makes the difference.
func TestWitnessNamesTheCaller(t *testing.T) {
	t.Parallel()
	for _, key := range identityKeys {
		before := clientPolicy(t, "[[rule]]\naction = 'allow'\ntool = 'write'\n"+key+" = 'oncall*'\n")
		d := prove.Difference(before, clientPolicy(t, ""), prove.Options{})
		if !slices.ContainsFunc(d, func(x prove.CallClass) bool {
			return x.Witness != nil && x.Witness.Facts != (policy.Facts{}) && before.Decide(x.Witness).Action == policy.Allow
		}) {
			t.Errorf("%s: no witness in %+v", key, d)
		}
		// A deny above does not hide the allow below from a caller that it is not about.
		p := clientPolicy(t, "[[rule]]\naction = 'deny'\ntool = 'write'\n"+key+" = 'guest*'\n", forClient("allow", "write", ""))
		if r := prove.New(p, prove.Options{}).Reach()[1]; r.Status == prove.Covered {
			t.Errorf("%s: the rule below is said to be covered", key)
		}
	}
}

func TestExplainNamesTheCaller(t *testing.T) {
	t.Parallel()
	p := clientPolicy(t, "[[rule]]\naction = 'allow'\ntool = 'write'\nrole = 'oncall'\n")
	for _, c := range []struct {
		roles []string
		want  string
	}{{nil, `role wants "oncall"; the caller's roles are not known`}, {[]string{}, `role wants "oncall"; the caller's roles are "none"`}, {[]string{"a", "b"}, `role wants "oncall"; the caller's roles are "a, b"`}} {
		call := writeFrom("files")
		if c.roles != nil {
			call.Roles = nameSet(t, c.roles...)
		}
		var b strings.Builder
		if err := explain.DescribeCalls(p, []policy.Call{call}).WriteText(&b, true); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%q: %v\n%s", c.roles, err, &b)
		}
	}
}

// A denied call whose record does not say who made it may have been made by whoever asks now, so no
// answer "always" opens it.
func TestDeniedCallOfAnUnknownCaller(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key    string
		roles  []string
		env    string
		opened bool
	}{{"role", nil, "", false}, {"role", []string{"guest"}, "", true}, {"env", nil, "", false}, {"env", nil, "dev", true}} {
		ask := "[[rule]]\naction = \"prompt\"\ntool = \"write\"\n" + c.key + " = \"oncall\"\n"
		path := filepath.Join(t.TempDir(), "p.toml")
		if err := os.WriteFile(path, []byte(ask), 0o600); err != nil {
			t.Fatal(err)
		}
		p := clientPolicy(t, ask)
		call, denied := writeFrom("files"), writeFrom("files")
		call.Roles, call.Env, denied.Env = nameSet(t, "oncall"), "oncall", c.env
		if c.roles != nil {
			denied.Roles = nameSet(t, c.roles...)
		}
		q := gate.Question{Calls: []policy.Call{call}, Rule: *p.Decide(&call).Rule, Revision: p.Revision()}
		q.Rule.Pos.File = path
		_, err := (&remember.Writer{Policy: path, Denied: deniedBefore(denied)}).Write(context.Background(), q, "exact", gate.AllowAlways)
		if (err == nil) != c.opened {
			t.Errorf("%s %q %q: %v", c.key, c.roles, c.env, err)
		}
	}
}

// A set of names is written as a list and read again as the same set; what is no name, or too much, is none.
func TestNameSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, want string
		known     bool
	}{{"null", "null", false}, {"[]", "[]", true}, {`["a","b c"]`, `["a","b c"]`, true}, {`["a\n"]`, "", false}, {`[1]`, "", false}, {`"a"`, "", false}} {
		var n policy.NameSet
		err := json.Unmarshal([]byte(c.src), &n)
		if c.want == "" {
			if err == nil || n.IsKnown() {
				t.Errorf("%s is %q (%v)", c.src, n, err)
			}
			continue
		}
		again, err2 := json.Marshal(n)
		if err != nil || err2 != nil || string(again) != c.want || n.IsKnown() != c.known || n.IsKnown() != (n.List() != nil) {
			t.Errorf("%s is %s, known %v (%v, %v)", c.src, again, n.IsKnown(), err, err2)
		}
	}
	if _, err := policy.NewNameSet(slices.Repeat([]string{strings.Repeat("n", 200)}, 100)); err == nil || !strings.Contains(err.Error(), "100 names are longer than 16 KiB") {
		t.Errorf("many names: %v", err)
	}
	for range nameSet(t).All() {
		t.Error("the set without names has one")
	}
	for range policy.NameSet("").All() {
		t.Error("what is not known has names")
	}
	for name := range nameSet(t, "a", "b").All() {
		if name != "a" {
			t.Errorf("%q after the end", name)
		}
		break
	}
	if !nameSet(t, "a").Equal(nameSet(t, "a")) || nameSet(t).Equal("") {
		t.Error("sets are not compared by what they hold")
	}
}

// A call keeps all other facts when it is given the caller of another one.
func TestFactsWithIdentity(t *testing.T) {
	t.Parallel()
	is := policy.Facts{Cwd: "/a", Who: nameSet(t, "bob"), Agent: "codex"}
	other := policy.Facts{Cwd: "/b", Who: nameSet(t, "ana"), Roles: nameSet(t, "oncall"), Groups: nameSet(t), Env: "prod", Agent: "cursor"}
	got := is.WithIdentity(&other)
	if got.Cwd != "/a" || got.Agent != "codex" || got.Who != other.Who || got.Roles != other.Roles || got.Groups != other.Groups || got.Env != "prod" {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		facts policy.Facts
		want  []string
	}{{policy.Facts{}, nil}, {got, []string{"by ana", "with role oncall", "with group none", "in environment prod", "from agent codex"}}} {
		if words := c.facts.DescribeIdentity(); !slices.Equal(words, c.want) {
			t.Errorf("%q, want %q", words, c.want)
		}
	}
}
