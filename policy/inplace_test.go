package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

const pinned = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// shelf holds the texts that an [[extends]] can name.
var shelf = map[string]string{
	"profile:files": one("deny", "*", `args.p = "**/secret"`) + described("prompt", "write", "Ask before a write") +
		one("allow", "read", "") + described("prompt", "write*", "Ask before a write") + one("deny", "*", ""),
	"profile:other":   one("allow", "*", `server = "b"`) + one("allow", "x", ""),
	"profile:nest":    "[[extends]]\nprofile = 'files'\n",
	"profile:above":   "[[extends]]\nprofile = 'files'\n" + one("allow", "x", "above = 'y'"),
	"profile:anchor":  one("allow", "x", "above = 'y'"),
	"profile:twice":   described("prompt", "x", "a (2)") + described("prompt", "y", "a") + described("prompt", "z", "a"),
	"profile:broken":  "[[rule]]\n",
	"team.toml":       one("allow", "b", ""),
	"profile:flowing": "[flow]\nlevel = 'ask'\n[[limit]]\nrate = '9/min'\n",
}

func described(action, tool, text string) string {
	return one(action, tool, fmt.Sprintf("description = %q", text))
}

func onShelf(x policy.Extension) (string, []byte, error) {
	text, found := shelf[x.String()]
	if !found {
		return "", nil, fmt.Errorf("there is no %s", x)
	}
	return x.String(), []byte(text), nil
}

// The rules of an [[extends]] stand where it stands, and are about its servers.
func TestExtendsInPlace(t *testing.T) {
	const files = "[[extends]]\nprofile = 'files'\nserver = 'a'\n"
	above := func(tool, of string) string { return one("allow", tool, fmt.Sprintf("above = %q", of)) }
	for _, c := range []struct {
		name, src          string
		server, tool, args string
		want               policy.Action
		place              string
	}{
		{"what stands above comes first", one("deny", "read", "") + files, "a", "read", "", policy.Deny, "mine.toml:1"},
		{"what stands below comes later", files + one("deny", "read", ""), "a", "read", "", policy.Allow, "profile:files:9"},
		{"of another server", files + one("deny", "read", ""), "b", "read", "", policy.Deny, "mine.toml:4"},
		{"what closes it does not close the policy", files + one("allow", "z", ""), "a", "z", "", policy.Allow, "mine.toml:4"},
		{"a server that is not known", files, "", "read", "", policy.Deny, ""},
		{"a rule of another server is left out", "[[extends]]\nprofile = 'other'\nserver = ['a', 'c']\n" + one("allow", "y", ""), "b", "x", "", policy.Deny, ""},
		{"a rule that may be of this server stays", "[[extends]]\nprofile = 'other'\nserver = 'b*'\n", "b", "z", "", policy.Allow, "profile:other:1"},
		{"every server", "[[extends]]\nprofile = 'other'\n", "c", "x", "", policy.Allow, "profile:other:5"},
		{"a file", "[[extends]]\nfile = 'team.toml'\nsha256 = '" + strings.ToUpper(pinned) + "'\n", "", "b", "", policy.Allow, "team.toml:1"},
		{"above the rule that asks", files + above("write", "Ask before a write"), "a", "write", `{"p":"/x"}`, policy.Allow, "mine.toml:4"},
		{"and below what denies", files + above("write", "Ask before a write"), "a", "write", `{"p":"/secret"}`, policy.Deny, "profile:files:1"},
		{"above the second of one description", files + above("*", "Ask before a write (2)"), "a", "write_all", "", policy.Allow, "mine.toml:4"},
		{"which the first does not see", files + above("*", "Ask before a write (2)"), "a", "write", "", policy.Prompt, "profile:files:5"},
		{"in the order of the file", files + above("write", "Ask before a write") + one("deny", "write", "above = 'Ask before a write'"), "a", "write", "", policy.Allow, "mine.toml:4"},
		{"a rule between does not move", files + one("deny", "read", "") + above("write", "Ask before a write"), "a", "read", "", policy.Allow, "profile:files:9"},
		{"two of them", files + "[[extends]]\nprofile = 'other'\n" + one("deny", "*", ""), "c", "x", "", policy.Allow, "profile:other:5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.Parse("mine.toml", []byte(c.src), policy.Options{Extend: onShelf})
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(&policy.Call{Server: c.server, Subject: policy.ToolSubject, Names: []string{c.tool}, Args: []byte(c.args)})
			place := ""
			if d.Rule != nil {
				place = fmt.Sprintf("%s:%d", d.Rule.Pos.File, d.Rule.Pos.Line)
			}
			if d.Action != c.want || place != c.place {
				t.Errorf("%v by %q, want %v by %q", d.Action, place, c.want, c.place)
			}
			for i, r := range p.Rules() {
				if r.Index != i {
					t.Errorf("rule %d has the index %d", i, r.Index)
				}
			}
		})
	}
}

