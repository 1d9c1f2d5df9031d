package lint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

// TestBreaks: an expression is told of exactly where the policy lets a text through
// for a line break.
func TestBreaks(t *testing.T) {
	for expr, where := range map[string]string{
		`(?i).*drop table.*`:  "in place of a blank",
		`(?i).*drop\stable.*`: "beside a blank",
		`drop\s+table[ \t].*`: "in place of a blank",
		`[a-z ]+secret`:       "in place of a blank",
		`rm(?-s:.)-rf`:        "where a dot stands",
		`\Arm -?rf\z`:         "in place of a blank",
		`\Arm\s+-rf`:          "and a line in front of it",
		`rm\s+-rf\z`:          "and a line behind it",
		`(?-m:^rm\s+-rf)`:     "and a line in front of it",
		`rm(( ){2})x`:         "in place of a blank",

		`.*drop\s+table.*`: "", `^rm.*$`: "", `rm.-rf`: "", `(?i)secret`: "", `^secret$`: "", `\w+`: "", `[^;]*;.*`: "", `a|b c|d`: "", `[\n]x`: "", ``: "",
	} {
		for _, action := range []string{"deny", "prompt"} {
			r := run(t, "[[rule]]\naction = '"+action+"'\ntool = '*'\nwhere.c.regex = '"+expr+"'\n[[rule]]\naction = 'allow'\ntool = '*'\n", lint.Options{})
			i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == lint.BreakDodges })
			switch {
			case i < 0 && where == "":
			case i < 0:
				t.Errorf("%s: not found", expr)
			case r.Findings[i].Message != "where.c.regex does not match with a line break "+where:
				t.Errorf("%s: %s", expr, r.Findings[i].Message)
			}
		}
	}
	for _, shut := range []string{"", "[[rule]]\naction = 'allow'\ntool = 'y'\n", "[[rule]]\naction = 'allow'\ntool = 'x'\nwhere.c.regex = '\\w+ \\w+'\n"} {
		for _, f := range run(t, "[[rule]]\naction = 'deny'\ntool = 'x'\nwhere.c.regex = 'drop table'\n"+shut, lint.Options{}).Findings {
			if f.Code == lint.BreakDodges {
				t.Errorf("%s\nlets nothing through: %s", shut, f.Call)
			}
		}
	}
}

// TestBreakWitness: the call of a finding is one that the policy allows, and without
// the break denies.
func TestBreakWitness(t *testing.T) {
	src := "[[rule]]\naction = 'deny'\ntool = 'q'\nwhere.sql.regex = '(?i).*drop table.*'\n[[rule]]\naction = 'allow'\ntool = 'q'\n"
	r := run(t, src, lint.Options{})
	i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == lint.BreakDodges })
	if i < 0 || r.Findings[i].Severity != check.Error || r.Findings[i].Pos.Line != 4 {
		t.Fatalf("%+v", r.Findings)
	}
	var fixture struct {
		Expected string
		Params   struct{ Arguments struct{ SQL string } }
	}
	if err := json.Unmarshal(r.Findings[i].Fixture, &fixture); err != nil || fixture.Expected != policy.Allow.String() || fixture.Params.Arguments.SQL != "xDROP\nTABLEx" {
		t.Errorf("%v %+v", err, fixture)
	}
}

// TestStartersKeepLines: no expression of a starter's denials would be dodged, whatever
// stood below.
func TestStartersKeepLines(t *testing.T) {
	slow.Test(t)
	files, _ := filepath.Glob("../../../fixtures/*/policy.toml")
	seen := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		expressions := strings.Count(string(src), "regex = ")
		if seen += expressions; expressions == 0 {
			continue
		}
		for _, f := range run(t, string(src)+"\n[[rule]]\naction = 'allow'\ntool = '**'\n", lint.Options{}).Findings {
			if f.Code == lint.BreakDodges {
				t.Errorf("%s:%d: %s: %s", file, f.Pos.Line, f.Message, f.Call)
			}
		}
	}
	if seen < 3 {
		t.Errorf("%d expressions in %d starters", seen, len(files))
	}
}
