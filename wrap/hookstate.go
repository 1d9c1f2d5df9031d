package wrap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// HookState is the state of a client's hooks.
type HookState string

// Values of HookState.
const (
	HookEnforced   HookState = "enforced"   // every tool call waits for clawai-hook, and is blocked if the hook fails
	HookOpen       HookState = "open"       // every tool call waits for clawai-hook, but runs if the hook fails
	HookUntrusted  HookState = "untrusted"  // the client only runs reviewed hooks, and nobody has reviewed ours
	HookObserved   HookState = "observed"   // every tool call is judged and recorded, but never blocked
	HookDrifted    HookState = "drifted"    // the hooks were installed, but differ now from what wrap writes
	HookBare       HookState = "bare"       // clawai-hook is not installed
	HookUnreadable HookState = "unreadable" // the file cannot be read
)

// StateText returns the state in words for a person.
func (s HookState) StateText() string {
	return map[HookState]string{
		HookEnforced: "enforced by hook (blocks when broken)", HookOpen: "hook, open when broken", HookUntrusted: "hook not trusted yet",
		HookObserved: "observed", HookDrifted: "drifted", HookBare: "not covered", HookUnreadable: "unreadable",
	}[s]
}

// IsCovered reports whether the client calls clawai-hook and obeys its answer.
func (s HookState) IsCovered() bool { return s == HookEnforced || s == HookOpen }

// HookState returns the state of a client's hooks, and a reason if the state needs one, otherwise
// "". The parameter all is the result of FindHooks.
func (pl Planner) HookState(h Hooks, all []Hooks) (HookState, string) {
	if len(h.Row.Through) > 0 {
		return pl.sharedHookState(h, all)
	}
	for _, f := range h.Files {
		if f.Err != nil {
			return HookUnreadable, f.Err.Error()
		}
	}
	if differs := pl.HookDiffers(h); len(differs) > 0 {
		return HookDrifted, strings.Join(differs, "; ")
	}
	if h.countOurs() == 0 {
		if h.Err != nil {
			return HookBare, h.Err.Error()
		}
		return HookBare, ""
	}
	switch {
	case h.Trust == client.Untrusted:
		return HookUntrusted, h.Row.After
	case slices.ContainsFunc(h.Files, func(f HookFile) bool { return f.Hooked.Observe }):
		return HookObserved, "NOTHING IS ENFORCED: every tool runs"
	case h.Row.Blocks == "":
		why := h.Row.Broken
		if h.Trust == client.TrustUnknown {
			why += "; whether it is trusted is not known"
		}
		return HookOpen, why
	case h.Row.Blocks == "always":
		return HookEnforced, ""
	}
	return HookEnforced, "by " + h.Row.Name + " " + h.Row.Blocks + " and later; clawai doctor --hooks looks which one is here"
}

// sharedHookState returns the state of a client that runs the hooks of another client.
func (pl Planner) sharedHookState(h Hooks, all []Hooks) (HookState, string) {
	covered := map[string]bool{}
	for _, other := range all {
		if len(other.Row.Through) > 0 {
			continue
		}
		state, why := pl.HookState(other, all)
		if state == HookObserved && slices.Contains(h.Row.Through, other.Row.Client) {
			return state, why
		}
		covered[other.Row.Client] = state.IsCovered()
	}
	for _, other := range all {
		if covered[other.Row.Client] && slices.Contains(h.Row.Through, other.Row.Client) {
			return HookOpen, fmt.Sprintf("it runs the hooks of %s; %s%s", other.Row.Name, h.Row.Broken, openTargets(h.Row, covered))
		}
	}
	return HookBare, "it runs the hooks of " + strings.Join(h.Row.Through, " or ")
}

// openTargets returns the names of the agents that a session of the client may use and that do not
// call our hook. The map covered has an entry for each client on this machine: true if this client
// calls our hook and obeys the answer.
func openTargets(row client.HookRow, covered map[string]bool) string {
	var open []string
	for _, target := range row.Targets {
		if slices.ContainsFunc(target.Through, func(word string) bool { return covered[word] }) {
			continue
		}
		here := slices.DeleteFunc(slices.Clone(target.Through), func(word string) bool { _, here := covered[word]; return !here })
		switch {
		case len(target.Through) == 0:
			open = append(open, target.Name)
		case len(here) > 0:
			open = append(open, target.Name+" (clawai wrap --hooks "+here[0]+")")
		}
	}
	if len(open) == 0 {
		return ""
	}
	return "; no hook judges a session whose target is " + strings.Join(open, ", ")
}

