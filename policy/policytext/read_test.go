package policytext_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

func shipped(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("../../fixtures/*/policy.toml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var out [][]byte
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, src)
	}
	return out
}

const crooked = "# top\n[[rule]] # one\naction = 'allow'#x\n tool=\"\"\"\na\"\"\"\"\"\n" +
	"args.\"a.b\" . c = [ # in\n  'x', # ]\n  \"y]#\\\"\" ,\n]\nwhere = { p = { min = 1, one_of = [1, \"2\"] }, q.type = 'null' }\n" +
	"[rule.args]\nz = '''\n[[rule]]'''\n[server.x]\nhost = 1\n[[ rule ]]\naction = \"deny\"\r\n[rule.where.u] # w\npublic = true\n"

func TestRead(t *testing.T) {
	doc, err := policytext.ReadDocument([]byte(crooked))
	if err != nil {
		t.Fatal(err)
	}
	rules := doc.Rules()
	if len(rules) != 2 {
		t.Fatalf("%d rules", len(rules))
	}
	var got []string
	for _, r := range rules {
		for _, l := range r.Leaves() {
			got = append(got, strings.Join(l.Path, "|")+"="+crooked[l.Value.Start:l.Value.End])
		}
		got = append(got, "")
	}
	want := []string{
		"action='allow'", "tool=\"\"\"\na\"\"\"\"\"", "args|a.b|c=[ # in\n  'x', # ]\n  \"y]#\\\"\" ,\n]",
		"where|p|min=1", "where|p|one_of=[1, \"2\"]", "where|q|type='null'", "args|z='''\n[[rule]]'''", "",
		"action=\"deny\"", "where|u|public=true", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if list := rules[0].Leaves()[2].Value.Elements; len(list) != 2 || list[1].Text != `y]#"` || rules[0].Leaves()[1].Value.Text != `a""` {
		t.Errorf("list %+v", list)
	}
}

// A leaf that is cut out is gone, and everything else stands.
func TestRemove(t *testing.T) {
	doc, err := policytext.ReadDocument([]byte(crooked))
	if err != nil {
		t.Fatal(err)
	}
	paths := func(d policytext.Document) []string {
		var out []string
		for i, r := range d.Rules() {
			for _, l := range r.Leaves() {
				out = append(out, string(rune('0'+i))+strings.Join(l.Path, "|"))
			}
		}
		return out
	}
	all := paths(doc)
	n := 0
	for _, r := range doc.Rules() {
		for _, l := range r.Leaves() {
			out := policytext.ApplyEdits(doc.Src, l.RemoveEdits()...)
			again, err := policytext.ReadDocument(out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(slices.Delete(slices.Clone(all), n, n+1), paths(again)); diff != "" {
				t.Errorf("without %s: %s", all[n], diff)
			}
			n++
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, src := range []string{"x", "[", "[[a]", "a = [1", "a = {b = 1", "a = \"", "a = '''", "a = \"\\", "= 1", "a = ", "a.=1", strings.Repeat("a=[", 1) + strings.Repeat("[", 300)} {
		if _, err := policytext.ReadDocument([]byte(src)); err == nil {
			t.Errorf("%q reads", src)
		}
	}
}

// FuzzRead: every policy that loads reads, with one rule for each, and what was
// written as a value is what TOML's parser makes of it.
func FuzzRead(f *testing.F) {
	for _, src := range shipped(f) {
		f.Add(src)
	}
	f.Add([]byte(crooked))
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := policytext.ReadDocument(src)
		var tree map[string]any
		if toml.Unmarshal(src, &tree) == nil && err != nil {
			t.Fatalf("TOML that does not read: %v", err)
		}
		p, perr := policy.Parse("p.toml", src, policy.Options{Home: "/home/user"})
		if perr != nil {
			return
		}
		rules := doc.Rules()
		if len(rules) != len(p.Rules()) {
			t.Fatalf("%d rules of %d", len(rules), len(p.Rules()))
		}
		for i, source := range p.Sources() {
			got := map[string]string{}
			for _, l := range rules[i].Leaves() {
				got[l.Path[0]] = l.Value.Text
				for _, e := range l.Value.Elements {
					got[l.Path[0]] += e.Text
				}
			}
			subject := source.Subject
			if source.On != policy.OnCall { // such a rule is about the call that is answered
				subject = source.About
			}
			if rules[i].Start != source.Start || got["action"] != source.Action.String() || got[subject.RuleKey()] != strings.Join(source.Names, "") {
				t.Fatalf("rule %d: %v, not %+v", i, slices.Collect(maps.Keys(got)), source)
			}
		}
	})
}

// A key is cut out with everything below it.
func TestWithout(t *testing.T) {
	doc, err := policytext.ReadDocument([]byte(crooked))
	if err != nil {
		t.Fatal(err)
	}
	rules := doc.Rules()
	for key, want := range map[string]int{"args": 3, "where": 1, "action": 1, "when": 0} {
		if got := rules[0].RemoveKey(key); len(got) != want {
			t.Errorf("%s: %d pieces", key, len(got))
		}
	}
	out := policytext.ApplyEdits(doc.Src, rules[1].RemoveKey("where")...)
	if strings.Contains(string(out), "rule.where") || strings.Contains(string(out), "public") {
		t.Errorf("%s", out)
	}
}
