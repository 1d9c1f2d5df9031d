package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// heldFor says in which reading of a value p, which holds q, does not match
// although q does; "" when there is none.
func heldFor(p, q *pattern, value string) string {
	rd := reading.Reader{Home: home, Effects: p.effects | q.effects, Paths: p.pathLike || q.pathLike}
	outer, inner := condition{patterns: []*pattern{p}}, condition{patterns: []*pattern{q}}
	left := effort.Max
	for _, r := range rd.Read(nil, value, new(reading.CaseFolder), &left) {
		if inner.matchReading(&r, Allow, nil, &left) == where.Yes && outer.matchReading(&r, Prompt, nil, &left) != where.Yes {
			return fmt.Sprintf("%q made by %08b of %q", r.Text, r.Transforms, r.Raw)
		}
	}
	return ""
}

func mustPattern(t testing.TB, text string) *pattern {
	t.Helper()
	p, err := newPattern(text, home, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		outer, inner string
		want         bool
	}{
		{"**", "/srv/p/*", true},
		{"**", "x?y*z", true},
		{"***", "~/x", true},
		{"/srv/**", "/srv/p/**", true},
		{"/srv/**", "/srv/**", true},
		{"/srv/**", "/srv/p/*", true},
		{"/srv/**", "/srv/p/*.txt", true},
		{"/srv/*", "/srv/x", true},
		{"/srv/p*", "/srv/p/*", false},
		{"/srv/*", "/srv/**", false},
		{"/srv/**", "/srv*", false},
		{"/srv/**", "/srv", false},
		{"/a/*/b/**", "/a/x/b/c/**", true},
		{"/a/*/b/**", "/a/x/b/*c", false}, // so it is; to say no is allowed
		{"**/x", "/srv/p/x", true},
		{"**/x", "/srv/p/*", false},
		{"~/**", "/home/user/p/**", true},
		{"~/**", "~/p/**", true},
		{"~*/**", "~/p/**", false},
		{"/home/user/**", "~/p/**", false}, // ~/p is text to some
		{"/home/user/**", "/HOME/user/**", false},
		{"/SRV/**", "/SRV/p/**", true},
		{"/srv/%70/**", "/srv/%70/x", true},
		{"/srv/%2a/**", "/srv/%2a/x", true},
		{"/srv/**", "/srv/%2a/x", false},
		{"file:///srv/**", "file:///srv/p/**", true},
		{"/srv/**", "file:///srv/p/**", false},
		{`C:\Users\**`, `C:\Users\me\**`, true},
		{`C:\Users\**`, `C:/Users/me/**`, false},
		{"src/**", "src/a/**", true},
		{"./**", "./src/**", true},
		{"1*", "100", true},
		{"*rm*", "/bin", false},
		{"**rm**", "/bin/rm", false}, // one looks at the text, the other at a path
		{"https://h/**", "https://h/a/**", true},
		{"a?**", "a*", false},
		{"?", "x", true},
	} {
		if got := mustPattern(t, c.outer).coversPattern(mustPattern(t, c.inner)); got != c.want {
			t.Errorf("%q holds %q: %v", c.outer, c.inner, got)
		}
	}
}

// A pattern that holds another matches all that the other matches, however a
// server reads it.
func TestHeldForEveryReading(t *testing.T) {
	slow.Test(t)
	held, pairs := 0, slow.Rounds(45_000, 300_000)
	g := gen{rand.New(rand.NewPCG(1, 2))}
	for range pairs {
		place := g.place()
		p, q := mustPattern(t, g.patternAt(place)), mustPattern(t, g.patternAt(place))
		if !p.coversPattern(q) {
			continue
		}
		held++
		for range 4 {
			value := g.spelled(place + g.of("", "/x", "/X/é", "/..", "/%2e%2e/x", "*", " "))
			if why := heldFor(p, q, value); why != "" {
				t.Fatalf("%q holds %q, and %s says otherwise", p.asWritten.glob, q.asWritten.glob, why)
			}
		}
	}
	if held < pairs/20 {
		t.Errorf("%d of %d were held", held, pairs)
	}
}

