package policy

import (
	"fmt"
	"strings"
	"testing"
)

// manyRules is a policy of n rules as people write them.
func manyRules(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[rule]]\naction = \"allow\"\ntool = \"server%d_tool_%d\"\nargs.path = \"/home/user/projects/p%d/**\"\ndescription = \"Reading project %d\"\n\n", i%97, i, i, i)
	}
	return []byte(b.String())
}

func BenchmarkParseSource(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		src := manyRules(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, errs := parseSource("p.toml", src); errs != nil {
					b.Fatal(errs)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/rule")
		})
	}
}

// A hook reads the whole policy for each call.
func TestARuleIsReadWithFewAllocations(t *testing.T) {
	const rules, most = 100, 25
	var b strings.Builder
	for i := range rules {
		fmt.Fprintf(&b, "[[rule]]\naction = \"deny\"\ntool = \"shell\"\nwhere.command = { command = [\"tool%d **\"] }\n", i)
	}
	src := []byte(b.String())
	if got := testing.AllocsPerRun(10, func() {
		if _, err := Parse("p.toml", src, Options{}); err != nil {
			t.Fatal(err)
		}
	}) / rules; got > most {
		t.Errorf("%.1f allocations for a rule, at most %d", got, most)
	}
}
