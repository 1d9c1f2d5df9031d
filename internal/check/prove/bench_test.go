package prove_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// ordinary is a policy of n rules such as people write, for a few dozen servers
// with a few dozen tools each: secrets closed first, folders and tools opened,
// some to be asked about.
func ordinary(n int) string {
	var b strings.Builder
	rule := func(action, tool string, more ...string) {
		fmt.Fprintf(&b, "[[rule]]\naction = %q\ntool = %q\n", action, tool)
		for _, m := range more {
			fmt.Fprintln(&b, m)
		}
	}
	rule("deny", "*", `args.path = ["**/.ssh/**", "**/.aws/**", "**/.env", "**/.env.*", "**/*.pem", "**/id_rsa*"]`)
	rule("deny", "shell_*", `args.command = ["**sudo**", "**rm -rf**"]`)
	for i := 2; i < n-2; i++ {
		server, tool := i%37, i/5
		switch i % 5 {
		case 0:
			rule("allow", fmt.Sprintf("server%d_read_%d", server, tool), fmt.Sprintf("args.path = \"~/projects/p%d/**\"", tool))
		case 1:
			rule("allow", fmt.Sprintf("server%d_list_%d*", server, tool))
		case 2:
			rule("prompt", fmt.Sprintf("server%d_write_%d", server, tool), fmt.Sprintf("args.path = [\"~/projects/p%d/**\", \"/tmp/w%d/*\"]", tool, tool))
		case 3:
			rule("deny", fmt.Sprintf("server%d_write_%d", server, tool), fmt.Sprintf("args.path = \"/srv/%d/*.lock\"", tool))
		case 4:
			rule("allow", fmt.Sprintf("*_get_%d", tool), fmt.Sprintf("server = \"s%d\"", server))
		}
	}
	rule("prompt", "*_write_*")
	rule("deny", "**")
	return b.String()
}

// TestOrdinary holds the benchmark to be about something: every rule is decided.
func TestOrdinary(t *testing.T) {
	p := parse(t, ordinary(200))
	for _, f := range prove.Reach(p, prove.Options{}) {
		if f.Status != prove.Reached {
			t.Errorf("rule %d: %+v\n%s", f.Rule, f, ordinary(200))
			return
		}
	}
	if c := prove.Difference(p, parse(t, ordinary(200)), prove.Options{}); len(c) != 0 {
		t.Errorf("a policy differs from itself: %+v", c)
	}
}

func BenchmarkReach1000(b *testing.B) {
	p := parse(b, ordinary(1000))
	b.ReportAllocs()
	for b.Loop() {
		prove.Reach(p, prove.Options{})
	}
}

func BenchmarkDifference1000(b *testing.B) {
	text := ordinary(1000)
	before := parse(b, text)
	after := parse(b, strings.Replace(text, `"~/projects/p100/**"`, `"~/projects/p100/*"`, 1))
	b.ReportAllocs()
	for b.Loop() {
		if c := prove.Difference(before, after, prove.Options{}); len(c) == 0 {
			b.Fatal("no difference")
		}
	}
}

// watchedArguments are a policy of n rules that has nothing in common with an ordinary one
// but its form: other servers, other folders.
func watchedArguments(n int) string {
	named := strings.NewReplacer("projects", "work", "_get_", "_fetch_").Replace(ordinary(n))
	return regexp.MustCompile(`server(\d)`).ReplaceAllString(named, "host$1")
}

// TestStrangers: rules that have nothing to do with one another are not compared one
// by one, and all of them are decided.
func TestStrangers(t *testing.T) {
	slow.Test(t)
	before, after := parse(t, ordinary(40)), parse(t, watchedArguments(1000))
	classes := prove.Difference(before, after, prove.Options{})
	decided := map[int]bool{}
	for _, c := range classes {
		if c.Undecided {
			t.Fatalf("not decided: %s, %+v %+v", c.Reason, c.Old, c.New)
		}
		x, y := before.Decide(c.Witness), after.Decide(c.Witness)
		if x.Action != c.Old.Action || y.Action != c.New.Action || x.Action == y.Action {
			t.Fatalf("%s %s: %v %v", c.Witness.Names, c.Witness.Args, x, y)
		}
		if y.Rule != nil {
			decided[y.Rule.Index] = true
		}
	}
	for _, f := range prove.Reach(after, prove.Options{}) {
		if r := after.Rules()[f.Rule]; r.Action == policy.Allow && f.Status == prove.Reached && !decided[f.Rule] {
			t.Errorf("rule %d opens something, and that is not listed", f.Rule)
		}
	}
}

// TestWorkOfAll: where the work is spent, it is said from where on nothing was
// compared, whatever was found until then.
func TestWorkOfAll(t *testing.T) {
	slow.Test(t)
	before, after := parse(t, ordinary(40)), parse(t, watchedArguments(500))
	all := len(prove.Difference(before, after, prove.Options{}))
	for _, work := range []int{1, 1 << 10, 1 << 14} {
		classes := prove.Difference(before, after, prove.Options{Work: work})
		if len(classes) >= all {
			t.Errorf("work %d: %d classes, no fewer than with more", work, len(classes))
		}
		last := classes[len(classes)-1]
		for _, c := range classes[:len(classes)-1] {
			if strings.Contains(c.Reason, "were not compared") {
				t.Errorf("work %d: %s", work, c.Reason) // once is enough
			}
		}
		if !last.Undecided || !strings.Contains(last.Reason, "were not compared: tool calls that ") {
			t.Errorf("work %d: %d classes, and the last is %+v", work, len(classes), last)
		}
	}
}

func BenchmarkStrangers5000(b *testing.B) {
	before, after := parse(b, ordinary(40)), parse(b, watchedArguments(5000))
	b.ReportAllocs()
	for b.Loop() {
		prove.Difference(before, after, prove.Options{})
	}
}
