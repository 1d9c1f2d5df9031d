package shell_test

import (
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/policy/where"

	"github.com/clawai/clawai/internal/testing/slow"
)

// bareNames lists the first words of every command that a plain walk over the parsed
// text finds; false when one of them is more than letters. It shares nothing
// with the package but the parser.
func bareNames(s string) (names []string, ok bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(s), "")
	if err != nil {
		return nil, false
	}
	ok = true
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, is := n.(*syntax.CallExpr); is && len(call.Args) > 0 {
			if name := call.Args[0].Lit(); name != "" {
				names = append(names, name)
			} else {
				ok = false
			}
		}
		return true
	})
	return names, ok
}

func FuzzHolds(f *testing.F) {
	for _, name := range []string{"benign.txt", "evasions.txt", "denied.txt"} {
		for _, e := range corpus(f, name) {
			f.Add(e.command)
		}
	}
	allow := constraint(f, allowed...)
	deny := constraint(f, denied...)
	names := map[string]bool{}
	for _, p := range allowed {
		names[strings.Fields(p)[0]] = true
	}
	f.Fuzz(func(t *testing.T, s string) {
		start := time.Now()
		opens, denies := allow.JudgeValue(text(s), true), deny.JudgeValue(text(s), false)
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%v for %d bytes", took, len(s))
		}
		if opens != where.Yes {
			return
		}
		// Whatever is allowed has only commands that the list names, and none that
		// is denied: no pattern is in both lists but curl's.
		called, ok := bareNames(s)
		for _, name := range called {
			if plain := strings.NewReplacer(`\`, "", "\n", "").Replace(name); ok && !names[plain] {
				t.Errorf("allowed %q, which calls %q", s, name)
			}
			if name == "rm" {
				t.Errorf("allowed %q", s)
			}
		}
		if denies == where.Yes && !strings.Contains(s, "curl") {
			t.Errorf("allowed and denied: %q", s)
		}
		// One more command is one too many.
		for _, more := range []string{"\nrm x", "\n$(rm x)", "\necho \"$(rm x)\"", "\n(rm x) | ls", "\nenv rm x", "\nA=b ls", "\nls > x"} {
			if got := allow.JudgeValue(text(s+more), true); got == where.Yes {
				t.Errorf("allowed with more: %q", s+more)
			}
		}
		if got := allow.JudgeValue(text("evil\n"+s), true); got == where.Yes {
			t.Errorf("allowed after evil: %q", s)
		}
		// As another printer writes it, it is the same program.
		file, err := syntax.NewParser().Parse(strings.NewReader(s), "")
		if err != nil {
			t.Fatalf("allowed and not parsed: %q", s)
		}
		var printed strings.Builder
		if err := syntax.NewPrinter().Print(&printed, file); err != nil {
			t.Fatal(err)
		}
		if got := allow.JudgeValue(text(printed.String()), true); got == where.No {
			t.Errorf("%q is allowed and %q is not", s, printed.String())
		}
	})
}

// FuzzPattern: whatever loads neither panics nor matches what is not text.
func FuzzPattern(f *testing.F) {
	for _, p := range allowed {
		f.Add(p, p)
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		c, err := newConstraint(pattern)
		if err != nil {
			return
		}
		if c.JudgeValue(text(s), true) == where.Yes && c.JudgeValue(text(s), false) != where.Yes {
			t.Errorf("%q allows %q and denies it not", pattern, s)
		}
	})
}

// hostile texts are of the size that is still read.
func hostile() map[string]string {
	long := map[string]string{}
	for _, unit := range []string{
		"a;", "a|", "a&&", "'a'", "\"a\"", "a ", "-a ", "\\a", "$a ", "a=b ", "<<a\n", "{a,", "\n", "*", "../", "ls ",
		"! ", "~", "#", "a\n", "eval ", "env ", "timeout 1 ", "-c ", "[[ a ", "${a}", "$a", "!a", "x''",
	} {
		long[unit] = strings.Repeat(unit, 64<<10/len(unit))
	}
	for _, unit := range []string{"(", "{ ", "$(", "<(", "if ", "while ", "\"${a:-", "$((", "[[ (", "a=(", "`", "f()", "${a["} {
		long[unit] = strings.Repeat(unit, 1000) + strings.Repeat("a ", 30_000)
	}
	long["sh -c"] = "sh -c '" + strings.Repeat("ls; ", 16_000) + "'"
	long["evals"] = strings.Repeat("eval ", 8) + strings.Repeat("ls ", 20_000)
	long["finds"] = "find " + strings.Repeat("-exec ls {} + ", 4_000)
	long["seds"] = "sed " + strings.Repeat("-e s/a/b/ ", 6_000)
	return long
}

// TestHostileTextIsPaidFor: the work is within what Cost says of it, by a margin
// for a slow machine.
func TestHostileTextIsPaidFor(t *testing.T) {
	slow.Test(t)
	c := constraint(t, allowed...)
	for name, s := range hostile() {
		for _, opens := range []bool{true, false} {
			start := time.Now()
			c.JudgeValue(text(s), opens)
			took := time.Since(start)
			if limit := 20 * time.Duration(c.JudgeCost(len(s))); took > limit {
				t.Errorf("%q (%d bytes, opens %v): %v, Cost says %v", name, len(s), opens, took, limit/20)
			}
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	c := constraint(b, allowed...)
	texts := hostile()
	texts["short"] = "git log --oneline -20 | grep -n fix"
	texts["script"] = strings.Repeat("go build ./... && go test ./... 2>&1 | tail -5\n", 1_300)
	for name, s := range texts {
		for mode, opens := range map[string]bool{"allow": true, "deny": false} {
			b.Run(mode+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					c.JudgeValue(text(s), opens)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s)), "ns/B")
			})
		}
	}
}
