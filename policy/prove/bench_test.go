package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/prove"
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
