//go:build e2e

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/testing/exectest"
)

const agentRules = `
[[rule]]
action = "deny"
tool = "shell"
args.command = "touch denied*"
description = "Not this file"

[[rule]]
action = "prompt"
tool = "shell"
args.command = "touch asked-*"

[[rule]]
action = "allow"
tool = "shell"
args.command = "touch *"

[[rule]]
action = "allow"
tool = "agent"
`

// faults are what goes wrong while an agent asks its hook.
var faults = []agentStep{
	{name: "allowed", runs: "all"},
	{name: "denied", row: "nothing: the policy denies", why: "Not this file"},
	{name: "no-policy", row: "no policy, or one that does not load", why: "policy.toml", make: func(s *agentSite) func() { return s.moved(".config/clawai/policy.toml") }},
	{name: "broken-policy", row: "no policy, or one that does not load", why: "policy.toml", make: func(s *agentSite) func() {
		s.write(".config/clawai/policy.toml", "[[rule]]\naction = \"alow\"\n")
		return func() { s.write(".config/clawai/policy.toml", agentRules) }
	}},
	{name: "allowed-between", runs: "all"},
	{name: "state-is-a-file", row: "the record: no folder, read-only, disk full", why: "state", make: func(s *agentSite) func() {
		back := s.moved(".local/state/clawai")
		s.write(".local/state/clawai", "")
		return func() {
			s.remove(".local/state/clawai")
			back()
		}
	}},
	{name: "state-read-only", row: "the record: no folder, read-only, disk full", why: "record", make: func(s *agentSite) func() { return s.mounted(unix.MS_RDONLY, "mode=0700", 0) }},
	{name: "disk-full", row: "the record: no folder, read-only, disk full", why: "record", make: func(s *agentSite) func() { return s.mounted(0, "mode=0700,size=65536", 65536) }},
	{name: "asked-terminated", row: "the hook is terminated while it asks", why: "Refused", make: func(s *agentSite) func() {
		return s.whileAsked(func(string) { s.signal("clawai-hook", syscall.SIGTERM) })
	}},
	{name: "asked-killed", row: "the hook is killed while it asks (nobody is asked any longer)", runs: "codex gemini cline qwen kimi", make: func(s *agentSite) func() {
		return s.whileAsked(func(string) {
			s.signal("clawai-hook", syscall.SIGKILL)
			s.signal("clawai", syscall.SIGKILL) // which asks on its behalf
		})
	}},
	{name: "killed", row: "it is killed at once", runs: "codex gemini cline qwen kimi", make: hookSays("kill -9 $$")},
	{name: "no-program", row: "the program is gone", runs: "codex cline qwen kimi", make: func(s *agentSite) func() { return s.moved("bin/clawai-hook") }},
	{name: "exits-1", row: "it complains and exits with 1", runs: "codex gemini cline qwen kimi", make: hookSays("echo noise; echo trouble >&2; exit 1")},
	{name: "exits-2", row: "it complains and exits with 2, without an answer", ends: []string{"qwen"}, runs: "cline", make: hookSays("echo trouble >&2; exit 2")},
	{name: "rubbish", row: "it prints rubbish and exits with 0", runs: "claude-code codex gemini copilot-cli cline qwen kimi", make: hookSays("echo '{rubbish'")},
	{name: "allowed-at-last", runs: "all"},
}

// slowFault takes longer than a client waits.
var slowFault = []agentStep{{name: "slow", row: "it takes longer than the client waits", runs: "codex gemini copilot-cli qwen kimi", make: hookSays("exec sleep 15")}}

// hookSays puts a script where the hook was, which has read what the client tells it.
func hookSays(line string) func(s *agentSite) (undo func()) {
	return func(s *agentSite) func() {
		back := s.moved("bin/clawai-hook")
		exectest.Write(s.t, s.path("bin/clawai-hook"), []byte("#!/bin/sh\ncat >/dev/null\n"+line+"\n"))
		return func() {
			s.remove("bin/clawai-hook")
			back()
		}
	}
}

