package scalar_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/scalar"
)

// FuzzBound holds that what is certain of two numbers is so exactly, by math/big,
// and that no number is below and above.
func FuzzBound(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "1e10", "0.1", "100.00000000000000000001", "123456789012345678901234567890", "1e-400", "0e5", "-0"} {
		f.Add(s, "1")
		f.Add("0.1", s)
	}
	long := regexp.MustCompile(`[eE][+-]?0*[0-9]{4}`)
	f.Fuzz(func(t *testing.T, s, limit string) {
		low, err := scalar.NewMin(json.Number(limit))
		if valid := json.Valid([]byte(limit)) && strings.Trim(limit, " \t\r\n") == limit && !strings.ContainsAny(limit, `"{[tfn`); valid != (err == nil) {
			t.Fatalf("%q: %v", limit, err)
		}
		if err != nil {
			return
		}
		high, _ := scalar.NewMax(json.Number(limit))
		same, _ := scalar.OneOf([]any{json.Number(limit)})
		v := where.Value{Kind: where.Number, Text: s}
		atLeast, atMost, equal := low.JudgeValue(v, true), high.JudgeValue(v, true), same.JudgeValue(v, true)
		if atLeast == where.No && atMost == where.No || equal == where.Yes && (atLeast != where.Yes || atMost != where.Yes) {
			t.Fatalf("%s and %s: %d %d %d", s, limit, atLeast, atMost, equal)
		}
		if long.MatchString(s) || long.MatchString(limit) {
			return // too far for math/big
		}
		a, ok := new(big.Rat).SetString(s)
		b, valid := new(big.Rat).SetString(limit)
		if !ok || !valid || !json.Valid([]byte(s)) {
			return
		}
		order := a.Cmp(b)
		for _, x := range []struct {
			got  where.Match
			want bool
		}{{atLeast, order >= 0}, {atMost, order <= 0}, {equal, order == 0}} {
			if x.got != where.Maybe && x.got != where.MatchOf(x.want) {
				t.Fatalf("%s and %s (%d): %d %d %d", s, limit, order, atLeast, atMost, equal)
			}
		}
	})
}

// FuzzRegex holds that a text that holds matches as a whole, and that an
// expression cannot break out of what anchors it.
func FuzzRegex(f *testing.F) {
	for _, expr := range []string{"a|b", "^a$", "(?m)^a$", "a)|(b", "(?i)x", `\Qa`, "[^a]*", ".*", "(?s:.)"} {
		f.Add(expr, "a")
		f.Add(expr, "a\nb")
	}
	f.Fuzz(func(t *testing.T, expr, s string) {
		c, err := scalar.NewRegex(expr, "")
		if err != nil {
			return
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			t.Fatalf("%q alone: %v", expr, err)
		}
		re.Longest()
		at := re.FindStringIndex(s)
		whole := at != nil && at[0] == 0 && at[1] == len(s)
		if got := c.JudgeValue(where.Value{Kind: where.String, Text: s}, true); whole && got != where.Yes || got == where.Yes && at == nil {
			t.Errorf("%q of %q: %d", expr, s, got)
		}
	})
}

func BenchmarkRegex(b *testing.B) {
	c, _ := scalar.NewRegex(`(?i)[a-z]+(-[a-z0-9]+)*`, "")
	v := where.Value{Kind: where.String, Text: "release-2026-11-stable"}
	for b.Loop() {
		c.JudgeValue(v, true)
	}
}

func BenchmarkWorstRegex(b *testing.B) {
	c, _ := scalar.NewRegex(`(a|aa|[a-b]{0,50})*c(x?){50}`, "")
	v := where.Value{Kind: where.String, Text: strings.Repeat("a", 1<<20)}
	for b.Loop() {
		c.JudgeValue(v, true)
	}
	b.ReportMetric(float64(c.JudgeCost(len(v.Text))), "cost")
}

func BenchmarkMax(b *testing.B) {
	c, _ := scalar.NewMax(int64(100))
	v := where.Value{Kind: where.Number, Text: "42"}
	for b.Loop() {
		c.JudgeValue(v, true)
	}
}

func BenchmarkLongNumber(b *testing.B) {
	c, _ := scalar.NewMax(int64(100))
	v := where.Value{Kind: where.Number, Text: strings.Repeat("9", 1<<20) + "e99999999999"}
	for b.Loop() {
		c.JudgeValue(v, true)
	}
	b.ReportMetric(float64(c.JudgeCost(len(v.Text))), "cost")
}

func BenchmarkOneOf(b *testing.B) {
	c, _ := scalar.OneOf([]any{"GET", "HEAD", "OPTIONS", int64(1), int64(2)})
	v := where.Value{Kind: where.String, Text: "HEAD"}
	for b.Loop() {
		c.JudgeValue(v, true)
	}
}
