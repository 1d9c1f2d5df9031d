package scalar_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/scalar"
)

func text(s string) where.Value   { return where.Value{Kind: where.String, Text: s} }
func number(s string) where.Value { return where.Value{Kind: where.Number, Text: s} }
func boolean(s string) where.Value {
	return where.Value{Kind: where.Boolean, Text: s}
}

var others = []where.Value{{Kind: where.Absent}, {Kind: where.Null}, {Kind: where.Object}, {Kind: where.List}, {}}

func must(t testing.TB) func(where.Constraint, error) where.Constraint {
	return func(c where.Constraint, err error) where.Constraint {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// check holds a constraint to what it says to a rule that opens and to one that
// does not.
func check(t *testing.T, name string, c where.Constraint, v where.Value, opens, tightens where.Match) {
	t.Helper()
	if got := c.JudgeValue(v, true); got != opens {
		t.Errorf("%s of %+v, opening: %d, want %d", name, v, got, opens)
	}
	if got := c.JudgeValue(v, false); got != tightens {
		t.Errorf("%s of %+v, not opening: %d, want %d", name, v, got, tightens)
	}
	if c.JudgeCost(len(v.Text)) <= 0 {
		t.Errorf("%s costs nothing", name)
	}
}

const no, maybe, yes = where.No, where.Maybe, where.Yes

func TestRegex(t *testing.T) {
	for _, c := range []struct {
		expr string
		v    where.Value
		want where.Match
	}{
		{`[a-z]+`, text("abc"), yes},
		{`[a-z]+`, text("abc; rm"), no},
		{`^[a-z]+$`, text("abc"), yes},
		{`a|b`, text("a"), yes},
		{`a|b`, text("ax"), no},
		{`a|b`, text("xb"), no},
		{`a|ab`, text("ab"), yes},
		{`a*?`, text("aaa"), yes},
		{`(?s).*`, text("a\nb"), yes},
		{`(?i)select .*`, text("SELECT 1"), yes},
		{`(?i)a|b`, text("B"), yes},
		{`a # b`, text("a # b"), yes},
		{``, text(""), yes},
		{``, text("a"), no},
		{`\d+`, number("12"), yes},
		{`\d+`, number("1.5"), no},
		{`true`, boolean("true"), yes},
		{`(a*)*`, text(strings.Repeat("a", 1000) + "b"), no},
		{`\Qa.b\E`, text("a.b"), yes},
	} {
		check(t, c.expr, must(t)(scalar.NewRegex(c.expr, "")), c.v, c.want, c.want)
	}
	for _, v := range others {
		check(t, "regex", must(t)(scalar.NewRegex(`(?s).*`, "")), v, no, no)
	}
	for _, expr := range []string{`a)|(?:.*`, `a)(b`, `(`, `[`, `a(?=b)`, `\1`, `a{1001}`, `((a{100}){10}){10}`, `(?:[a-z]{900}){1}[a-z]{900}[0-9]{900}[a-z]{900}[0-9]{900}`, strings.Repeat("a", 5000)} {
		if c, err := scalar.NewRegex(expr, ""); err == nil {
			t.Errorf("%.40q is no error: %v", expr, c)
		}
	}
}

// TestRegexOfLines: what opens is the text as a whole; what denies or asks is not
// dodged by a line break.
func TestRegexOfLines(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		closes     where.Match
	}{
		{`[a-z]+`, "abc\n", maybe},
		{`(?m)^[a-z]+$`, "abc\nx;y", maybe},
		{`.*`, "a\nb", maybe},
		{`rm .*`, "ls\nrm -rf /", maybe},
		{`.*rm .*`, "x\rrm\u2028", no}, // a break is no blank
		{`rm .*`, "x\vrm y\fz", maybe},
		{`rm .* /`, "rm -rf \\\n /", maybe},
		{`^rm .*$`, "a\r\nrm b\u0085c", maybe},
		{`(?-s:rm .* /)`, "rm -rf \\\n /", no}, // its author means the dot
		{`rm .*|a\|b`, "x\na|b", maybe},
		{`rm`, "ls\nfirm\nrms", no},
		{`[^;]*rm[^;]*`, "a\nrm\nb", yes},
	} {
		r := must(t)(scalar.NewRegex(c.expr, ""))
		opens := no
		if c.closes == yes {
			opens = yes
		}
		check(t, c.expr+" of "+c.text, r, text(c.text), opens, c.closes)
	}
}

func TestOneOf(t *testing.T) {
	c := must(t)(scalar.OneOf([]any{"a", "5", int64(1), 0.1, true, json.Number("123456789012345678901234567890"), int64(math.MaxInt64), json.Number("1e-3")}))
	for _, x := range []struct {
		v               where.Value
		opens, tightens where.Match
	}{
		{text("a"), yes, yes},
		{text("A"), no, no},
		{text(" a"), no, no},
		{text(""), no, no},
		{text("5"), yes, yes},
		{number("5"), no, maybe},
		{number("5.0"), no, maybe},
		{number("1"), yes, yes},
		{number("1.0"), yes, yes},
		{number("1e0"), yes, yes},
		{number("10e-1"), yes, yes},
		{number("0.01E+2"), yes, yes},
		{number("-1"), no, no},
		{text("1"), no, maybe},
		{text(" 1.0 "), no, maybe},
		{text("+1"), no, maybe},
		{number("1.00000000000000000000001"), maybe, maybe},
		{number("0.1"), yes, yes},
		{number("0.1000000000000000055511151231257827"), maybe, maybe},
		{number("0.100001"), no, no},
		{number("123456789012345678901234567890"), yes, yes},
		{number("123456789012345678901234567891"), maybe, maybe},
		{number("1.2345678901234567890123456789e29"), yes, yes},
		{number("9223372036854775807"), yes, yes},
		{number("9223372036854775808"), maybe, maybe},
		{number("0.001"), yes, yes},
		{number("2"), no, no},
		{number("01"), maybe, maybe},
		{boolean("true"), yes, yes},
		{boolean("false"), no, no},
		{text("true"), no, maybe},
		{text("yes"), no, maybe},
		{text("off"), no, no},
		{text("TRUE"), no, maybe},
		{text("false"), no, no},
	} {
		check(t, "one_of", c, x.v, x.opens, x.tightens)
	}
	for _, v := range others {
		check(t, "one_of", c, v, no, no)
	}
	check(t, "one_of", must(t)(scalar.OneOf([]any{"true"})), boolean("true"), no, maybe)
	check(t, "one_of", must(t)(scalar.OneOf([]any{true})), number("1"), no, maybe)
	check(t, "one_of", must(t)(scalar.OneOf([]any{int64(0)})), boolean("false"), no, maybe)
	for _, choices := range [][]any{nil, {}, {nil}, {[]any{"a"}}, {map[string]any{}}, {math.NaN()}, {math.Inf(1)}, {json.Number("x")}, {"ok", 1}} {
		if _, err := scalar.OneOf(choices); err == nil {
			t.Errorf("OneOf(%v) is no error", choices)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, x := range []struct {
		limit    any
		v        string
		min, max where.Match
	}{
		{int64(10), "10", yes, yes},
		{int64(10), "10.0", yes, yes},
		{int64(10), "1e1", yes, yes},
		{int64(10), "9", no, yes},
		{int64(10), "11", yes, no},
		{int64(10), "10.1", yes, no},
		{int64(10), "-10", no, yes},
		{int64(10), "-11", no, yes},
		{int64(-10), "-11", no, yes},
		{int64(-10), "-9", yes, no},
		{int64(-10), "0", yes, no},
		{int64(0), "-0", yes, yes},
		{int64(0), "0e999999999999999999999", yes, yes},
		{int64(0), "-0.0", yes, yes},
		{int64(10), "1e999999999", yes, no},
		{int64(10), "1e9999999999999999999999", yes, no},
		{int64(10), "-1e9999999999999999999999", no, yes},
		{int64(10), "1e-9999999999999999999999", no, yes},
		{int64(0), "1e-400", yes, maybe},
		{int64(0), "-1e-400", maybe, yes},
		{int64(100), "100.00000000000000000001", yes, maybe},
		{int64(100), "99.99999999999999999999", maybe, yes},
		{int64(math.MaxInt64), "9223372036854775808", yes, maybe},
		{int64(math.MinInt64), "-9223372036854775808", yes, yes},
		{0.3, "0.3", yes, yes},
		{0.1, "0.1000000000000000055511151231257827", yes, maybe},
		{1e300, "1e301", yes, no},
		{json.Number("0.30000000000000000001"), "0.3", maybe, yes},
	} {
		check(t, "min", must(t)(scalar.NewMin(x.limit)), number(x.v), x.min, x.min)
		check(t, "max", must(t)(scalar.NewMax(x.limit)), number(x.v), x.max, x.max)
	}
	ten := must(t)(scalar.NewMin(int64(10)))
	for _, s := range []string{"11", " 11", "+11", "-11", ".5", "0x1f", "1_000", "١٢", "１２", "½", "Infinity", "-inf", "NaN", "11 apples"} {
		check(t, "min", ten, text(s), no, maybe)
	}
	for _, s := range []string{"", "eleven", "x11", "-", "  "} {
		check(t, "min", ten, text(s), no, no)
	}
	check(t, "min", ten, boolean("true"), no, maybe)
	for _, s := range []string{"", "-", "01", "1.", ".1", "1e", "1e+", "0x1", "1 ", "+1", "1f", "NaN"} {
		check(t, "min", ten, number(s), maybe, maybe) // no JSON: not for us to say
	}
	for _, v := range others {
		check(t, "min", ten, v, no, no)
	}
	for _, limit := range []any{nil, "10", true, 10, math.NaN(), math.Inf(-1), json.Number("ten"), json.Number("")} {
		if _, err := scalar.NewMin(limit); err == nil {
			t.Errorf("Min(%v) is no error", limit)
		}
		if _, err := scalar.NewMax(limit); err == nil {
			t.Errorf("Max(%v) is no error", limit)
		}
	}
}

func TestMaxLength(t *testing.T) {
	three := must(t)(scalar.MaxLength(3))
	for _, s := range []string{"", "abc", "äöü", "日本語", "🎉🎉🎉"} {
		check(t, "max_length", three, text(s), yes, yes)
	}
	for _, s := range []string{"abcd", "e\u0301e\u0301", "    "} {
		check(t, "max_length", three, text(s), no, no)
	}
	check(t, "max_length", three, number("100"), yes, yes)
	check(t, "max_length", three, number("1000"), no, no)
	check(t, "max_length", three, boolean("true"), no, no)
	check(t, "max_length", three, where.Value{Kind: where.String, Text: "/home/user/x", Raw: "~/x"}, yes, yes)
	check(t, "max_length", three, where.Value{Kind: where.String, Text: "a", Raw: "%61%61"}, no, no)
	for _, v := range others {
		check(t, "max_length", three, v, no, no)
	}
	if _, err := scalar.MaxLength(-1); err == nil {
		t.Error("a length below zero is no error")
	}
}

func TestType(t *testing.T) {
	values := map[string]where.Value{
		"string": text("1"), "boolean": boolean("true"), "null": {Kind: where.Null}, "object": {Kind: where.Object}, "array": {Kind: where.List}, "number": number("1.5"),
	}
	for name := range values {
		c := must(t)(scalar.NewType(name))
		for other, v := range values {
			want := where.MatchOf(name == other)
			check(t, "type "+name, c, v, want, want)
		}
		check(t, "type "+name, c, where.Value{}, no, no)
	}
	integer := must(t)(scalar.NewType("integer"))
	for s, want := range map[string]where.Match{
		"1": yes, "-1": yes, "0": yes, "-0": yes, "1.0": yes, "1e2": yes, "1.50e1": yes, "15e-1": no, "100e-2": yes, "1.5": no, "0.1": no, "1e400": yes, "1e-1": no,
		"1e99999999999999999999": yes, "1e-400": maybe, "1.00000000000000000000001": maybe, "123456789012345678901234567890": yes, "x": maybe,
	} {
		check(t, "integer", integer, number(s), want, want)
	}
	check(t, "integer", integer, text("1"), no, no)
	for _, name := range []string{"", "String", "int", "list", "absent"} {
		if _, err := scalar.NewType(name); err == nil {
			t.Errorf("Type(%q) is no error", name)
		}
	}
}

func TestPresent(t *testing.T) {
	there, lacking := scalar.NewPresent(true), scalar.NewPresent(false)
	for _, v := range []where.Value{text(""), text("x"), number("0"), boolean("false"), {Kind: where.Object}, {Kind: where.List}} {
		check(t, "present", there, v, yes, yes)
		check(t, "not present", lacking, v, no, no)
	}
	check(t, "present", there, where.Value{}, no, no)
	check(t, "not present", lacking, where.Value{}, yes, yes)
	check(t, "present", there, where.Value{Kind: where.Null}, maybe, maybe)
	check(t, "not present", lacking, where.Value{Kind: where.Null}, maybe, maybe)
}
