package prove_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

func parsePlain(t rapid.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.toml", []byte(text), policy.Options{Home: "/home/u", Disk: disk.PlainDisk()})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

// TestBothUnderAFolder: what must lie under a folder and also end as a glob says
// is found in the folder, whatever the two are.
func TestBothUnderAFolder(t *testing.T) {
	for _, folder := range []string{"~/projects", "~", "/srv/data/", "/"} {
		for _, glob := range []string{"**/.env", "**/*.pem", "**/.ssh/**", "**/id_?", "**.key", "**/a/**/b"} {
			p := parsePlain(t, fmt.Sprintf("[[rule]]\naction = \"allow\"\ntool = \"read\"\nwhere.path = { under = [%q] }\n[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = %q\n", folder, glob))
			c := prove.New(p, prove.Options{}).FindCommonCall(0, 1)
			if c == nil {
				t.Errorf("no call found that is under %s and matches %s", folder, glob)
				continue
			}
			if tr := p.Trace(c); tr.Decision.Action != policy.Allow || tr.Steps[1].Match != where.Yes {
				t.Errorf("%s under %s, matching %s: %+v", c.Args, folder, glob, tr)
			}
		}
	}
	for _, glob := range []string{"/etc/**", "~/.ssh/**", "https://**", "*.pem"} {
		p := parsePlain(t, fmt.Sprintf("[[rule]]\naction = \"allow\"\ntool = \"read\"\nwhere.path = { under = [\"~/projects\"] }\n[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = %q\n", glob))
		if c := prove.New(p, prove.Options{}).FindCommonCall(0, 1); c != nil {
			t.Errorf("nothing in ~/projects matches %s, and yet %s", glob, c.Args)
		}
	}
}

// TestWitnessesUnderFolders: in any policy of folders and globs, the policy says
// of every witness what it is shown for.
func TestWitnessesUnderFolders(t *testing.T) {
	slow.Test(t)
	slow.Checks(t, 20, 1000)
	condition := rapid.SampledFrom([]string{
		"args.path = \"**/.env\"", "args.path = \"~/p/**\"", "args.path = [\"/srv/*\", \"**/*.pem\"]", "args.file = \"**/.env\"",
		"where.path = { under = [\"~/p\"] }", "where.path = { under = [\"/srv\", \"~/p/q\"] }", "where.file = { under = [\"~/p\"] }",
		"where.path = { max_length = 9 }", "args.path = \"**/.env\"\nwhere.path = { under = [\"~\"] }",
	})
	rule := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("[[rule]]\naction = %q\ntool = %q\n%s\n", rapid.SampledFrom([]string{"allow", "deny", "prompt"}).Draw(t, "action"),
			rapid.SampledFrom([]string{"*", "read", "r*"}).Draw(t, "tool"), condition.Draw(t, "condition"))
	})
	shown := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rule, 2, 4).Draw(rt, "rules"), "")
		p := parsePlain(rt, text)
		a := prove.New(p, prove.Options{Work: 1 << 16})
		for _, f := range a.Reach() {
			if f.Witness == nil {
				continue
			}
			if tr := p.Trace(f.Witness); !slices.Contains(tr.ReachedRules(), f.Rule) {
				rt.Errorf("%s does not come to rule %d of\n%s", f.Witness.Args, f.Rule, text)
			}
		}
		for j := range p.Rules() {
			for i := range j {
				c := a.FindCommonCall(i, j)
				if c == nil {
					continue
				}
				shown++
				tr := p.Trace(c)
				if d := tr.Decision; d.Rule == nil || d.Rule.Index != i || tr.Steps[i].Match != where.Yes || tr.Steps[j].Match != where.Yes {
					rt.Errorf("%s is not taken by rule %d from %d of\n%s", c.Args, i, j, text)
				}
			}
		}
	})
	if shown == 0 {
		t.Error("nothing was shown")
	}
}
