package wrap

import (
	"slices"

	"github.com/clawai/clawai/wrap/client"
)

// State is how a server stands.
type State string

// The states. Bare and Drifted servers should be wrapped and are not.
const (
	Wrapped   State = "wrapped"
	Observed  State = "observed" // wrapped to watch: nothing is enforced
	Bare      State = "bare"
	Drifted   State = "drifted"       // wrapped once, and no longer as it should be
	Uncovered State = "not coverable" // not by an edit of this file
)

// Judge tells the state of servers.
type Judge struct {
	Program Program
	Journal Journal
	Observe bool // Wrap puts in proxies that enforce nothing
	Front   Front
}

// State is the state of an entry of a place, and why when that is not plain.
func (j Judge) State(p *Place, e client.Entry) (State, string) {
	switch {
	case e.Kind == client.Other:
		return Uncovered, e.Why
	case e.Wrapped == nil && p.Row.ReadOnly:
		return Uncovered, "clawai does not edit this file: " + p.Row.Restart
	case e.Wrapped == nil && e.Problem != nil && !j.Front.redirects(e):
		return Uncovered, e.Problem.Error()
	case e.Wrapped == nil && j.Journal.wrapped(p.Real, e):
		return Drifted, "it was wrapped, and something took the wrapper out"
	case e.Wrapped == nil:
		return Bare, ""
	}
	if e.Wrapped.Front != "" {
		return j.Front.state(e)
	}
	if err := j.Program.startable(e.Wrapped.Path); err != nil {
		return Drifted, err.Error()
	}
	if e.Wrapped.Outdated {
		return Drifted, outdated(e)
	}
	if observes(e) {
		return Observed, "NOTHING IS ENFORCED: every call passes"
	}
	return Wrapped, ""
}

func outdated(e client.Entry) string {
	switch e.Wrapped.Server {
	case e.Name:
		return "the wrapper is written in an older way"
	case "":
		return "the wrapper does not tell the rules the server's name"
	}
	return "the wrapper tells the rules another server's name"
}

const observeFlag = "--observe"

func observes(e client.Entry) bool {
	return e.Wrapped != nil && slices.Contains(e.Wrapped.Flags, observeFlag)
}

// stale says that Wrap would change an entry.
func (j Judge) stale(p *Place, e client.Entry) bool {
	if e.Wrapped != nil && e.Wrapped.Front != "" {
		return false // in its other form
	}
	if e.Wrapped == nil || e.Wrapped.Outdated || observes(e) != j.Observe {
		return true
	}
	path, err := j.Program.For(p)
	return err != nil || path != e.Wrapped.Path
}
