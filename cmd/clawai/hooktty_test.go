//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// homeWithHook is a home with two clients, and clawai-hook beside the clawai that runs.
func homeWithHook(t *testing.T) string {
	t.Helper()
	h := newWrapHome(t)
	exectest.Write(t, filepath.Join(filepath.Dir(h.bin), "clawai-hook"), []byte("#!/bin/sh\nexit 2\n"))
	t.Setenv("PATH", filepath.Dir(h.bin)+":"+os.Getenv("PATH"))
	h.write(".claude.json", twoServers)
	h.write(".claude/settings.json", "{}")
	h.write(".cursor/mcp.json", twoServers)
	return h.dir
}

func TestHooksAreChosenAtATerminal(t *testing.T) {
	slow.Test(t)
	home := homeWithHook(t)
	p := sit(t, home, "wrap", "--hooks")
	p.sees("Put clawai-hook into which clients' hooks?", "Claude Code  ~/.claude/settings.json", "Cursor  ~/.cursor/hooks.json")
	p.types("\x1b")
	p.leaves(130)
	if readHome(t, home, ".claude/settings.json") != "{}" {
		t.Error("written without a choice")
	}
	p = sit(t, home, "wrap", "--hooks")
	p.sees("Cursor  ~/.cursor/hooks.json")
	p.types(" \r")
	p.sees("hooks of Claude Code", "Write this file? [y/N]")
	p.types("y\r")
	p.sees("Put clawai-hook into ~/.claude/settings.json (Claude Code)", "Undo: clawai unwrap --hooks claude-code")
	p.leaves(0)
	if got := readHome(t, home, ".claude/settings.json"); !strings.HasPrefix(got, `{ "hooks": {"PreToolUse": [{"matcher":"*"`) {
		t.Errorf("got %s", got)
	}
	p = sit(t, home, "unwrap", "--hooks")
	p.sees("Take clawai-hook out of which clients' hooks?", "Claude Code  ~/.claude/settings.json")
	p.types(" \r")
	p.sees("Write this file? [y/N]")
	p.types("y\r")
	p.leaves(0)
	if got := readHome(t, home, ".claude/settings.json"); got != "{}" {
		t.Errorf("came back as %s", got)
	}
}

func TestInitOffersHooks(t *testing.T) {
	slow.Test(t)
	for _, tt := range []struct {
		answer    string
		want, had bool // hooks; a policy
	}{{"\r", false, false}, {"y\r", true, false}, {"y\r", true, true}} {
		home := homeWithHook(t)
		then := "Your policy gets rules for them, if it opens none of their tools."
		if !tt.had {
			then = "The policy gets rules for them"
			if err := os.RemoveAll(filepath.Join(home, ".config")); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(filepath.Join(home, initPolicyFile), []byte("[[rule]]\naction = \"allow\"\nserver = \"one\"\ntool = \"read\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := sit(t, home, "init", "--client", "claude-code")
		p.sees("Mode [ask]:")
		p.types("\r")
		p.sees("Put clawai in front of which servers?")
		p.types("\r")
		if !tt.had {
			p.sees("Ask what tools there are?")
			p.types("\r")
		}
		p.sees("Claude Code can call clawai before each built-in tool as well", then, "Put the hooks in now? [y/N]")
		p.types(tt.answer)
		ruled := tt.want
		switch {
		case ruled && tt.had:
			p.sees("To be put into ~/.config/clawai/policy.toml: ", " rules for the tools of Claude Code", "Built-in tools read below your home")
		case ruled:
			p.sees("Which folders may be used?", "Your agents' own tools read and write there unasked.", "~/projects")
			p.types("\r")
			p.sees("Starter policies in it: coding-agent.", "Built-in tools read below your home")
		}
		p.sees("Write this? [y/N]")
		p.types("y\r")
		p.sees("Try one question now? [Y/n]")
		p.types("n\r")
		p.leaves(0)
		if got := strings.Contains(readHome(t, home, ".claude/settings.json"), "clawai-hook"); got != tt.want {
			t.Errorf("%+v: hooks are there: %v\n%s", tt, got, p.screen.Text())
		}
		if got := strings.Contains(readHome(t, home, initPolicyFile), "profile = \"coding-agent\""); got != ruled {
			t.Errorf("%+v: rules for the agent's shell are there: %v", tt, got)
		}
	}
}
