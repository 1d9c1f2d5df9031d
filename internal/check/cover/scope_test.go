package cover_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// written are rules about a few tools whose names overlap, and about resources,
// which are read in several ways.
func written(r *rand.Rand, rules int) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for range rules {
		fmt.Fprintf(&b, "[[rule]]\naction = %q\n", one("allow", "deny", "prompt"))
		switch r.IntN(6) {
		case 0:
			b.WriteString("sampling = \"**\"\n")
			continue
		case 1:
			fmt.Fprintf(&b, "resource = %q\n", one("file:///a/*", "file:///a/**", "**"))
		default:
			fmt.Fprintf(&b, "tool = %q\n", one("*", "read", "read_*", "*_b", "r?ad", "read_b", "write*", "wr*te", "**", "wr**"))
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "args.path = %s\n", one(`"/a/*"`, `["/a/**", "/b"]`))
			}
		}
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "server = %q\n", one("s", "s*"))
		}
	}
	return b.String()
}

// suiteOf expects of some calls what a policy says of them. Some ask of two
// resources at once.
func suiteOf(t *testing.T, r *rand.Rand, p *policy.Policy) (fixtures []check.Fixture) {
	t.Helper()
	for _, c := range []string{
		`"method":"tools/call","params":{"name":"read","arguments":{"path":"/a/x"}}`,
		`"method":"tools/call","params":{"name":"read_b","arguments":{"path":"/a/x/y"}}`,
		`"method":"tools/call","params":{"name":"write_b"}`,
		`"method":"tools/call","params":{"name":"wrote","arguments":{"path":"/b"}}`,
		`"method":"resources/read","params":{"uri":"file:///a/x"}`,
		`"method":"tools/call","params":{"name":"read","inputResponses":{"k":{"role":"assistant","model":"m","content":{"type":"text","text":"a"}}}}`,
		`"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["file:///a/x","file:///c"]}}`,
	} {
		fx, err := check.ParseFixture(fmt.Appendf(nil, `{"server":%q,%s}`, []string{"s", "t"}[r.IntN(2)], c))
		if err != nil {
			t.Fatal(err)
		}
		expected := check.JudgeFixture(p, fx, "").Action
		fx.Expected, fx.Path = &expected, fmt.Sprint(len(fixtures))
		if r.IntN(3) > 0 {
			fixtures = append(fixtures, fx)
		}
	}
	return fixtures
}

// A mutant is judged by the rules around the one that is changed. What is said of
// it holds of the whole policy.
func TestScopesHoldOfTheWholePolicy(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(6, 6))
	var calls []policy.Call
	for _, name := range []string{"read", "read_b", "write", "wr/te", "a/b", "r/ad"} {
		for _, path := range []string{"/a/x", "/a/x/y", "/b", "/c"} {
			calls = append(calls, policy.Call{Subject: policy.ToolSubject, Server: "s", Method: "tools/call", Names: []string{name}, Args: fmt.Appendf(nil, `{"path":%q}`, path)})
		}
	}
	for range slow.Rounds(20, 200) {
		src := written(r, 2+r.IntN(6))
		p := parse(t, src)
		fixtures := suiteOf(t, r, p)
		if len(fixtures) == 0 {
			continue
		}
		for _, o := range mutate(t, src, cover.Options{Policy: policy.Options{Home: "/home/user"}}, fixtures...).Outcomes {
			var notice []string // the fixtures that notice the mutant in the whole policy
			for _, fx := range fixtures {
				if fails(o.Policy(), fx) {
					notice = append(notice, fx.Path)
				}
			}
			switch {
			case o.Killed != (len(notice) > 0):
				t.Errorf("%s is killed: %v; the whole policy is by %q\n%s", o.Name, o.Killed, notice, src)
			case o.Killed && !slices.Contains(notice, o.By):
				t.Errorf("%s is killed by fixture %s, the whole policy by %q\n%s", o.Name, o.By, notice, src)
			case o.Equivalent:
				answersAlike(t, p, o, calls)
			case o.Fixture != nil:
				fx, err := check.ParseFixture(o.Fixture.Text)
				if err != nil || fails(p, fx) || !fails(o.Policy(), fx) {
					t.Errorf("%s would not be killed by %s (%v)\n%s", o.Name, o.Fixture.Text, err, src)
				}
			}
		}
	}
}

func fails(p *policy.Policy, fx check.Fixture) bool {
	return check.JudgeFixture(p, fx, "").IsMismatch()
}

// manyRules are about as many tools, with three fixtures for each tenth of them.
func manyRules(tb testing.TB, n int) (src string, p *policy.Policy, fixtures []check.Fixture) {
	tb.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[rule]]\naction = \"allow\"\ntool = \"tool_%d_*\"\nargs.path = [\"/srv/p%d/**\", \"~/q%d/*\"]\n", i, i, i)
	}
	src = b.String()
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{Home: "/home/user"})
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < n; i += 10 {
		for path, expected := range map[string]string{fmt.Sprintf("/srv/p%d/x/y", i): "allow", fmt.Sprintf("~/q%d/x", i): "allow", "/etc/hosts": "deny"} {
			fx, err := check.ParseFixture(fmt.Appendf(nil, `{"method":"tools/call","params":{"name":"tool_%d_x","arguments":{"path":%q}},"expected":%q}`, i, path, expected))
			if err != nil {
				tb.Fatal(err)
			}
			fixtures = append(fixtures, fx)
		}
	}
	return src, p, fixtures
}

func BenchmarkMutate1000(b *testing.B) {
	rules := 1000
	if testing.Short() {
		rules = 200
	}
	src, p, fixtures := manyRules(b, rules)
	for b.Loop() {
		if _, err := cover.Mutate(p, "p.toml", []byte(src), fixtures, cover.Options{Policy: policy.Options{Home: "/home/user"}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMeasure1000(b *testing.B) {
	src, p, fixtures := manyRules(b, 1000)
	for b.Loop() {
		if _, err := cover.Measure(p, "p.toml", []byte(src), fixtures, cover.Options{Policy: policy.Options{Home: "/home/user"}}); err != nil {
			b.Fatal(err)
		}
	}
}
