package learn_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/policy"
)

// faded is an approved call of two months ago. Three of them ask: they are seen often enough for a
// rule, and their answers weigh too little for an allow.
func faded(tool, args string) made {
	m := approved(tool, args)
	m.age = 60 * 24 * time.Hour
	return m
}

// TestARuleThatAsksKeepsItsCalls: no rule that allows more takes the calls of a rule that asks, and
// a rule that asks about more does not take the calls of a rule that allows.
func TestARuleThatAsksKeepsItsCalls(t *testing.T) {
	site := home + "/p/site"
	allThree := func(b *book, call func(tool, args string) made, n int, files ...string) {
		for _, f := range files {
			b.times(n, call("read_file", inPath(f)))
		}
	}
	wide := []string{site + "/a", site + "/b", site + "/sub/c"}
	for _, c := range []struct {
		name   string
		calls  func(b *book)
		asked  []string
		opened []string
	}{
		{"a folder in an open folder", func(b *book) {
			allThree(b, approved, 1, wide...)
			allThree(b, faded, 1, site+"/css/a", site+"/css/b", site+"/css/c")
		}, []string{site + "/css/a", site + "/css/new"}, []string{site + "/a", site + "/sub/new", site + "/css/x/new"}},
		{"one rule that asks about several places", func(b *book) {
			allThree(b, approved, 1, wide...)
			allThree(b, faded, 1, site+"/css/a", site+"/css/b", site+"/css/c")
			allThree(b, faded, 3, "/srv/b")
		}, []string{site + "/css/new", "/srv/b"}, []string{site + "/a"}},
		{"an open folder in one that asks", func(b *book) {
			allThree(b, faded, 1, wide...)
			allThree(b, approved, 1, site+"/css/a", site+"/css/b", site+"/css/c")
		}, []string{site + "/a", site + "/new", site + "/css/x/new"}, []string{site + "/css/new"}},
		{"open, asked and open, one in the other", func(b *book) {
			allThree(b, approved, 1, wide...)
			allThree(b, faded, 1, site+"/css/a", site+"/css/b", site+"/css/x/c")
			allThree(b, approved, 1, site+"/css/y/a", site+"/css/y/b", site+"/css/y/c")
		}, []string{site + "/css/new", site + "/css/x/new"}, []string{site + "/new", site + "/css/y/new"}},
		{"a file URI in an open folder", func(b *book) {
			allThree(b, approved, 1, "/srv/app/x/a", "/srv/app/x/b", "/srv/app/x/c")
			allThree(b, faded, 3, "file:///srv/app/x/d")
		}, []string{"file:///srv/app/x/d"}, []string{"/srv/app/x/a"}},
		{"a folder below ~ in an open folder", func(b *book) {
			allThree(b, approved, 1, wide...)
			allThree(b, faded, 1, "~/p/site/css/a", "~/p/site/css/b", "~/p/site/css/c")
		}, []string{"~/p/site/css/new", site + "/css/new"}, []string{site + "/a"}},
		{"two arguments", func(b *book) {
			for _, f := range []string{"a", "b", "sub/c"} {
				b.add(approved("copy_file", `{"source":"`+site+`/`+f+`","destination":"`+site+`/`+f+`"}`))
			}
			b.times(3, faded("copy_file", `{"source":"`+site+`/a","destination":"/srv/b"}`))
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			c.calls(&b)
			text, p, l, rules := learned(t, &b, options())
			for want, files := range map[policy.Action][]string{policy.Prompt: c.asked, policy.Allow: c.opened} {
				for _, f := range files {
					if got := decide(p, "read_file", inPath(f)); got != want {
						t.Errorf("%s: %s, want %s\n%s", f, got, want, text)
					}
				}
			}
			actions := map[policy.Action]bool{}
			for _, r := range rules {
				actions[r.Action] = true
			}
			if len(actions) != 2 {
				t.Errorf("the case needs a rule that asks and one that allows\n%s", text)
			}
			cases, err := l.Fixtures([]byte(text), rules)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range cases {
				if f.What == "as recorded" && f.Expected != f.Of.Action {
					t.Errorf("%s, the rule says %s\n%s\n%s", f.Expected, f.Of.Action, f.JSON, text)
				}
			}
		})
	}
}

