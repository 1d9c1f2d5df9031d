package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// extending looks at a policy of own rules that extends others, called team.toml.
func extending(t *testing.T, own, others string) *lint.Report {
	t.Helper()
	text := "extends = [\"profile:team\"]\n"
	if own != "" {
		text += rules(own)
	}
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{Home: "/home/u", Disk: disk.PlainDisk(),
		Extend: func(policy.Extension) (string, []byte, error) { return "team.toml", []byte(rules(others)), nil }})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return lint.Run(p, []byte(text), lint.Options{})
}

// TestExtended: what own rules do to rules that are extended is said of the own
// ones, for those are what their owner can change.
func TestExtended(t *testing.T) {
	for _, c := range []struct {
		code, own, others string
		line              int // of the own rule, below the line of extends
		severity          check.Severity
		message, call     string
	}{
		{lint.AllowAboveDeny, "allow tool=get args.path=/x; allow tool=read args.path=/home/**", "deny tool=* args.path=**/.ssh/**", 6, check.Warning,
			"this rule allows calls that the rule at team.toml:1 would deny", `tool read {"path":"/home/.ssh/x"} is allowed by the rule on line 6`},
		{lint.AllowAboveDeny, "allow tool=read where.path=<{under=['~/p']}>", "allow tool=get; deny tool=* args.path=**/.env", 2, check.Warning,
			"this rule allows calls that the rule at team.toml:4 would deny", `tool read {"path":"~/p/.env"} is allowed by the rule on line 2`},
		{lint.DenyNeverWins, "allow tool=r*", "deny tool=rm*", 2, check.Error,
			"the deny at team.toml:1 never wins: the rule on line 2 takes every one", "tool rm is allowed by the rule on line 2"},
		{lint.DenyNeverWins, "deny tool=rm server=x; allow tool=r*", "prompt tool=rm*", 6, check.Error,
			"the prompt at team.toml:1 never wins: the rule on line 6 takes every one", `tool rmx at server "y" is allowed by the rule on line 6`},
		{lint.DenyNeverWins, "allow tool=* args.path=/home/**", "deny tool=* args.path=/home/u/.ssh/**", 2, check.Error,
			"the deny at team.toml:1 never wins: the rule on line 2 takes every one that certainly matches; only these are left: paths in an unknown folder",
			`tool x {"path":"/home/u/.ssh/x"} is allowed by the rule on line 2`},
		{lint.DenyNeverWins, "allow tool=?", "allow tool=??*; deny tool=?*", 2, check.Error,
			"the deny at team.toml:4 never wins: the rule on line 2 and the rule at team.toml:1 take every one", "tool x is allowed by the rule on line 2"},
		{lint.UnreachableRule, "deny tool=r*", "allow tool=rm", 2, check.Note,
			"no call gets to the rule at team.toml:1: the rule on line 2 takes every one", ""},
		{lint.UnreachableRule, "deny tool=a?", "allow tool=?a; allow tool=?b; deny tool=ab server=x; allow tool=a? server=y", 2, check.Note,
			"no call gets to the rule at team.toml:7: the rule on line 2 takes every one", ""},
		{lint.DuplicateRule, "deny tool=rm", "deny tool=rm", 2, check.Note,
			"the same conditions as the rule at team.toml:1, a rule that the policy extends", ""},
		{lint.DuplicateRule, "prompt tool=rm", "allow tool=rm", 2, check.Note,
			"the same conditions as the rule at team.toml:1, a rule that the policy extends, but its action allow never applies", ""},
		{lint.DuplicateRule, "allow tool=rm", "deny tool=rm", 2, check.Warning,
			"the same conditions as the rule at team.toml:1, a rule that the policy extends, but its action deny never applies", ""},
	} {
		t.Run(c.code+" "+c.own+" over "+c.others, func(t *testing.T) {
			r := extending(t, c.own, c.others)
			i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == c.code })
			if i < 0 {
				t.Fatalf("not found; found are %+v", r.Findings)
			}
			f := r.Findings[i]
			if f.Severity != c.severity || f.Message != c.message || f.Call != c.call {
				t.Errorf("got %s\n %s\n %s\nwant %s\n %s\n %s", f.Severity, f.Message, f.Call, c.severity, c.message, c.call)
			}
			if f.Pos.File != "p.toml" || f.Pos.Line != c.line || f.Text != "[[rule]]" || f.EndLine < f.Pos.Line {
				t.Errorf("it stands at %+v to %d, %q", f.Pos, f.EndLine, f.Text)
			}
			if len(f.Related) != 1 || f.Related[0].Pos.File != "team.toml" || f.Why == "" || f.Fix == "" {
				t.Errorf("incomplete: %+v", f)
			}
		})
	}
}

// TestWithinWhatIsExtended: what is wrong there is for its own owner to mend.
func TestWithinWhatIsExtended(t *testing.T) {
	const bad = "allow tool=* args.path=/home/**; deny tool=* args.path=**/.ssh/**; allow tool=read-[ab]; allow tool=*; deny tool=rm*; deny tool=rm*; allow tool=f args.u=https://x**"
	if alone := run(t, rules(bad), lint.Options{}); len(alone.Findings) < 5 {
		t.Fatalf("alone it has only %+v", alone.Findings)
	}
	for _, own := range []string{"", "deny tool=own", "allow tool=own args.path=/x"} {
		for _, f := range extending(t, own, bad).Findings {
			if f.Severity.Compare(check.Warning) >= 0 || f.Pos.File != "p.toml" {
				t.Errorf("with %q: %s at %s:%d: %s", own, f.Code, f.Pos.File, f.Pos.Line, f.Message)
			}
		}
	}
	const hard = "allow tool=*a*b*c*; deny tool=*c*b*a*; allow tool=*a*a*b*"
	text := "extends = [\"profile:team\"]\n"
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{
		Extend: func(policy.Extension) (string, []byte, error) { return "team.toml", []byte(rules(hard)), nil }})
	if err != nil {
		t.Fatal(err)
	}
	if r := lint.Run(p, []byte(text), lint.Options{Work: 1}); len(r.Undecided) > 0 {
		t.Errorf("undecided: %+v", r.Undecided)
	}
}

// TestOwnRulesOfAnExtendingPolicy: they are looked at as ever.
func TestOwnRulesOfAnExtendingPolicy(t *testing.T) {
	r := extending(t, "allow tool=*; deny tool=rm*", "deny tool=x")
	if i := slices.IndexFunc(r.Findings, func(f check.Finding) bool {
		return f.Code == lint.DenyNeverWins && f.Pos.Line == 5 && strings.HasPrefix(f.Message, "this deny never wins: the rule on line 2")
	}); i < 0 {
		t.Errorf("%+v", r.Findings)
	}
}
