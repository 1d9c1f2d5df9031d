package wrap

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// State is the state of a server.
type State string

// Values of State. Bare and Drifted servers should be wrapped but are not.
const (
	Wrapped   State = "wrapped"
	Observed  State = "observed"      // wrapped, but the wrapper only records and blocks nothing
	Bare      State = "bare"          // not wrapped
	Drifted   State = "drifted"       // was wrapped, but differs now from what wrap writes
	Uncovered State = "not coverable" // no edit of a file can put clawai in front of the server
)

// Planner finds the states of servers and plans their edits.
type Planner struct {
	Program   Program
	Journal   Journal
	Observe   bool // Wrap adds proxies that only record and block nothing
	HTTPProxy HTTPProxy
	Hub       *Hub // nil: the hub's configuration is unknown
	// If Secrets is nil, the planned edits keep the secrets and the references to the vault that
	// are in the files.
	Secrets Secrets
	Getenv  func(name string) string // returns a variable of the owner's environment; nil: unknown
}

// EntryState returns the state of an entry, and a reason if the state needs one, otherwise "".
func (pl Planner) EntryState(p *ConfigFile, e client.Entry) (State, string) {
	if differs := pl.FindDifferences(p, e); len(differs) > 0 {
		return Drifted, strings.Join(differs, "; ")
	}
	switch {
	case e.Kind == client.Other:
		return Uncovered, e.Why
	case e.Wrapped == nil && p.Row.ReadOnly:
		return Uncovered, "clawai does not edit this file: " + p.Row.Restart
	case e.Wrapped == nil && e.Problem != nil && !pl.HTTPProxy.redirectsEntry(e):
		return Uncovered, e.Problem.Error()
	case e.Wrapped == nil:
		if err := pl.checkWrappable(p, e); err != nil {
			return Bare, err.Error()
		}
		return Bare, ""
	case e.Wrapped.Observe:
		return Observed, "NOTHING IS ENFORCED: every call passes"
	case e.Wrapped.Hub && len(e.Wrapped.Only) > 0:
		return Wrapped, "the hub, with " + strings.Join(e.Wrapped.Only, ", ")
	case e.Wrapped.Hub:
		return Wrapped, "the hub, with all its servers"
	case e.Wrapped.ProxyURL != "":
		return Wrapped, "through your proxy at " + strings.TrimSuffix(e.Wrapped.ProxyURL, afterHost(e.Wrapped.ProxyURL))
	}
	return Wrapped, ""
}

// GuardsEntry reports whether calls to a server go through a proxy of ours that enforces the
// owner's rules. For an entry in a project's file, it returns true only if Wrap wrote the entry,
// because everybody who can write in the project could write such an entry.
func (pl Planner) GuardsEntry(p *ConfigFile, e client.Entry) bool {
	state, _ := pl.EntryState(p, e)
	own := p.Row.Scope != client.Project && p.Row.Scope != client.Workspace
	return state == Wrapped && (own || pl.Journal.hasWrapped(p.Real, e))
}

// FindDifferences returns how an entry that is or was wrapped differs from what wrap would write.
// It also reports an entry that starts clawai in another way, and an entry that two programs may
// read differently. It returns nil if it has nothing to report.
func (pl Planner) FindDifferences(p *ConfigFile, e client.Entry) (all []string) {
	was := pl.Journal.hasWrapped(p.Real, e)
	switch {
	case e.Unclear || e.Problem != nil && (was || e.NamesClawai || e.Wrapped != nil):
		all = append(all, e.Problem.Error())
	case e.Kind == client.Other && (was || e.NamesClawai):
		all = append(all, "clawai does not start as its entry is: "+e.Why)
	case e.Wrapped == nil && was && !p.Row.ReadOnly:
		all = append(all, "it was wrapped, and something took the wrapper out")
	case e.Wrapped == nil && e.NamesClawai:
		all = append(all, "it starts clawai, and not as a proxy before a server")
	}
	if e.Wrapped == nil {
		return all
	}
	if e.Wrapped.ProxyURL != "" {
		return append(append(all, e.Wrapped.Differs...), pl.HTTPProxy.findDifferences(p, e)...)
	}
	if err := pl.Program.checkStartable(e.Wrapped.Path); err != nil {
		all = append(all, err.Error())
	}
	if e.Wrapped.Hub && pl.Hub != nil {
		all = append(all, pl.Hub.findDifferences(p, e)...)
	}
	if pl.hasLostSandbox(p, e) {
		all = append(all, lostSandbox)
	}
	return append(append(all, e.Wrapped.Differs...), pl.checkVariables(p, e, e.Wrapped.Path)...)
}