// TestADeniedListStaysDenied: the rules for the elements of a list that a rule denied do not open
// the list together.
func TestADeniedListStaysDenied(t *testing.T) {
	lists := func(files ...string) string {
		b, _ := json.Marshal(map[string][]string{"paths": files})
		return string(b)
	}
	denied := watched("read_files", lists("/srv/app/x", "/srv/b/y"))
	denied.line = 9
	for _, c := range []struct {
		name          string
		first, second func(tool, args string) made
	}{
		{"allowed and asked about", approved, faded},
		{"asked about and allowed", faded, approved},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			b.times(3, c.first("read_files", lists("/srv/app/x")))
			b.times(3, c.second("read_files", lists("/srv/b/y")))
			_, p, _, rules := learned(t, &b, options())
			if len(rules) != 2 {
				t.Fatalf("%d rules", len(rules))
			}
			if decide(p, "read_files", denied.args) == policy.Deny {
				t.Fatal("the two rules do not open the list: the case shows nothing")
			}
			b.add(denied)
			text, p, l, rules := learned(t, &b, options())
			if got := decide(p, "read_files", denied.args); got != policy.Deny || len(rules) == 0 {
				t.Errorf("%s\n%s\n%v", got, text, l.Skipped)
			}
		})
	}
}

// TestAResourceThatIsAskedAboutKeepsItsCalls is the same for resources, whose place is the name.
func TestAResourceThatIsAskedAboutKeepsItsCalls(t *testing.T) {
	var b book
	add := func(m made, uri string) {
		b.add(m)
		e := &b.entries[len(b.entries)-1]
		e.Method, e.Subject, e.Names = "resources/read", "resource", []string{uri}
	}
	for _, f := range []string{"a", "b", "sub/c"} {
		add(approved("", ""), home+"/p/site/"+f)
	}
	for _, f := range []string{"a", "b", "c"} {
		add(faded("", ""), home+"/p/site/zoo/"+f)
	}
	text, p, _, rules := learned(t, &b, options())
	for uri, want := range map[string]policy.Action{"/p/site/a": policy.Allow, "/p/site/zoo/a": policy.Prompt} {
		c := policy.Call{Server: "fs", Method: "resources/read", Subject: policy.ResourceSubject, Names: []string{home + uri}}
		if got := p.Decide(&c).Action; got != want || len(rules) != 2 {
			t.Errorf("%s: %s, want %s\n%s", uri, got, want, text)
		}
	}
}

// TestARuleThatAPersonMakesAskKeepsItsCalls: in a review, a person may make a rule ask that
// allowed. Then it goes above the rules that allow more.
func TestARuleThatAPersonMakesAskKeepsItsCalls(t *testing.T) {
	var b book
	for _, f := range []string{"a", "b", "sub/c", "css/a", "css/b", "css/c"} {
		b.add(approved("read_file", inPath(home+"/p/site/"+f)))
	}
	_, _, l, rules := learned(t, &b, options())
	if len(rules) != 1 || len(rules[0].Conditions[0].Globs) != 2 {
		t.Fatalf("%d rules", len(rules))
	}
	narrow, wide := *rules[0], *rules[0]
	narrow.Conditions = []learn.Condition{{Arg: "path", Globs: []string{home + "/p/site/css/*"}}}
	wide.Conditions = []learn.Condition{{Arg: "path", Globs: []string{home + "/p/site/**"}}}
	asking, ok := narrow.AskingRule()
	if !ok {
		t.Fatal("the rule cannot ask")
	}
	for _, taken := range [][]*learn.Rule{{asking, &wide}, {&wide, asking}} {
		before := slices.Clone(taken)
		text, err := l.Compose(taken)
		if err != nil || !slices.Equal(taken, before) {
			t.Fatal(err, "the list of the caller has changed")
		}
		p, err := policy.Parse("p", text, policy.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if got := decide(p, "read_file", inPath(home+"/p/site/css/new")); got != policy.Prompt {
			t.Errorf("%s\n%s", got, text)
		}
	}
}
