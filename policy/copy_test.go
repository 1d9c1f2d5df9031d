package policy_test

import (
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestCopyRule(t *testing.T) {
	const src = "[[rule]]\naction = 'allow'\ntool = ['read_*', 'stat']\nserver = ['a', 'b']\nargs.path = '~/p/**'\nargs.mode = 'x'\nwhere.path.under = ['~/p']\nnot.args.path = '**/q'\nargs_only = ['n']\ndescription = 'Read'\n"
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	args := []policy.ArgSource{{Path: []string{"path"}, Globs: []string{"/srv", "/srv/**"}}}
	for _, c := range []struct {
		name string
		copy policy.RuleCopy
		want string
	}{
		{"all of it", policy.RuleCopy{Args: args, Under: []string{"/srv"}, Server: "c", Description: "Read there",
			Except: []policy.ArgSource{{Path: []string{"path"}, Globs: []string{"**/.env"}}, {Path: []string{"mode"}, Globs: []string{"y"}}}},
			"[[rule]]\naction = \"allow\"\ntool = [\"read_*\", \"stat\"]\nserver = \"c\"\nargs.path = [\"/srv\", \"/srv/**\"]\nargs.mode = \"x\"\nwhere.path.under = [\"/srv\"]\nargs_only = [\"n\"]\nnot.args.path = [\"**/q\", \"**/.env\"]\nnot.args.mode = \"y\"\ndescription = \"Read there\"\n"},
		{"its servers", policy.RuleCopy{Args: args, Under: []string{"/srv"}},
			"[[rule]]\naction = \"allow\"\ntool = [\"read_*\", \"stat\"]\nserver = [\"a\", \"b\"]\nargs.path = [\"/srv\", \"/srv/**\"]\nargs.mode = \"x\"\nwhere.path.under = [\"/srv\"]\nargs_only = [\"n\"]\nnot.args.path = \"**/q\"\n"},
	} {
		got := p.CopyRule(p.Rules()[0], c.copy)
		if got != c.want {
			t.Errorf("%s: wrote\n%s\nwant\n%s", c.name, got, c.want)
		}
		if _, err := policy.Parse("p.toml", []byte(got), policy.Options{Home: "/home/user"}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if src := p.Sources()[0]; src.Args[0].Globs[0] != "~/p/**" || src.Not.Args[0].Globs[0] != "**/q" {
		t.Error("the policy has changed with its copy")
	}
}

// Only a rule without any condition refuses all the rest.
func TestRefusesTheRest(t *testing.T) {
	for src, want := range map[string]bool{
		"action='deny'\ntool='*'":                              true,
		"action='deny'\ntool=['x', '**']":                      true,
		"action='deny'\nresource='**'\ndescription='x'":        true,
		"action='deny'\ntool='x*'":                             false,
		"action='prompt'\ntool='*'":                            false,
		"action='deny'\ntool='*'\nserver='s'":                  false,
		"action='deny'\ntool='*'\nargs.path='/x'":              false,
		"action='deny'\ntool='*'\nwhere.path.regex='x'":        false,
		"action='deny'\ntool='*'\nargs_only=true":              false,
		"action='deny'\ntool='*'\nnot.tool='x'":                false,
		"action='deny'\ntool='*'\nfind=['secret']":             false,
		"action='deny'\ntool='*'\non='reply'":                  false,
		"action='deny'\ntool='*'\nafter=['untrusted']":         false,
		"action='deny'\ntool='*'\nannotations=['destructive']": false,
	} {
		p, err := policy.Parse("p.toml", []byte("[[rule]]\n"+src+"\n"), policy.Options{})
		if err != nil {
			t.Fatal(src, err)
		}
		if s := p.Sources()[0]; s.RefusesTheRest() != want {
			t.Errorf("%s: %v", src, !want)
		}
	}
}