// HookDiffers returns how a client's hooks differ from those that wrap would write. It returns nil
// if they do not differ, or if they were never installed.
func (pl Planner) HookDiffers(h Hooks) (all []string) {
	was, ours := false, 0
	for _, f := range h.Files {
		all = append(all, f.Hooked.Differs...)
		ours += len(f.Hooked.Ours)
		was = was || slices.ContainsFunc(f.Events, func(event string) bool { return pl.Journal[journalKey(f.Real, hookKey(event))] })
	}
	switch {
	case ours == 0 && was:
		return []string{"clawai-hook was put there, and something took it out"}
	case ours == 0:
		return nil
	}
	for _, f := range h.Files {
		if len(f.Hooked.Ours) == 0 {
			all = append(all, "no hook at "+strings.Join(f.Events, ", "))
		}
		if f.Hooked.Off != "" {
			all = append(all, "no hook runs: "+f.Hooked.Off)
		}
		for _, err := range f.Hooked.Broken {
			if h.Row.BadDrops {
				all = append(all, "perhaps no hook of the file runs: "+err.Error())
			}
		}
	}
	if h.Err != nil {
		all = append(all, h.Err.Error())
	}
	if _, err := pl.Program.HookPath(); err != nil {
		all = append(all, err.Error())
	}
	return all
}

func (h Hooks) countOurs() (n int) {
	for _, f := range h.Files {
		n += len(f.Hooked.Ours)
	}
	return n
}

// hookKey returns the key of an event in the journal.
func hookKey(event string) []string { return []string{"hooks", event} }

// PlanHooks plans the changes of an operation on hooks. If a file of one client cannot be edited,
// errs gets an error for this client, and the other clients are still planned. If the list before
// has a change of the same file, PlanHooks starts from the result of that change, because
// ApplyChanges writes all changes of a file at once.
func (pl Planner) PlanHooks(op Op, all []Hooks, before []Change) (changes []Change, errs []error) {
	program, err := pl.Program.HookPath()
	if op == Wrap && err != nil {
		return nil, []error{err}
	}
	for _, h := range all {
		if op == Wrap && h.Err != nil {
			errs = append(errs, h.Err)
			continue
		}
		for i, f := range h.Files {
			for _, c := range slices.Concat(before, changes) {
				if c.Real == f.Real {
					h.Files[i].src, h.Files[i].Absent = c.After, c.Gone
				}
			}
		}
		planned, failed := pl.planHooks(op, h, client.HookStart{Path: program, Observe: pl.Observe})
		errs = append(errs, failed...)
		if len(failed) == 0 { // plan all events or none, because hooks for some events do not cover the client
			changes = append(changes, planned...)
		}
	}
	return changes, errs
}

func (pl Planner) planHooks(op Op, h Hooks, start client.HookStart) (changes []Change, errs []error) {
	for _, f := range h.Files {
		after, err := f.applyOp(op, start)
		if op == Unwrap && f.Row.Format != client.TOML && pl.Journal.hasMadeFile(f.Real, f.src) {
			after, err = nil, nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Path, err))
			continue
		}
		if string(after) == string(f.src) && (after == nil) == f.Absent {
			continue
		}
		c := Change{
			Op: op, Path: f.Path, Real: f.Real, Before: f.src, After: after,
			Hook: &f.Row, Absent: f.Absent, Gone: after == nil, Program: f.Row.Format == client.Script,
		}
		for _, err := range f.Hooked.Broken {
			c.Notes = append(c.Notes, fmt.Sprintf("a hook that %s cannot read: %v", f.Row.Name, err))
		}
		row := client.Row{Client: f.Row.Client, Name: f.Row.Name, Restart: f.Row.After, Confidence: f.Row.Confidence}
		for _, event := range slices.Backward(f.Events) {
			c.Edits = append(c.Edits, Edit{Row: row, Entry: client.Entry{Name: event, KeyPath: hookKey(event), Line: 1}})
		}
		changes = append(changes, c)
	}
	return changes, errs
}

// applyOp returns the content of the file after an operation; nil if the file does not exist then.
func (f HookFile) applyOp(op Op, start client.HookStart) ([]byte, error) {
	switch {
	case f.Err != nil:
		return nil, f.Err
	case op == Unwrap && f.Absent:
		return nil, nil
	case op == Unwrap:
		return client.TakeHooks(f.Row, f.src, f.Events)
	}
	if len(f.Hooked.Broken) > 0 && f.Row.BadDrops {
		return nil, fmt.Errorf("%s may run no hook of this file: %w", f.Row.Name, errors.Join(f.Hooked.Broken...))
	}
	if f.Hooked.Off != "" {
		return nil, fmt.Errorf("%s runs no hook, as %s here; take that out first", f.Row.Name, f.Hooked.Off)
	}
	src := f.src
	if f.Absent {
		src = nil
	}
	return client.PutHooks(f.Row, src, f.Events, start)
}
