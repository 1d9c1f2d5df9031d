//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// manyHooks is a home folder with clients whose hooks are in every state.
func manyHooks(t *testing.T) *wrapHome {
	t.Helper()
	h := newWrapHome(t)
	bin := filepath.Join(h.dir, "bin")
	if err := os.Rename(filepath.Dir(h.bin), bin); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+":"+os.Getenv("PATH"))
	h.bin = filepath.Join(bin, "clawai")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	exectest.Write(t, filepath.Join(bin, "clawai-hook"), []byte("#!/bin/sh\nexec \"${0%/*}/clawai\" hook \"$@\"\n"))
	exectest.Write(t, filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho '2.1.197 (Claude Code)'\n"))
	h.write(".config/clawai/policy.toml", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nserver = \"claude-code\"\n")
	h.write(".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/opt/rewrite --key sk-secret"}]}]}}`)
	h.write(".codex/config.toml", "")
	h.write(".cursor/hooks.json", `{"version":1}`)
	h.write(".gemini/settings.json", "{\n  // mine\n}\n")
	h.write(".qwen/settings.json", `{`)
	h.write(".codeium/windsurf/mcp_config.json", `{"mcpServers":{"git":{"command":"uvx","args":["mcp-server-git"]}}}`)
	h.write(".config/Code/User/settings.json", `{}`)
	if out, errs, code := h.run("wrap", "--hooks", "claude-code", "codex", "cursor", "gemini-cli", "--yes"); code != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	text := readHome(t, h.dir, ".cursor/hooks.json")
	h.write(".cursor/hooks.json", strings.Replace(text, `"failClosed":true`, `"failClosed":false`, 1))
	return h
}

func TestTheScreenOfStatusWithHooks(t *testing.T) {
	h := manyHooks(t)
	golden(t, h.dir, h.env, "status-hooks", 0, "status")
}

func TestTheScreenOfDoctorOfHooks(t *testing.T) {
	h := manyHooks(t)
	record := &day{home: h.dir, at: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	record.add(0, event.Event{Kind: event.Decision, Server: "gemini-cli", Method: "tools/call", Subject: "tool", Names: []string{"glob"}, Decision: "deny"})
	record.write(t)
	golden(t, h.dir, h.env, "doctor-hooks", 1, "doctor", "--hooks")
}

// What a script asks: exit codes, and the words of --json.
func TestStatusOfHooks(t *testing.T) {
	h := manyHooks(t)
	out, _, code := h.run("status", "--check", "--json")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		`"state": "enforced"`, `"words": "enforced by hook (blocks when broken)"`, `"state": "untrusted"`, `"words": "hook not trusted yet"`,
		`"state": "open"`, `"state": "unreadable"`, `"state": "bare"`, `"server": "gemini-cli"`,
		`"\"failClosed\" of preToolUse is false: wrap writes true"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s\n%s", want, out)
		}
	}
}

