package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

func TestConditionsAreRefused(t *testing.T) {
	prompt := func(lines string) string { return "[[rule]]\naction = \"prompt\"\ntool = \"t\"\n" + lines }
	for _, c := range []struct{ name, src, want string }{
		{"where is a string", ruleWith("where = 'x'"), `4:9: where must be a table, not a string (write where.path = { under = ["~/some"] })`},
		{"where names nothing", ruleWith("where = {}"), `4:1: where names no argument (write where.path = { under = ["~/some"] })`},
		{"where table is empty", ruleWith("[rule.where]"), `4:7: where names no argument (write where.path = { under = ["~/some"] })`},
		{"argument without a constraint", ruleWith("where.a = {}"), `4:1: where.a is empty (write where.a = { present = true })`},
		{"constraint without an argument", ruleWith("where.under = ['/x']"), `4:1: where.under names no argument (write where.<argument>.under = ...)`},
		{"a glob for a constraint", ruleWith("where.path = '/x/**'"), `4:14: where.path must be a table of constraints, not a string (write where.path = { regex = ... }; globs stand under args)`},
		{"unknown constraint", ruleWith("where.a.hosts = ['x']"), `4:9: unknown constraint "hosts" on args.a (did you mean "host"?)`},
		{"unknown constraint in a table", ruleWith("[rule.where.a]\nmaximum = 3"), `5:1: unknown constraint "maximum" on args.a (there are under, host, scheme, public, sql, command, regex, one_of, min, max, max_length, type, present)`},
		{"where beside resource", "[[rule]]\naction='deny'\nresource='**'\nwhere.a.min=1", `4:1: where beside resource (only tools and prompts have arguments)`},
		{"where as a list of tables", ruleWith("[[rule.where]]\na.min=1"), `4:1: [[rule.where]] must be [rule.where]`},
		{"where too deep", ruleWith("where" + strings.Repeat(".x", 65) + ".min = 1"), `4:1: where nests more than 64 deep`},
		{"twice", ruleWith("where.a.min = 1\nwhere.b.min = 1\nwhere.a.min = 2\nwhere.a.min = 3"), "6:1: where.a.min is given twice (the first is on line 4)\n7:1: where.a.min is given twice (the first is on line 4)"},
		{"twice, in TOML", ruleWith("where.a = { min = 1 }\nwhere.a.max = 2"), `5:7: invalid TOML: a is already defined, as a value`},
		{"a list for a text", ruleWith("where.a.regex = ['x']"), `4:1: where.a.regex must be a string, not a list`},
		{"a number for texts", ruleWith("where.a.host = 1"), `4:16: where.a.host must be a string or a list of strings, not a number`},
		{"a number among texts", ruleWith("where.a.host = ['x', 1]"), `4:22: where.a.host must be a list of strings, not a number`},
		{"an empty list", ruleWith("where.a.host = []"), `4:1: where.a.host is an empty list (no value would match)`},
		{"an empty list of choices", ruleWith("where.a.one_of = []"), `4:1: where.a.one_of is an empty list (no value would match)`},
		{"a date among choices", ruleWith("where.a.one_of = [2026-01-01]"), `4:19: where.a.one_of must be a list of strings, numbers or booleans, not a date or time`},
		{"infinity among choices", ruleWith("where.a.one_of = [inf]"), `4:19: where.a.one_of must be a list of finite numbers, not a number`},
		{"a choice alone", ruleWith("where.a.one_of = 'x'"), `4:18: where.a.one_of must be a list of strings, numbers or booleans, not a string`},
		{"a text for a number", ruleWith("where.a.min = '1'"), `4:15: where.a.min must be a number, not a string`},
		{"no number", ruleWith("where.a.min = nan"), `4:15: where.a.min must be a finite number, not a number`},
		{"a length below zero", ruleWith("where.a.max_length = -1"), `4:22: where.a.max_length must be a whole number, not -1`},
		{"half a length", ruleWith("where.a.max_length = 1.5"), `4:22: where.a.max_length must be a whole number, not 1.5`},
		{"a text for a boolean", ruleWith("where.a.public = 'true'"), `4:18: where.a.public must be true or false, not a string`},
		{"a bad expression", ruleWith("where.a.regex = '('"), "4:17: where.a.regex: error parsing regexp: missing closing ): `(`"},
		{"a bad host", ruleWith("where.a.host = ['https://x']"), `4:1: where.a.host: `},
		{"a glob for a directory", ruleWith("where.a.under = ['/x/**']"), `4:1: where.a.under: "/x/**" is a glob: write the directory alone, everything below it counts`},
		{"an unknown type", ruleWith("where.a.type = 'list'"), `4:16: where.a.type: unknown type "list" (there are string, number, integer, boolean, null, object and array)`},
		{"an unknown mode", ruleWith("where.a.sql = 'write'"), `4:15: where.a.sql: sql: unknown mode "write"; there is only "read-only"`},
		{"a setting beside its constraint", ruleWith("where.a = { command = ['ls'], env = ['A'] }"), `4:31: "env" on args.a is of the table of command (write where.a.command = { run = [...], env = [...] })`},
		{"a setting as a key", ruleWith("where.command.command.env = 'A'"), `4:23: "env" on args.command.command is of the table of command (write where.command.command = { run = [...], env = [...] })`},
		{"an unknown setting", ruleWith("where.a.command = { run = 'ls', evn = 'A' }"), `4:33: unknown key "evn" in where.a.command (did you mean "env"?)`},
		{"a setting of a wrong type", ruleWith("where.a.command = { run = 'ls', env = 1 }"), `4:39: where.a.command.env must be a string or a list of strings, not a number`},
		{"settings without commands", ruleWith("where.a.command = { env = 'A' }"), `4:19: where.a.command: a table needs run, the commands it is about; write run = ["**"] for all`},
		{"a number for lists", ruleWith("where.a.command = 1"), `4:19: where.a.command must be a string, a list of strings or a table of lists, not a number`},
		{"no settings", ruleWith("where.a.sql = {}"), `4:1: where.a.sql is empty`},
		{"unknown settings", ruleWith("where.a.sql = { mod = 'read-only' }"), `4:17: unknown key "mod" in where.a.sql (did you mean "mode"?)`},
		{"settings of a wrong type", ruleWith("where.a.sql = { mode = 1 }"), `4:24: where.a.sql.mode must be a string, not a number`},
		{"a number for settings", ruleWith("where.a.sql = 1"), `4:15: where.a.sql must be a string or a table of strings, not a number`},

		{"when is a text", ruleWith("when = 'x'"), `4:8: when must be a table, not a string (write when = { from = "09:00", to = "17:00" })`},
		{"when says nothing", ruleWith("when = {}"), `4:1: when says no time (write when = { from = "09:00", to = "17:00" })`},
		{"when table says nothing", ruleWith("[rule.when]"), `4:7: when says no time (write when = { from = "09:00", to = "17:00" })`},
		{"when has tables", ruleWith("when.from.x = 1"), `4:1: when has no tables in it`},
		{"when has tables below it", ruleWith("[rule.when.from]\nx = 1"), `4:1: when has no tables in it`},
		{"when twice", ruleWith("when = { from = '09:00' }\nwhen = { from = '09:00' }"), `5:1: when is given twice (the first is on line 4)`},
		{"a part twice", ruleWith("when.from = '09:00'\nwhen.from = '10:00'"), `5:6: when.from is given twice`},
		{"an unknown part", ruleWith("when = { form = '09:00' }"), `4:10: unknown key "when.form" in when (did you mean "from"?)`},
		{"a part in parts", ruleWith("when = { from.x = '09:00' }"), `4:10: unknown key "when.from.x" in when (did you mean "from"?)`},
		{"no time of day", ruleWith("when = { from = '9:00' }"), `4:17: when.from: "9:00" is not a time of day (write it as "09:00", up to "24:00")`},
		{"no such time of day", ruleWith("when = { to = '24:01' }"), `4:15: when.to: "24:01" is not a time of day (write it as "09:00", up to "24:00")`},
		{"a time that is not text", ruleWith("when = { to = 9 }"), `4:15: when.to must be a string, not a number`},
		{"an unknown zone", ruleWith("when = { from = '09:00', zone = 'Mars/Olympus' }"), `4:33: when.zone: unknown time zone "Mars/Olympus" (write a name of the IANA database such as "Europe/Berlin", "UTC" or "local")`},
		{"an empty zone", ruleWith("when = { from = '09:00', zone = '' }"), `4:33: when.zone: unknown time zone "" (write a name of the IANA database such as "Europe/Berlin", "UTC" or "local")`},
		{"an unknown day", ruleWith("when = { days = ['mon', 'tu'] }"), `4:25: when.days: unknown day "tu" (did you mean "tue"?)`},
		{"an unknown last day", ruleWith("when = { days = 'mon-holiday' }"), `4:17: when.days: unknown day "holiday" (write sun, mon, tue, wed, thu, fri, sat, or "mon-fri")`},
		{"days of numbers", ruleWith("when = { days = [1] }"), `4:18: when.days must be a list of days, not a number (write ["mon-fri"])`},
		{"a number of days", ruleWith("when = { days = 1 }"), `4:17: when.days must be a list of days, not a number (write ["mon-fri"])`},
		{"no days", ruleWith("when = { days = [] }"), `4:10: when.days is an empty list (leave it out for every day)`},
		{"a date without an offset", ruleWith("when = { after = 2026-01-01 }"), `4:18: when.after must be a date and time with its offset (write "2026-01-31T17:00:00+01:00")`},
		{"a list of dates", ruleWith("when = { after = [] }"), `4:10: when.after must be a date and time with its offset (write "2026-01-31T17:00:00+01:00")`},
		{"no time at all", ruleWith("when = { from = '09:00', to = '09:00' }"), `4:1: when lasts no time at all (leave out from and to for the whole day)`},
		{"from the end", ruleWith("when = { from = '24:00' }"), `4:1: when lasts no time at all (leave out from and to for the whole day)`},
		{"ends first", ruleWith("when = { after = '2026-01-02T00:00:00Z', before = '2026-01-01T00:00:00Z' }"), `4:1: when ends before it begins (after is the start, before the end)`},

		{"limit of a wrong type", ruleWith("limit = 20"), `4:9: limit must be a rate or a table, not a number (write limit = "20/min")`},
		{"no rate", ruleWith("limit = '20'"), `4:9: limit: "20" is not a rate (write a number and a unit: "20/min"; units are s, min, hour, day)`},
		{"no unit", ruleWith("limit = '20/week'"), `4:9: limit: "20/week" is not a rate (write a number and a unit: "20/min"; units are s, min, hour, day)`},
		{"nothing", ruleWith("limit = '0/min'"), `4:9: limit: 0 is not between 1 and 10000 (to allow nothing, write action = "deny")`},
		{"too much", ruleWith("limit = '10001/min'"), `4:9: limit: 10001 is not between 1 and 10000 (to allow nothing, write action = "deny")`},
		{"limit without a rate", ruleWith("limit = { per = 'tool' }"), `4:1: limit without a rate (write limit = { rate = "20/min" })`},
		{"rate of a wrong type", ruleWith("limit = { rate = 20 }"), `4:18: limit.rate must be a string, not a number`},
		{"unknown per", ruleWith("limit = { rate = '1/s', per = 'call' }"), `4:31: unknown limit.per "call" (one of rule, tool, server)`},
		{"unknown over", ruleWith("limit = { rate = '1/s', over = 'promt' }"), `4:32: unknown limit.over "promt" (did you mean "prompt"?)`},
		{"limit beside deny", "[[rule]]\naction='deny'\ntool='t'\nlimit='1/s'", `4:1: limit beside action "deny" (what is denied needs no limit)`},
		{"a question beyond questions", prompt("limit = { rate = '1/s', over = 'prompt' }"), `4:1: over = "prompt" beside action "prompt" (a person is asked anyway; leave over out to deny what is beyond)`},
		{"per tool of no tool", "[[rule]]\naction='allow'\nresource='**'\nlimit = { rate = '1/s', per = 'tool' }", `4:1: per = "tool" beside resource (only tool rules have tools)`},
		{"limit has tables", ruleWith("limit.rate.x = 1"), `4:1: limit has no tables in it`},
		{"limit of half a rule", "[[rule]]\naction = x\nlimit = {}\n", "2:10: invalid TOML: unexpected character U+0078 'x' at start of value (text needs quotes)"},

		{"pinned is a text", ruleWith("pinned = 'yes'"), `4:10: pinned must be true or false, not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, errs := parseSource("p.toml", []byte(c.src))
			if rules != nil {
				t.Errorf("%d rules from a bad policy", len(rules))
			}
			if strings.HasSuffix(c.want, ": ") && strings.HasPrefix(errs.Error(), "p.toml:"+c.want) {
				return // the constraint's own words
			}
			want := "p.toml:" + strings.ReplaceAll(c.want, "\n", "\np.toml:")
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(errs.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The forms that a condition can be written in say the same.
func TestConditionsAreRead(t *testing.T) {
	want := `[[rule]]
action = "allow"
tool = "t"
where.a.min = 1
where.a.max = 0x10
where.a.b.one_of = ["x", 1.5, true]
where.c.host = ["h"]
where.c.sql = { mode = "read-only", dialect = "mysql" }
where.min.min = +1_000
when = { from = "09:00", to = "24:00", days = ["mon-fri", "sun"], zone = "UTC", after = "2026-01-01T00:00:00Z" }
limit = { rate = "20/min", per = "tool", over = "prompt" }
pinned = true
`
	parts := "from = '09:00'\nto = '24:00'\ndays = ['mon-fri', 'sun']\nzone = 'UTC'\nafter = 2026-01-01T00:00:00Z\n"
	for _, src := range []string{
		want,
		ruleWith("pinned = true\nwhere = { a = { min = 1, max = 0x10, b.one_of = ['x', 1.5, true] }, c = { host = ['h'], sql = { mode = 'read-only', dialect = 'mysql' } }, min.min = +1_000 }\nlimit = { rate = '20/min', per = 'tool', over = 'prompt' }\n[rule.when]\n" + parts),
		ruleWith("pinned = true\nlimit.rate = '20/min'\nlimit.per = 'tool'\nwhen.from = '09:00'\nwhen.to = '24:00'\nwhen.days = ['mon-fri', 'sun']\nwhen.zone = 'UTC'\nwhen.after = 2026-01-01T00:00:00Z\nlimit.over = 'prompt'\n" +
			"[rule.where.a]\nmin = 1\nmax = 0x10\nb = { one_of = ['x', 1.5, true] }\n[rule.where.c]\nhost = ['h']\nsql = { mode = 'read-only', dialect = 'mysql' }\n[rule.where.min]\nmin = +1_000\n"),
		ruleWith("pinned = true\n[rule.limit]\nrate = '20/min'\nper = 'tool'\nover = 'prompt'\n[rule.when]\n" + parts +
			"[rule.where]\na.min = 1\na.max = 0x10\na.b.one_of = ['x', 1.5, true]\nc.host = ['h']\nc.sql = { mode = 'read-only', dialect = 'mysql' }\nmin = { min = +1_000 }\n"),
	} {
		rules, errs := parseSource("p.toml", []byte(src))
		if errs != nil {
			t.Fatalf("%v\n%s", errs, src)
		}
		if diff := cmp.Diff(want, rules[0].formatTOML()); diff != "" {
			t.Error(diff)
		}
		if r := rules[0].Rate; r.Count != 20 || r.Every != time.Minute || r.Per != PerTool || r.Over != Prompt || r.Per.String() != "tool" || r.AtMost() != "at most 20 a minute" {
			t.Errorf("limit %+v", r)
		}
		if got := src[rules[0].start:rules[0].end]; !strings.HasSuffix(strings.TrimSpace(src), got[len(got)-3:]) {
			t.Errorf("the rule ends in %q", got)
		}
	}
}

func TestConditionsOfAPromptAreWritten(t *testing.T) {
	want := "[[rule]]\naction = \"prompt\"\ntool = \"t\"\nask = \"out-of-band\"\npinned = true\n"
	rules, errs := parseSource("p.toml", []byte(want))
	if errs != nil || rules[0].formatTOML() != want {
		t.Errorf("%v\n%s", errs, rules[0].formatTOML())
	}
}

// The key of a limit is that of the text, wherever it stands.
func TestLimitsKeepTheirKey(t *testing.T) {
	read := func(src string) []ruleSource {
		rules, errs := parseSource("p.toml", []byte(src))
		if errs != nil {
			t.Fatal(errs)
		}
		return rules
	}
	limited := ruleWith("limit = '1/s'")
	a := read(limited)[0].Rate.Key
	b := read("# moved\n" + ruleWith("") + ruleWith("description = 'said'\nlimit = '1/s'"))[1].Rate.Key
	c := read(ruleWith("limit = '2/s'"))[0].Rate.Key
	if a != b || a == c || a == "" {
		t.Errorf("keys %q, %q, %q", a, b, c)
	}
}

func TestSourcesOfConditions(t *testing.T) {
	p := mustLoad(t, ruleWith("where.a.b.under = ['~/x']\nwhere.c.min = 1\nargs.d = 'y'\npinned = true\nlimit = '1/s'\nwhen = { days = 'mon' }"))
	s := p.Sources()[0]
	if len(s.Where) != 2 || s.Where[0].Key != "under" || s.Where[0].Text != `["~/x"]` && s.Where[0].Text != `"~/x"` || strings.Join(s.Where[0].Path, ".") != "a.b" || s.Where[0].Pos.Line != 4 {
		t.Errorf("%+v", s.Where)
	}
	if s.Where[1].Constraint.JudgeValue(where.Value{Kind: where.Number, Text: "1"}, true) != where.Yes {
		t.Error("a constraint that does not hold")
	}
	if !s.Pinned || s.Rate.Count != 1 || s.When == nil || !s.When.Days[time.Monday] || s.When.Days[time.Sunday] {
		t.Errorf("%+v", s)
	}
	if !p.AsksDisk() || !p.Timed() {
		t.Error("nobody is asked")
	}
}

// costly is a constraint that would take too long.
type costly struct{ cost int }

func (c costly) JudgeCost(int) int { return c.cost }

func (c costly) JudgeValue(where.Value, bool) where.Match {
	if c.cost > int(effort.Max) {
		panic("asked all the same")
	}
	return where.Yes
}

func TestCostlyConstraintsRefuse(t *testing.T) {
	for _, c := range []struct {
		cost int
		args string
		want Action
	}{
		{1 << 20, `{"a":"x"}`, Allow},
		{1 << 31, `{"a":"x"}`, Deny},
		{1 << 31, `{"a":1}`, Deny},
		{int(effort.Max) - 160, `{"a":["x","y"]}`, Deny},
		{1 << 26, `{"a":["1","2","3","4","5","6","7","8","9","a","b","c","d","e","f","g","h"]}`, Deny},
		{1 << 26, `{"a":["1","1","1","1","1","1","1","1","1","1","1","1","1","1","1","1","1"]}`, Allow}, // one question
	} {
		p := mustLoad(t, ruleWith("where.a.min = 1"))
		p.rules[0].conditions[0].typed.Constraint = costly{c.cost}
		if d := p.Decide(toolCall("t", c.args)); d.Action != c.want || d.Action == Deny && d.Reason != effort.TooMuch {
			t.Errorf("%+v: %v, %q", c, d.Action, d.Reason)
		}
	}
}

// What is kept of the answers of one call is bounded, and the call is judged all
// the same.
func TestAnswersAreBounded(t *testing.T) {
	var list strings.Builder
	for i := range 2 * maxAsked {
		fmt.Fprintf(&list, ",%d", i)
	}
	args := `{"a":[` + list.String()[1:] + `]}`
	p := mustLoad(t, ruleWith("where.a.min = 0"))
	if d := p.Decide(toolCall("t", args)); d.Action != Allow {
		t.Errorf("%v: %s", d.Action, d.Reason)
	}
	p = mustLoad(t, ruleWith("where.a.min = 1"))
	if d := p.Decide(toolCall("t", args)); d.Action != Deny {
		t.Errorf("zero is below one: %v", d.Action)
	}
}