func (g gen) place() string {
	place := g.of("/srv", "/home/user", "src", "/S", "https://h.example", "/é", "C:")
	for range g.IntN(3) {
		place += "/" + g.of("p", "P", "é", "x y", "a*b", "q.")
	}
	return place
}

// patternAt is a pattern around a place.
func (g gen) patternAt(place string) string {
	cut := 1 + g.IntN(len(place))
	switch g.IntN(4) {
	case 0:
		place = strings.ToValidUTF8(place[:cut], "")
	case 1:
		place = g.of("**", "*", "**/", "?", "~*/") + strings.ToValidUTF8(place[cut:], "")
	}
	place = g.spelled(place) + g.of("", "", "/*", "/**", "*", "**", "/**", "/x")
	if place == "" {
		return "**"
	}
	return place
}

// spelled writes a text in another way that may mean the same.
func (g gen) spelled(s string) string {
	for range g.IntN(3) {
		switch g.IntN(9) {
		case 0:
			s = strings.ToUpper(s)
		case 1:
			s = strings.ReplaceAll(s, "/", `\`)
		case 2:
			s = strings.ReplaceAll(s, g.of("p", "/", "*", "x", "s"), g.of("%70", "%2F", "%2a", "%2578"))
		case 3:
			s = "file://" + s
		case 4:
			s = strings.Replace(s, "/home/user", "~", 1)
		case 5:
			s = strings.ReplaceAll(s, "é", "e\u0301")
		case 6:
			s = g.of("./", " ", "/", "../") + s
		case 7:
			s = strings.Replace(s, "/", g.of("//", "/./", "/y/../"), 1)
		case 8:
			s = strings.Replace(s, "https://h.example", g.of("HTTPS://H.example", "https://h.example:443", "https://h.example."), 1)
		}
	}
	return s
}

// Narrowing two lists of globs to what both match.
func TestMeet(t *testing.T) {
	for _, c := range []struct{ asked, wanted, want []string }{
		{[]string{"/a/**"}, []string{"/a/b/**"}, []string{"/a/b/**"}},
		{[]string{"/a/b/*"}, []string{"/a/**"}, []string{"/a/b/*"}},
		{[]string{"/a/**", "/a/b/**"}, []string{"/a/b/c", "/x"}, []string{"/a/b/c"}},
		{[]string{"/a/x", "/a/y", "/b"}, []string{"/a/**", "/a/*"}, []string{"/a/x", "/a/y"}},
		{[]string{"/b/**"}, []string{"/a/**"}, nil},
	} {
		if got := intersectGlobs(c.asked, c.wanted, home); !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %q", c.asked, c.wanted, got)
		}
	}
}

func FuzzHolds(f *testing.F) {
	for _, s := range [][3]string{
		{"/srv/**", "/srv/p/*", "/srv/p/%2e%2e/x"}, {"~/**", "/home/user/p", "~/p"}, {"file:///a/**", "file:///a/b", "FILE:/a/b"},
		{`C:\**`, `C:\x\**`, `c:/x\y`}, {"**rm**", "/bin/rm", " /bin/rm"}, {"/%2a/**", "/%2a/x", "/*/x"}, {"https://h/**", "https://h/a", "HTTPS://H:443/a"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, outer, inner, value string) {
		if glob.Check(outer) != nil || glob.Check(inner) != nil {
			return
		}
		p, q := mustPattern(t, outer), mustPattern(t, inner)
		if !p.coversPattern(q) {
			return
		}
		if why := heldFor(p, q, strings.ToValidUTF8(value, "\uFFFD")); why != "" {
			t.Errorf("%q holds %q, and %s says otherwise", outer, inner, why)
		}
	})
}
