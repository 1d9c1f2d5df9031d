package glob

import (
	"strings"
	"testing"
)

// killers are pairs that take a backtracking matcher from seconds to years;
// text grows with n.
var killers = []struct {
	name, pattern string
	text          func(n int) string
}{
	{"prose", "*ignore*previous*instructions*", func(n int) string {
		return strings.Repeat("ignore previous instructions ", n/29) + "/"
	}},
	{"sql", "*DROP*TABLE*", func(n int) string { return strings.Repeat("DROPTABLE", n/9) + "/" }},
	{"stars", "*a*a*a*b", func(n int) string { return strings.Repeat("a", n) + "/b" }},
	{"questions", "*?*?*?*?b", func(n int) string { return strings.Repeat("a", n) + "/b" }},
	{"git", "**/.git/**/config*", func(n int) string { return strings.Repeat("/.git/config/", n/13) }},
	{"deep", "**a**a**a**b?", func(n int) string { return strings.Repeat("a", n) }},
	{"long", strings.Repeat("a*", 1500) + "b?", func(n int) string { return strings.Repeat("a", n) + "/" }},
}

// TestLinear counts the words of rows computed: never more than one row for
// each byte of the text.
func TestLinear(t *testing.T) {
	for _, k := range killers {
		t.Run(k.name, func(t *testing.T) {
			p, err := Compile(k.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{100, 1_000, 10_000, 100_000} {
				text := k.text(n)
				_, work := p.compileAutomaton().runRows(text)
				if limit := len(text) * (len(k.pattern)/64 + 1); work > limit {
					t.Errorf("%d bytes: %d words computed, want at most %d", len(text), work, limit)
				}
			}
		})
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	for _, pattern := range []string{"a", "a*", "**/.ssh/**", "**/*.go", "*?*?b", strings.Repeat("a?", 400) + "*"} {
		p, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("ab", 399) + "a/b.go"
		if n := testing.AllocsPerRun(10, func() { p.Match(text) }); n != 0 {
			t.Errorf("%.20q: %v allocations", pattern, n)
		}
	}
}

// BenchmarkKillers: ns/byte must not grow with the size.
func BenchmarkKillers(b *testing.B) {
	for _, k := range killers {
		for _, n := range []int{3_000, 48_000, 768_000} {
			p, _ := Compile(k.pattern)
			text := k.text(n)
			b.Run(k.name+"/"+size(n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					p.Match(text)
				}
			})
		}
	}
}

func size(n int) string {
	return map[int]string{3_000: "3kB", 48_000: "48kB", 768_000: "768kB"}[n]
}

func BenchmarkMatch(b *testing.B) {
	for _, c := range [][2]string{
		{"filesystem_read", "filesystem_read"},
		{"filesystem_*", "filesystem_read"},
		{"/home/user/projects/**", "/home/user/projects/clawai/policy/glob/glob.go"},
		{"**/.ssh/**", "/home/user/projects/clawai/policy/glob/glob.go"},
		{"**/.ssh/**", "/home/user/.ssh/id_ed25519"},
		{"/home/**/*.go", "/home/user/projects/clawai/policy/glob/glob.go"},
		{"/home/*/projects/*/**.go", "/home/user/projects/clawai/policy/glob/glob.go"},
		{"read_????", "read_file"},
	} {
		p, _ := Compile(c[0])
		b.Run(c[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Match(c[1])
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, pattern := range []string{"filesystem_*", "**/.ssh/**", "/home/*/projects/**/*.go"} {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Compile(pattern)
			}
		})
	}
}

// Whoever bounds the work of many matches goes by Cost.
func TestCost(t *testing.T) {
	long := "/p/" + strings.Repeat("ab/", 1000)
	for _, c := range []struct {
		pattern, text string
		least, most   int
	}{
		{"/p/x", long, 0, 0},
		{"/q/**", long, 0, 0},
		{"**x", long, 0, 0},
		{"/p/**", long, 0, 0},
		{"/p/*", long, 100, 3003},
		{"**a**b**", long, 100, 3003},
		{"**a*b**", strings.Repeat("ab", 1500), 100, 3000},
		{"**a*b**", long, 3003, 30030},
		{"**a?b**", long, 3003, 30030},
		{"**" + strings.Repeat("?", 640) + "**", long, 10 * 3003, 20 * 3003},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchCost(c.text); got < c.least || got > c.most {
			t.Errorf("%s: %d, want %d to %d", c.pattern, got, c.least, c.most)
		}
	}
}