// Each way in which hooks cease to protect is told, and makes --check fail.
func TestHooksThatDrifted(t *testing.T) {
	slow.Test(t)
	for _, tt := range []struct {
		name  string
		spoil func(*wrapHome)
		want  string
	}{
		{"the program is gone", func(h *wrapHome) { h.remove("../bin/clawai-hook") }, "there is no clawai-hook at"},
		{"others can write it", func(h *wrapHome) { h.chmod("../bin/clawai-hook", 0o757) }, "other users can write"},
		{"others can replace it", func(h *wrapHome) { h.chmod("../bin", 0o757) }, "other users can write"},
		{"it cannot be started", func(h *wrapHome) { h.chmod("../bin/clawai-hook", 0o600) }, "cannot be started"},
		{"an event is gone", func(h *wrapHome) {
			h.replace(".claude/settings.json", `"SessionStart"`, `"SessionEnd"`)
		}, "no entry for SessionStart; an entry for SessionEnd"},
		{"all is gone", func(h *wrapHome) { h.write(".claude/settings.json", `{}`) }, "something took it out"},
		{"the file is gone", func(h *wrapHome) { h.remove(".claude/settings.json") }, "something took it out"},
		{"hooks are switched off", func(h *wrapHome) {
			h.replace(".claude/settings.json", `{`, `{"disableAllHooks":true,`)
		}, "no hook runs: disableAllHooks is true"},
		{"another matcher", func(h *wrapHome) {
			h.replace(".claude/settings.json", `"matcher":"*"`, `"matcher":"Bash"`)
		}, `matcher" of PreToolUse is "Bash": wrap writes "*"`},
		{"open when broken", func(h *wrapHome) {
			h.replace(".claude/settings.json", `,"onFailure":"block"`, ``)
		}, `PreToolUse has no "onFailure": wrap writes "block"`},
		{"a misspelt hook beside it", func(h *wrapHome) {
			h.replace(".claude/settings.json", `"PreToolUse": [`, `"Stop": [{"hooks":[{"type":"command","command":"x","onFailure":"deny"}]}], "PreToolUse": [`)
		}, `"onFailure" of a hook is "deny"`},
		{"a condition", func(h *wrapHome) {
			h.replace(".claude/settings.json", `"timeout":60`, `"if":"Bash(git *)","timeout":60`)
		}, `PreToolUse has "if", which wrap does not write`},
		{"another client's word", func(h *wrapHome) {
			h.replace(".claude/settings.json", `clawai-hook claude-code`, `clawai-hook codex`)
		}, `"command" of PreToolUse is`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newWrapHome(t)
			exectest.Write(t, filepath.Join(filepath.Dir(h.bin), "clawai-hook"), []byte("#!/bin/sh\nexit 2\n"))
			h.write(".claude/settings.json", `{}`)
			if out, errs, code := h.run("wrap", "--hooks", "claude-code"); code != 0 {
				t.Fatalf("exit %d, %s%s", code, out, errs)
			}
			if out, _, code := h.run("status", "--check"); code != 0 || !strings.Contains(out, "enforced by hook") {
				t.Fatalf("exit %d, %s", code, out)
			}
			tt.spoil(h)
			out, _, code := h.run("status", "--check")
			if flat := strings.Join(strings.Fields(out), " "); code != 1 || !strings.Contains(flat, tt.want) || !strings.Contains(flat, "hooks: drifted") {
				t.Errorf("exit %d, want %q in\n%s", code, tt.want, out)
			}
			if out, _, code := h.run("doctor"); code != 1 || !strings.Contains(out, "clawai wrap --hooks claude-code") {
				t.Errorf("doctor: exit %d\n%s", code, out)
			}
		})
	}
}

// A client that was used while its hook said nothing is the alarm.
func TestAHookThatNeverFires(t *testing.T) {
	h := manyHooks(t)
	if out, _, _ := h.run("doctor", "--hooks"); strings.Contains(out, "was used today") {
		t.Errorf("nobody has used anything\n%s", out)
	}
	h.write(".claude/projects/app/session.jsonl", "{}")
	out, _, _ := h.run("doctor", "--hooks")
	if flat := strings.Join(strings.Fields(out), " "); !strings.Contains(flat, "Claude Code was used today") || !strings.Contains(flat, "and its hook never fired") {
		t.Errorf("no alarm\n%s", out)
	}
	record := &day{home: h.dir, at: time.Now().Add(-time.Minute)}
	record.add(0, event.Event{Kind: event.Decision, Server: "claude-code", Method: "tools/call", Subject: "tool", Names: []string{"Read"}, Decision: "deny"})
	record.write(t)
	if out, _, _ := h.run("doctor", "--hooks"); strings.Contains(out, "was used today") || !strings.Contains(out, "last fired on") {
		t.Errorf("it has fired\n%s", out)
	}
}

func (h *wrapHome) replace(name, old, text string) {
	h.t.Helper()
	before := readHome(h.t, h.dir, name)
	if after := strings.Replace(before, old, text, 1); after != before {
		h.write(name, after)
		return
	}
	h.t.Fatalf("%s lacks %s:\n%s", name, old, before)
}

func (h *wrapHome) remove(name string) {
	h.t.Helper()
	if err := os.Remove(filepath.Join(h.dir, name)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *wrapHome) chmod(name string, mode os.FileMode) {
	h.t.Helper()
	if err := os.Chmod(filepath.Join(h.dir, name), mode); err != nil {
		h.t.Fatal(err)
	}
}