func TestExtendsInPlaceIsRefused(t *testing.T) {
	for src, want := range map[string]string{
		"extends = ['profile:files']\n[[extends]]\nprofile = 'files'": "mine.toml:2:1: [[extends]] beside a list extends",
		"[extends]\nprofile = 'files'":                                "[extends] must be [[extends]]",
		"[[extends]]\nprofile = 'files'\n[extends.x]":                 "a table in an [[extends]]",
		"[[extends]]": "mine.toml:1:1: an [[extends]] names a profile, or a file",
		"[[extends]]\nprofile = 'files'\nfile = 'x'":                                           "names a profile, or a file",
		"[[extends]]\nprofile = '../files'":                                                    `"../files" is not a name of a profile`,
		"[[extends]]\nprofile = 1":                                                             "mine.toml:2:1: profile must be a text",
		"[[extends]]\nprofile = ''":                                                            "profile must be a text",
		"[[extends]]\nprofile.x = 'files'":                                                     "profile is not a table",
		"[[extends]]\nprofile = 'files'\nprofile = 'files'":                                    "profile is given twice",
		"[[extends]]\nprofile = 'files'\nprofiles = 'files'":                                   `unknown key "profiles" in [[extends]] (did you mean "profile"?)`,
		"[[extends]]\nprofile = 'files'\nserver = []":                                          "server is an empty list",
		"[[extends]]\nprofile = 'files'\nserver = 1":                                           "server must be a glob",
		"[[extends]]\nfile = 'team.toml'":                                                      "a file without its hash",
		"[[extends]]\nprofile = 'files'\nsha256 = 'abc'":                                       "sha256 is not 64 hexadecimal digits",
		"[[extends]]\nprofile = 'none'":                                                        "mine.toml:1:1: there is no profile:none",
		"[[extends]]\nprofile = 'nest'":                                                        "only one step is followed",
		"[[extends]]\nprofile = 'above'":                                                       "only one step is followed",
		"[[extends]]\nprofile = 'anchor'":                                                      "which is for the policy's own rules",
		"[[extends]]\nprofile = 'twice'\n" + one("allow", "x", "above = 'a (2)'"):              "more than one rule of the [[extends]] above it is described as",
		"[[extends]]\nprofile = 'broken'":                                                      "profile:broken:1:1: rule without an action",
		one("allow", "x", "above = 'y'"):                                                       `mine.toml:1:1: no rule of the [[extends]] above it is described as "y"`,
		one("allow", "x", "above = 1"):                                                         "above must be the description of an extended rule, not",
		"[[extends]]\nprofile = 'files'\n" + one("allow", "x", "above = 'y'"):                  `is described as "y"`,
		one("allow", "x", "above = 'Ask before a write'") + "[[extends]]\nprofile = 'files'\n": "no rule of the [[extends]] above it",
		"[[extends]]\nprofile = 'files'\n[[extends]]\nprofile = 'other'\n" + one("allow", "x", "above = 'Ask before a write'"): `the nearest [[extends]] above it, profile:other on line 3, has no rule described as "Ask before a write"; profile:files on line 1 has one (put this rule directly below the [[extends]] on line 1`,
		"[[extends]]\nprofile = 'files'\n" + one("allow", "x", "above = 'Ask before a write (3)'"):                             "no rule of the [[extends]] above it",
		"extends = ['profile:files']\n" + one("allow", "x", "above = 'Ask before a write'"):                                    "no rule of the [[extends]] above it",
	} {
		if _, err := policy.Parse("mine.toml", []byte(src), policy.Options{Extend: onShelf}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", src, err, want)
		}
	}
}

// An answer to the question of an extended rule goes below the [[extends]], and stands above that
// rule alone.
func TestAnswersAboveExtendedRules(t *testing.T) {
	const src = "# mine\n[[extends]]\nprofile = \"files\"\nserver = \"a\"\n\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
	p, err := policy.Parse("mine.toml", []byte(src), policy.Options{Extend: onShelf})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(src)
	for _, c := range []struct{ tool, above string }{{"write_b", "Ask before a write (2)"}, {"write", "Ask before a write"}} {
		call := &policy.Call{Server: "a", Subject: policy.ToolSubject, Names: []string{c.tool}, Args: []byte(`{"p":"/x"}`)}
		d := p.Decide(call)
		n, err := p.NarrowRule(*d.Rule, call, policy.Exact, policy.Allow)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(n.Text, fmt.Sprintf("above = %q\n", c.above)) {
			t.Errorf("what is shown: %s", n.Text)
		}
		if text, err = p.InsertAbove(text, *d.Rule, n.Text); err != nil {
			t.Fatal(err)
		}
		q, err := policy.Parse("mine.toml", text, policy.Options{Extend: onShelf})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		shut := *call
		shut.Args = []byte(`{"p":"/secret"}`)
		if q.Decide(call).Action != policy.Allow || q.Decide(&shut).Action != policy.Deny {
			t.Errorf("%v, %v\n%s", q.Decide(call), q.Decide(&shut), text)
		}
		if i := q.Decide(call).Rule.Index; i != d.Rule.Index {
			t.Errorf("the rule has the index %d, and not that of the rule that asked, %d", i, d.Rule.Index)
		}
		p = q
	}
	if !strings.HasPrefix(string(text), src[:strings.Index(src, "\n[[rule]]")]) || !strings.HasSuffix(string(text), src[strings.Index(src, "\n[[rule]]"):]) {
		t.Errorf("other bytes have changed:\n%s", text)
	}
	// A rule without a description has no name to stand above.
	call := &policy.Call{Server: "a", Subject: policy.ToolSubject, Names: []string{"read"}}
	if _, err := p.InsertAbove(text, *p.Decide(call).Rule, one("deny", "read", "")); err == nil || !strings.Contains(err.Error(), "comes from profile:files") {
		t.Error(err)
	}
	// Other texts get the key, too.
	call.Names[0] = "write_c"
	asks := *p.Decide(call).Rule
	next, err := p.InsertAbove(text, asks, "# c\n[[rule]]\naction = \"deny\"\ntool = \"write_c\"\n[rule.args]\np = \"/x\"\n")
	if err != nil || !strings.Contains(string(next), "tool = \"write_c\"\nabove = \"Ask before a write (2)\"\n[rule.args]\n") {
		t.Errorf("%v\n%s", err, next)
	}
	if _, err := p.InsertAbove([]byte("[[rule]]\naction = 'deny'\ntool = '*'\n"), asks, one("deny", "read", "")); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Error(err)
	}
	if _, err := p.InsertAbove(text, asks, "x"); err == nil {
		t.Error("no rule is inserted")
	}
}

