//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/testing/slow"
)

// At a terminal the text is shown and a person says yes; whatever else is said,
// nothing is trusted.
func TestTrustAsksAtATerminal(t *testing.T) {
	slow.Test(t)
	for name, c := range map[string]struct {
		types, sees string
		code        int
	}{
		"yes":         {"y\r", "Trusted, with this text", 0},
		"no":          {"\r", "Nothing was trusted.", 1},
		"another key": {"t\r", "Nothing was trusted.", 1},
		"the end":     {"\x04", "Nothing was trusted.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := newcomer(t)
			project := filepath.Join(home, "app", ".clawai", "policy.toml")
			if err := os.MkdirAll(filepath.Dir(project), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(project, []byte("[[rule]]\naction = \"deny\"\ntool = \"w*\"\ndescription = \"\x1b[2Jgone\"\n"), 0o600); err == nil {
				// A control character is no TOML: what cannot be shown cannot be trusted.
				p := sit(t, home, "policy", "trust", filepath.Join(home, "app"))
				p.sees("it does not load, and was not trusted")
				p.leaves(2)
			}
			if err := os.WriteFile(project, []byte("[[rule]]\naction = \"deny\"\ntool = \"w*\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := sit(t, home, "policy", "trust", filepath.Join(home, "app"))
			p.sees(`tool = "w*"`, "A project's policy denies and asks", "Trust it? [y/N]")
			p.types(c.types)
			p.sees(c.sees)
			p.leaves(c.code)
			known, err := config.ListProjects(filepath.Join(home, ".local", "state", "clawai"))
			if err != nil || (len(known) == 1) != (c.code == 0) {
				t.Errorf("trusted %v, %v", known, err)
			}
		})
	}
}
