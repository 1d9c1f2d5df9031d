package policy

import (
	"fmt"
	"strings"
	"testing"
)

// sizes shows that a decision does not slow down with the number of rules.
var sizes = []int{10, 100, 1_000, 10_000, 100_000}

// mustCompile compiles n rules, the i-th made by rule, and a last one made by
// last.
func mustCompile(tb testing.TB, n int, rule func(i int) ruleSource) *Policy {
	tb.Helper()
	sources := make([]ruleSource, n)
	for i := range sources {
		sources[i] = rule(i)
		sources[i].Index = i
	}
	p, errs := compileSources(sources, Options{Home: "/home/user"})
	if len(errs) > 0 {
		tb.Fatal(errs)
	}
	return p
}

func toolRule(a Action, tool string, args ...argSource) ruleSource {
	return ruleSource{Rule: Rule{Action: a}, subject: ToolSubject, patterns: []string{tool}, args: args}
}

func arg(name string, globs ...string) argSource {
	return argSource{path: strings.Split(name, "."), globs: globs}
}

func toolCall(name, args string) *Call {
	return &Call{Method: "tools/call", Subject: ToolSubject, Names: []string{name}, Args: []byte(args)}
}

// mixed is a policy as people write them, made long: literal names, prefixes,
// suffixes, paths; one rule at the end decides.
func mixed(n int) func(i int) ruleSource {
	return func(i int) ruleSource {
		switch {
		case i == n-1:
			return toolRule(Allow, "filesystem_read", arg("path", "/home/user/projects/**"))
		case i%10 == 0:
			return toolRule(Deny, fmt.Sprintf("*_drop%d", i))
		case i%5 == 0:
			return toolRule(Deny, fmt.Sprintf("server%d_*", i))
		case i%2 == 0:
			return toolRule(Prompt, "filesystem_*", arg("path", fmt.Sprintf("/srv/data%d/**", i)))
		}
		return toolRule(Allow, fmt.Sprintf("tool%d", i))
	}
}

var shapes = []struct {
	name string
	call *Call
	rule func(n int) func(i int) ruleSource
}{
	{"mixed", toolCall("filesystem_read", `{"path":"/home/user/projects/a.go","limit":10}`), mixed},
	{"paths", toolCall("read", `{"path":"/home/user/projects/app99999/a.go"}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource {
			return toolRule(Allow, "read", arg("path", fmt.Sprintf("/home/user/projects/app%d/**", 100_000-n+i)))
		}
	}},
	{"endings", toolCall("read", `{"path":"/home/user/projects/app99999"}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource {
			return toolRule(Deny, "read", arg("path", fmt.Sprintf("**/app%d", 100_000-n+i)))
		}
	}},
	{"suffixes", toolCall("list_x99999", `{}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource { return toolRule(Allow, fmt.Sprintf("*_x%d", 100_000-n+i)) }
	}},
	{"inner", toolCall("list_x99999_files", `{}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource { return toolRule(Allow, fmt.Sprintf("*_x%05d_*", 100_000-n+i)) }
	}},
	{"names", toolCall("tool99999", `{"text":"Dear all, 50% of a/b.","n":12}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource { return toolRule(Allow, fmt.Sprintf("tool%d", 100_000-n+i)) }
	}},
	{"lists", toolCall("tool99999_c", `{"path":"/home/user/projects/a.go"}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource {
			name := fmt.Sprintf("tool%d_", 100_000-n+i)
			r := toolRule(Allow, name+"a", arg("path", "/home/user/projects/**"))
			r.patterns = append(r.patterns, name+"b*", name+"c")
			return r
		}
	}},
	{"text", toolCall("say", `{"text":"Dear all, 50% of a/b."}`), func(n int) func(i int) ruleSource {
		return func(i int) ruleSource {
			if i == n-1 {
				return toolRule(Allow, "say", arg("text", "Dear **"))
			}
			return toolRule(Allow, "say", arg("text", fmt.Sprintf("Word%d **", i)))
		}
	}},
}

func BenchmarkDecide(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range sizes {
			p := mustCompile(b, n, shape.rule(n))
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d := p.Decide(shape.call); d.Rule == nil || d.Rule.Index != n-1 {
						b.Fatalf("decided by %+v", d.Rule)
					}
				}
			})
		}
	}
}

// BenchmarkValue shows what the spelling of a value costs.
func BenchmarkValue(b *testing.B) {
	p := mustCompile(b, 100, mixed(100))
	for _, v := range []string{
		"/home/user/projects/a.go", "/home/user/projects/README.md", "/home/user/projects/a/../b", "/home/user/projects/%2e/b",
		"/home/user/projects/é", `\\home\user`, "https://example.com/a/b?c=d",
	} {
		c := toolCall("filesystem_read", fmt.Sprintf(`{"path":%q}`, v))
		b.Run(strings.ReplaceAll(v, "/", "|"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(c)
			}
		})
	}
}

// BenchmarkLoad is a whole load: parse and compile.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		var src strings.Builder
		for i := range n {
			fmt.Fprintf(&src, "[[rule]]\naction = \"allow\"\ntool = \"tool%d_*\"\nargs.path = \"/home/user/projects/app%d/**\"\n", i, i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("policy.toml", []byte(src.String()), Options{Home: "/home/user"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
