//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/scripted"
)

const agentRules = `
[[rule]]
action = "deny"
tool = "shell"
args.command = "touch denied"
description = "Not this file"

[[rule]]
action = "prompt"
tool = "shell"
args.command = "touch asked-*"

[[rule]]
action = "allow"
tool = "shell"
args.command = "touch *"
`

// fault is what goes wrong while an agent asks its hook whether it may make the file of
// that name.
type fault struct {
	name string
	runs string                           // the clients that make the file; "all", or by their ids
	why  string                           // what the agent is told where it does not; "" where only the client speaks
	make func(s *agentSite) (undo func()) // nil where it cannot be made here
}

var faults = []fault{
	{name: "allowed", runs: "all"},
	{name: "denied", why: "Not this file"},
	{name: "no-policy", why: "policy.toml", make: func(s *agentSite) func() { return s.moved(".config/clawai/policy.toml") }},
	{name: "broken-policy", why: "policy.toml", make: func(s *agentSite) func() {
		s.write(".config/clawai/policy.toml", "[[rule]]\naction = \"alow\"\n")
		return func() { s.write(".config/clawai/policy.toml", agentRules) }
	}},
	{name: "allowed-between", runs: "all"},
	{name: "state-is-a-file", why: "state", make: func(s *agentSite) func() {
		back := s.moved(".local/state/clawai")
		s.write(".local/state/clawai", "")
		return func() {
			s.remove(".local/state/clawai")
			back()
		}
	}},
	{name: "state-read-only", why: "record", make: func(s *agentSite) func() { return s.mounted(unix.MS_RDONLY, "mode=0700", 0) }},
	{name: "disk-full", why: "record", make: func(s *agentSite) func() { return s.mounted(0, "mode=0700,size=65536", 65536) }},
	{name: "asked-terminated", why: "Refused", make: func(s *agentSite) func() { return s.whileAsked(syscall.SIGTERM) }},
	{name: "asked-killed", runs: "codex gemini", make: func(s *agentSite) func() { return s.whileAsked(syscall.SIGKILL) }},
	{name: "no-program", runs: "codex", make: func(s *agentSite) func() { return s.moved("bin/clawai-hook") }},
	{name: "allowed-at-last", runs: "all"},
}

// TestAgentFaults holds of each real agent what docs/hooks.md says of it: none runs a
// tool because clawai is broken in a way in which its hook can still answer; and those
// that close run none when it cannot. All faults meet one run of the agent, in turn.
func TestAgentFaults(t *testing.T) {
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			var s agentSite
			model := &scripted.Model{}
			for _, f := range faults {
				model.Turns = append(model.Turns, scripted.Turn{Tool: a.shell, Args: object{a.argument: "touch " + f.name}})
			}
			var undo func()
			model.Before = func(n int) {
				undo = func() {}
				if f := faults[n]; f.make != nil {
					undo = f.make(&s)
				}
			}
			seen := 0
			model.After = func(n int, answer string) {
				seen++
				if undo == nil {
					return
				}
				undo()
				s.holds(&faults[n], answer)
			}
			s = newAgentSite(t, a, serve(t, model), agentRules)
			s.play()
			if seen != len(faults) || model.Asked() != len(faults)+1 {
				t.Errorf("%d of %d calls were answered", seen, len(faults))
			}
			s.must(clawai, "log", "verify")
			if out := s.must(clawai, "log", "--decision", "allow", "--json"); strings.Count(out, "touch allowed") != 3 {
				t.Errorf("recorded\n%s", out)
			}
			if out := s.must(clawai, "log", "--json"); strings.Count(out, "builtin/prompt") != 1 || strings.Contains(out, "go on") {
				t.Errorf("recorded\n%s", out)
			}
		})
	}
}

// TestAgentUnreviewed: Codex runs no hook that nobody has reviewed, and status says so.
func TestAgentUnreviewed(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(agents, func(a agent) bool { return a.id == "codex" })
	a := agents[i]
	a.command = slices.DeleteFunc(slices.Clone(a.command), func(word string) bool { return word == "--dangerously-bypass-hook-trust" })
	f := fault{name: "denied", runs: "codex"}
	var s agentSite
	model := &scripted.Model{Turns: []scripted.Turn{{Tool: a.shell, Args: object{a.argument: "touch " + f.name}}}}
	model.After = func(_ int, answer string) { s.holds(&f, answer) }
	s = newAgentSite(t, a, serve(t, model), agentRules)
	s.play()
	if out, err := s.run(filepath.Join(s.bin, "clawai"), "status", "--check"); err == nil || !strings.Contains(out, "not trusted yet") {
		t.Errorf("%v\n%s", err, out)
	}
}

// holds compares what happened with what should.
func (s *agentSite) holds(f *fault, answer string) {
	_, err := os.Stat(filepath.Join(s.projects(), f.name))
	ran, should := err == nil, f.runs == "all" || strings.Contains(f.runs, s.id)
	if ran != should || !ran && !strings.Contains(answer, f.why) {
		s.t.Errorf("%s: the tool ran: %v, and should: %v; the agent was told %s", f.name, ran, should, answer)
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

// whileAsked signals the hook as soon as somebody can answer its question.
func (s *agentSite) whileAsked(sig syscall.Signal) (undo func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for list := ""; !strings.Contains(list, "wants to"); time.Sleep(20 * time.Millisecond) {
			if s.t.Context().Err() != nil {
				return
			}
			list, _ = s.run(clawai, "approve", "--list")
		}
		s.signal("clawai-hook", sig)
		if sig == syscall.SIGKILL {
			s.signal("clawai", sig) // which asks on its behalf
		}
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
