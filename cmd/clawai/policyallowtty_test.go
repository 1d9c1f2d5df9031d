//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

const policyOfRefused = `[[rule]]
action = "deny"
tool = "*"
args.path = "**/.env"
description = "Keys"

[[rule]]
action = "allow"
tool = "read_file"
args.path = "~/projects/**"

[[rule]]
action = "deny"
tool = "*"
description = "Everything else is refused"
`

// refusedOnce is a home with a policy and the record of a call that nothing allows.
func refusedOnce(t *testing.T) (home, id string) {
	t.Helper()
	home = newcomer(t)
	dir := filepath.Join(home, ".config", "clawai")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(policyOfRefused), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(home, ".local/state/clawai/audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ev := &event.Event{
		Kind: event.Decision, Server: "files", Method: "tools/call", Subject: "tool", Names: []string{"read_file"},
		Args: []byte(`{"path":"/srv/app/a.md"}`), Policy: "deny", Decision: "deny", Stage: "policy", Code: "denied_by_rule",
		RuleFile: filepath.Join(dir, "policy.toml"), RuleLine: 12, RuleText: "Everything else is refused",
	}
	if err := log.Record(ev); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return home, ev.Record
}

// A person picks how far, reads the rule and what it opens, says yes, and takes it back.
func TestAllowAsksAtATerminal(t *testing.T) {
	slow.Test(t)
	home, id := refusedOnce(t)
	const file = ".config/clawai/policy.toml"
	p := sit(t, home, "policy", "allow", "--from", id)
	p.sees("Allow how much?", "> Leave, write nothing", "This exact call", "Its folder", "All of it")
	p.types(down + down + "\r")
	p.sees(`args.path = "/srv/app/**"`, "It opens", "/srv/app/a.md", "It stays refused", "/srv/app/.env", "Write this rule? [y/N]")
	p.types("y\r")
	p.sees("Written. To take it back: clawai policy undo")
	p.leaves(0)
	if text := readHome(t, home, file); !strings.Contains(text, `description = "Read files below /srv/app"`) {
		t.Errorf("the rule is not in\n%s", text)
	}
	p = sit(t, home, "policy", "undo")
	p.sees("gets back its text of before", `args.path = "/srv/app/**"`, "Take it back? [y/N]")
	p.types("y\r")
	p.sees("Taken back.")
	p.leaves(0)
	if text := readHome(t, home, file); text != policyOfRefused {
		t.Errorf("other bytes than before:\n%s", text)
	}
}

// Whoever leaves, or says anything but yes, has written nothing.
func TestLeavingAllowWritesNothing(t *testing.T) {
	slow.Test(t)
	for name, c := range map[string]struct {
		args  []string
		types []string
		code  int
	}{
		"at the scopes":        {nil, []string{"\x1b"}, 130},
		"what is preset":       {nil, []string{"\r"}, 130},
		"at the rule":          {[]string{"--scope", "folder"}, []string{"\r"}, 1},
		"another key":          {[]string{"--scope", "folder"}, []string{"t\r"}, 1},
		"the end of the input": {[]string{"--scope", "folder"}, []string{"\x04"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id := refusedOnce(t)
			p := sit(t, home, append([]string{"policy", "allow", "--from", id}, c.args...)...)
			if c.args == nil {
				p.sees("Allow how much?")
			} else {
				p.sees("Write this rule? [y/N]")
			}
			for _, keys := range c.types {
				p.types(keys)
			}
			p.leaves(c.code)
			if text := readHome(t, home, ".config/clawai/policy.toml"); text != policyOfRefused {
				t.Errorf("written:\n%s", text)
			}
		})
	}
}

// A second folder, at a terminal.
func TestAllowAFolderAtATerminal(t *testing.T) {
	slow.Test(t)
	home, _ := refusedOnce(t)
	if err := os.Mkdir(filepath.Join(home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := sit(t, home, "policy", "allow", filepath.Join(home, "data"))
	p.sees(`args.path = ["~/data", "~/data/**"]`, "It opens what was refused", "Write these rules? [y/N]")
	p.types("y\r")
	p.sees("Written. To take it back: clawai policy undo")
	p.leaves(0)
	if text := readHome(t, home, ".config/clawai/policy.toml"); !strings.Contains(text, "~/data/**") {
		t.Errorf("the rule is not in\n%s", text)
	}
}
