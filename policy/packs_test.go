package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

// brought is a pack as it is read here: its text is its name.
type brought string

func (b brought) Kind() string { return "pack:" + string(b) }
func (b brought) Text() []byte { return []byte(b) }

func bring(x policy.PackFile) (policy.Pack, error) {
	name, found := strings.CutSuffix(x.File, ".toml")
	if !found {
		return nil, errors.New("the pack " + x.File + ":3: does not load")
	}
	return brought(name[strings.LastIndex(name, "/")+1:]), nil
}

const finds = "[[rule]]\non = 'reply'\naction = 'redact'\ntool = '*'\nfind = "

func TestPacks(t *testing.T) {
	o := policy.Options{Pack: bring, Extend: func(policy.Extension) (string, []byte, error) {
		return "profile:x", []byte(finds + "'pack:tickets'\n"), nil
	}}
	for name, c := range map[string]struct {
		text string
		want string // of the error; "" loads
	}{
		"named":            {"packs = ['tickets.toml']\n" + finds + "['pack:tickets', 'secret']\n", ""},
		"nobody asks":      {"packs = ['tickets.toml']\n", ""},
		"none":             {"packs = []\n", ""},
		"by a profile":     {"packs = ['tickets.toml']\nextends = ['profile:x']\n", ""},
		"not by a profile": {"extends = ['profile:x']\n", `profile:x:5:1: no pack of this policy is called "tickets" (name its file`},
		"not named":        {finds + "'pack:tickets'\n", `p.toml:5:1: no pack of this policy is called "tickets"`},
		"misspelt":         {"packs = ['tickets.toml']\n" + finds + "'pack:ticket'\n", `did you mean "pack:tickets"`},
		"no name":          {"packs = ['tickets.toml']\n" + finds + "'pack:'\n", `unknown kind "pack:"`},
		"does not load":    {"packs = ['tickets.toml', 'x']\n" + finds + "'pack:x'\n", "p.toml:1:26: the pack x:3: does not load"},
		"twice one name":   {"packs = ['tickets.toml', 'b/tickets.toml']\n", `b/tickets.toml is a second pack of the name "tickets"`},
		"no list":          {"packs = 'tickets.toml'\n", `p.toml:1:1: packs must be a list of files (write packs = ["company.toml"])`},
		"no file to show":  {"packs = [\"a\\u001b[2J\"]\n", "an entry of packs is the name of a file"},
		"no file":          {"packs = [1]\n", "an entry of packs is the name of a file"},
		"twice":            {"packs = []\npacks = []\n", "packs is given twice"},
		"a table":          {"[packs]\n", "packs is a list above every [[rule]]"},
		"dotted":           {"packs.a = []\n", "packs must be a list of files"},
		"behind a rule":    {finds + "'secret'\npacks = []\n", `unknown key "packs"`},
	} {
		p, err := policy.Parse("p.toml", []byte(c.text), o)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && len(p.Packs()) != strings.Count(c.text, "tickets.toml") {
			t.Errorf("%s: %d packs", name, len(p.Packs()))
		}
	}
	o.Extend = func(policy.Extension) (string, []byte, error) {
		return "profile:x", []byte("packs = ['a.toml']\n"), nil
	}
	if _, err := policy.Parse("p.toml", []byte("extends = ['profile:x']\n"), o); err == nil || !strings.Contains(err.Error(), "those of a policy are its own: name a.toml here") {
		t.Errorf("a profile with packs: %v", err)
	}
	if _, err := policy.Parse("p.toml", []byte("packs = ['a.toml']\n"), policy.Options{}); err == nil || !strings.Contains(err.Error(), "packs cannot be read here") {
		t.Errorf("nobody reads them: %v", err)
	}
}

// What is found for a policy is what its packs and those of its layers find; the revision
// and what is proved are about their texts.
func TestWhatPacksAreFor(t *testing.T) {
	parse := func(text string, o policy.Options) *policy.Policy {
		t.Helper()
		p, err := policy.Parse("p.toml", []byte(text), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	org := parse("packs = ['org.toml']\n"+finds+"'pack:org'\n", policy.Options{Pack: bring, Layer: "organisation"})
	text := "packs = ['own.toml']\n" + finds + "'*'\n"
	p := parse(text, policy.Options{Pack: bring, Above: []*policy.Policy{org}})
	kinds, _ := p.Screens(policy.OnReply)
	if len(p.Packs()) != 2 || !slices.Contains(kinds, "pack:own") || !slices.Contains(kinds, "pack:org") || len(kinds) != len(policy.FindingKinds())+2 {
		t.Errorf("looks for %v by %v", kinds, p.Packs())
	}
	d := p.DecideReply(policy.OnReply, []policy.Call{{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"a"}}}, []string{"pack:own"})
	if len(d.Alters) != 1 || d.Alters[0].Kind != "pack:own" {
		t.Errorf("%+v", d)
	}
	same, other := parse(text, policy.Options{Pack: bring}), parse(text, policy.Options{Pack: func(policy.PackFile) (policy.Pack, error) { return brought("own2"), nil }})
	if same.Revision() == other.Revision() || same.AltersAlike(other, policy.OnReply) || !same.AltersAlike(parse(text, policy.Options{Pack: bring}), policy.OnReply) {
		t.Errorf("another pack is the same policy: %s, %s", same.Revision(), other.Revision())
	}
	if !policy.IsKind("pack:x") || !policy.IsKind("secret") || policy.IsKind("pack:") || policy.IsKind("x") {
		t.Error("words of find")
	}
}

func TestPackFiles(t *testing.T) {
	var got []string
	for _, x := range policy.PackFiles("p.toml", []byte("# c\nextends = []\npacks = [\n'a.toml', 'b.toml']\n[[rule]]\npacks = ['c.toml']\n = =")) {
		got = append(got, x.File)
	}
	if !slices.Equal(got, []string{"a.toml", "b.toml"}) {
		t.Error(got)
	}
	if got := policy.PackFiles("p.toml", []byte("\"p\\u0061cks\" = ['a.toml']\n")); len(got) != 1 {
		t.Errorf("of a key that is written with an escape: %v", got)
	}
	if got := policy.PackFiles("p.toml", []byte("= =")); got != nil {
		t.Error(got)
	}
}