const lostSandbox = "wrap carried the client's sandbox in the wrapper, and something took it out; unwrap, switch the sandbox on in the client's file if it is to stay, and wrap again"

// hasLostSandbox reports whether a wrapper has lost the rules of the client's sandbox that wrap
// wrote into it.
func (pl Planner) hasLostSandbox(p *ConfigFile, e client.Entry) bool {
	return e.Wrapped != nil && len(e.Sandbox) == 0 && pl.Journal.hasCarried(p.Real, e)
}

// checkWrappable returns the reason why an entry cannot be wrapped, such as a variable in its
// environment; nil if it can be.
func (pl Planner) checkWrappable(p *ConfigFile, e client.Entry) error {
	if pl.HTTPProxy.redirectsEntry(e) {
		return nil // no process is started, so the variables have no effect
	}
	command, err := pl.Program.StartCommand(p)
	if err != nil {
		return err
	}
	if !pl.Program.runsOnWindows() && e.Wrapped == nil && startsWindowsProgram(e.Command) {
		return fmt.Errorf("it starts %s, a Windows program, which clawai on this system cannot; run clawai on Windows for this file", e.Command)
	}
	if e.Kind == client.Stdio && e.Wrapped == nil && isClawai(e.Command) && len(e.Args) > 0 && e.Args[0] == "proxy" {
		return errors.New("it starts clawai proxy, and no server behind it; write: clawai proxy --server NAME -- COMMAND, or the command of the server alone")
	}
	if e.Kind == client.Stdio && e.Wrapped == nil && len(e.Args) == 0 && isCommandLine(e.Command) {
		return fmt.Errorf("its command is a whole command line (%s), which clawai would take for the name of a program; write the program alone as the command, and each further word as an argument", e.Command)
	}
	if e.Kind == client.Remote && e.Wrapped == nil {
		e.Env = nil // the client does not use the environment of a remote entry
	}
	if pl.hasLostSandbox(p, e) {
		return errors.New(lostSandbox)
	}
	if goos != "linux" && len(e.Sandbox) > 0 {
		return fmt.Errorf("%s starts it in a sandbox of its own, in which clawai cannot keep its record, and clawai's own sandbox was tried on Linux alone; leave the server to that sandbox, or switch it off there to have clawai judge the server's calls", p.Row.Name)
	}
	if steered := pl.checkVariables(p, e, command); len(steered) > 0 {
		return fmt.Errorf("%s; %s", strings.Join(steered, "; "), nextVariables)
	}
	return nil
}

// isCommandLine reports whether a command has the name of a program and more words. If the first
// word has a path separator or a quote, it returns false, because the command may be a path with
// blanks.
func isCommandLine(command string) bool {
	words := strings.Fields(command)
	return len(words) > 1 && !strings.ContainsAny(words[0], `/\"'`)
}

// CheckWrap returns the reason why Wrap does not edit an entry, so that only the owner can mend it;
// nil if Wrap does.
func (pl Planner) CheckWrap(p *ConfigFile, e client.Entry) error {
	_, err := pl.editTarget(Wrap, Target{File: p, Entry: e}, p.src)
	return err
}

// needsWrap reports whether Wrap would change an entry, or would return an error for it.
func (pl Planner) needsWrap(p *ConfigFile, e client.Entry) bool {
	if e.Wrapped == nil {
		return true
	}
	if e.Wrapped.ProxyURL != "" || e.Wrapped.Hub {
		return false // the entry is wrapped in another way: as a redirect or as the hub
	}
	if len(pl.FindDifferences(p, e)) > 0 || e.Wrapped.Observe != pl.Observe {
		return true
	}
	path, err := pl.Program.StartCommand(p)
	return err != nil || path != e.Wrapped.Path
}