// TestAgentFaults holds of each real agent what docs/hooks.md says of it: none runs a
// tool because clawai is broken in a way in which its hook can still answer; and those
// that close run none when it cannot.
func TestAgentFaults(t *testing.T) {
	for _, a := range allAgents() {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			m := &models{}
			s := newAgentSite(t, a, serve(t, m), agentRules)
			s.walk(m, faults)
			s.must(clawai, "log", "verify")
			if out := s.must(clawai, "log", "--decision", "allow", "--json"); strings.Count(out, "touch allowed") != 3 {
				t.Errorf("recorded\n%s", out)
			}
			if out := s.must(clawai, "log", "--json"); !s.stops && !strings.Contains(out, "builtin/prompt") || strings.Contains(out, "go on") {
				t.Errorf("recorded\n%s", out)
			}
			if s.limit != "" {
				s.hasten()
				s.walk(m, slowFault)
			}
		})
	}
}

// hasten has the client wait for its hook for a short time only.
func (s *agentSite) hasten() {
	s.t.Helper()
	changed := false
	err := filepath.WalkDir(s.path(s.folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		limit := regexp.MustCompile(strings.Replace(s.limit, ":", ": ?", 1)) // Qwen Code sets its file in lines
		if err != nil || !strings.Contains(string(text), "clawai-hook") || !limit.Match(text) {
			return err
		}
		changed = true
		return os.WriteFile(path, limit.ReplaceAll(text, []byte(s.short)), 0o600)
	})
	if err != nil || !changed {
		s.t.Errorf("no entry says %s: %v", s.limit, err)
	}
}

// TestAgentUnreviewed: Codex runs no hook that nobody has reviewed, and status says so.
func TestAgentUnreviewed(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(agents, func(a agent) bool { return a.id == "codex" })
	a := agents[i]
	a.command = slices.DeleteFunc(slices.Clone(a.command), func(word string) bool { return word == "--dangerously-bypass-hook-trust" })
	m := &models{}
	s := newAgentSite(t, a, serve(t, m), agentRules)
	s.walk(m, []agentStep{{name: "denied", runs: "codex"}})
	if out, err := s.run(filepath.Join(s.bin, "clawai"), "status", "--check"); err == nil || !strings.Contains(out, "not trusted yet") {
		t.Errorf("%v\n%s", err, out)
	}
}

func (s *agentSite) path(name string) string { return filepath.Join(s.home, name) }

func (s *agentSite) remove(name string) {
	if err := os.Remove(s.path(name)); err != nil {
		s.t.Error(err)
	}
}

// moved takes a file away.
func (s *agentSite) moved(name string) (undo func()) {
	rename := func(from, to string) {
		if err := os.Rename(s.path(from), s.path(to)); err != nil {
			s.t.Error(err)
		}
	}
	rename(name, name+".away")
	return func() { rename(name+".away", name) }
}

// mounted puts another file system, of which so much is taken, where the record lies.
func (s *agentSite) mounted(flags uintptr, options string, taken int) (undo func()) {
	dir := s.path(".local/state/clawai")
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		s.t.Logf("not tried, for nothing can be mounted here: %v", err)
		return nil
	}
	if taken > 0 {
		if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, taken), 0o600); err != nil {
			s.t.Error(err)
		}
	}
	return func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	}
}

// whileAsked does something as soon as somebody can answer the hook's question.
func (s *agentSite) whileAsked(do func(id string)) (undo func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		list := ""
		for ; !strings.Contains(list, "wants to"); time.Sleep(20 * time.Millisecond) {
			if s.t.Context().Err() != nil {
				return
			}
			list, _ = s.run(clawai, "approve", "--list")
		}
		id, _, _ := strings.Cut(list, " ")
		do(id)
	}()
	return func() { <-done }
}

// signal signals the processes of the site that run this program.
func (s *agentSite) signal(program string, sig syscall.Signal) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if path, err := os.Readlink(link); err != nil || path != filepath.Join(s.bin, program) {
			continue // another's, or ended meanwhile
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			_ = syscall.Kill(pid, sig) // one that has ended by itself shows in what the agent did
		}
	}
}