// Limits and tables of servers come with an [[extends]], and what closes it in a layer closes the
// layer.
func TestExtendsInPlaceBringsTables(t *testing.T) {
	p, err := policy.Parse("mine.toml", []byte("[[extends]]\nprofile = 'flowing'\n"+one("allow", "x", "")), policy.Options{Extend: onShelf})
	if err != nil || len(p.LimitTables()) != 1 {
		t.Fatal(err)
	}
	layer, err := policy.Parse("org.toml", []byte("[[extends]]\nprofile = 'files'\n"+one("allow", "x", "")), policy.Options{Extend: onShelf, Layer: "organisation"})
	if err != nil {
		t.Fatal(err)
	}
	rules := layer.Rules()
	if last := rules[len(rules)-1]; last.Pos.File != "profile:files" || last.Action != policy.Deny {
		t.Errorf("%+v", last)
	}
}

// The servers of an entry are those that it names, and none where the rules name theirs.
func TestServersOfAnEntry(t *testing.T) {
	for src, want := range map[string]string{
		"[[extends]]\nprofile = 'files'\n":                          "[] true",
		"extends = ['profile:files']\n":                             "[] true",
		"[[extends]]\nprofile = 'files'\nserver = 'a'\n":            `["a"] false`,
		"[[extends]]\nprofile = 'files'\nserver = ['a', 'git-*']\n": `["a" "git-*"] false`,
	} {
		entries := policy.Extensions("mine.toml", []byte(src))
		if len(entries) != 1 {
			t.Errorf("%s: %+v", src, entries)
			continue
		}
		if names := entries[0].Servers(); fmt.Sprintf("%q %v", names, names == nil) != want {
			t.Errorf("%s: %q, want %s", src, names, want)
		}
	}
}

// What tools must know of extended rules: which take rules above them, and where the file's own end.
func TestExtendedSources(t *testing.T) {
	const src = "[[extends]]\nprofile = 'files'\n[[rule]]\naction = 'deny'\ntool = 'z'\n[[extends]]\nfile = 'team.toml'\nsha256 = '" + pinned + "'\n"
	entries := policy.Extensions("mine.toml", []byte(src))
	if len(entries) != 2 || entries[0].Profile != "files" || entries[0].Pos.Line != 1 || entries[1].SHA256 != pinned || !entries[1].InPlace {
		t.Errorf("%+v", entries)
	}
	if policy.Extensions("mine.toml", []byte(src+"x")) != nil {
		t.Error("a text that is no policy has entries")
	}
	p, err := policy.Parse("mine.toml", []byte(src), policy.Options{Extend: onShelf})
	if err != nil {
		t.Fatal(err)
	}
	var takes []bool
	var anchors []string
	for _, s := range p.Sources() {
		takes, anchors = append(takes, s.TakesRulesAbove()), append(anchors, s.Anchor)
	}
	if got, want := fmt.Sprintf("%v %q", takes, anchors), `[false true false true true false] ["" "Ask before a write" "" "Ask before a write (2)" "" ""]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if end := policy.EndOfOwn(p.Sources()); end != 5 {
		t.Errorf("its own rules end at %d", end)
	}
	if end := policy.EndOfOwn(p.Sources()[:4]); end != 0 {
		t.Errorf("without own rules they end at %d", end)
	}
	// The digest of a pinned text is part of the revision, as that of any other.
	other, err := policy.Parse("mine.toml", []byte(strings.Replace(src, "e3b0", "e3b1", 1)), policy.Options{Extend: onShelf})
	if err != nil || other.Revision() == p.Revision() {
		t.Error("two texts have one revision", err)
	}
}
