package doctorcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/wrap"
)

// checkHooks returns findings about hooks that do not work. With --hooks it returns findings about
// every client's hooks.
func checkHooks(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return hooksUnknown(p, p.foldersErr)
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return hooksUnknown(p, err)
	}
	list, err := f.FindHooks()
	if err != nil {
		return hooksUnknown(p, err)
	}
	covered := 0
	for _, h := range list {
		state, why := f.Judge.HookState(h, list)
		if state.IsCovered() {
			covered++
		}
		all = append(all, hookState(p, h, state, why)...)
		all = append(all, othersBroken(&f, h)...)
		if p.hooks && state != wrap.HookBare {
			all = append(all, findRewriters(&f, h)...)
			all = append(all, findHooklessProfiles(h)...)
		}
		if p.hooks && state.IsCovered() && len(h.Files) > 0 {
			all = append(all, lastFired(p, &f, h)...)
			all = append(all, playSamples(p.ctx, h)...)
			all = append(all, findUnreadable(p, h)...)
			all = append(all, checkTried(p.ctx, h)...)
		}
	}
	if program, err := f.Judge.Program.HookPath(); p.hooks && err == nil {
		all = append(healthyFinding("clawai-hook at %s, which others cannot write", f.ShortPath(program)), all...)
	} else if p.hooks {
		all = append([]finding{{Health: doubtful, Text: err.Error(), Fix: "install it beside clawai (docs/install.md)"}}, all...)
	}
	if all == nil {
		all = healthyFinding("%s clawai-hook, as wrap writes it", cmdline.CountText(covered, "1 client calls", "%d clients call"))
	}
	return all
}

// hooksUnknown returns a finding for an error, but only with --hooks. Without --hooks, other checks
// report the error.
func hooksUnknown(p *machine, err error) []finding {
	if !p.hooks {
		return nil
	}
	return []finding{{Health: broken, Text: "the clients' hooks cannot be looked at: " + err.Error(), Fix: "clawai doctor"}}
}

// hookState returns the findings about hooks in a given state. The parameter why is the reason for
// the state.
func hookState(p *machine, h wrap.Hooks, state wrap.HookState, why string) []finding {
	text := h.Row.Name + ": " + state.StateText()
	if why != "" {
		text += ": " + why
	}
	again := "clawai wrap --hooks " + h.Row.Client
	switch state {
	case wrap.HookDrifted:
		return []finding{{Health: broken, Text: text, Fix: again + "; or take it out: clawai unwrap --hooks " + h.Row.Client}}
	case wrap.HookUntrusted:
		return []finding{{Health: broken, Text: h.Row.Name + ": " + state.StateText() + ": it runs no hook that was not reviewed", Fix: h.Row.After}}
	case wrap.HookObserved:
		return []finding{{Health: doubtful, Text: text, Fix: again + ", to enforce the policy"}}
	case wrap.HookUnreadable:
		return []finding{{Health: doubtful, Text: text, Fix: "correct the file: clawai status names it"}}
	case wrap.HookBare:
		if p.hooks {
			return []finding{{Health: doubtful, Text: text + ": nothing judges the tools that it brings along", Fix: again}}
		}
	default:
		if p.hooks && h.Row.Blocks != "" && h.Row.Blocks != "always" {
			return checkVersion(p.ctx, h)
		}
		if p.hooks {
			return healthyFinding("%s", text)
		}
	}
	return nil
}

// othersBroken returns findings about hooks of other programs that the client cannot read.
func othersBroken(f *wrapcmd.Found, h wrap.Hooks) (all []finding) {
	for _, file := range h.Files {
		for _, err := range file.Hooked.Broken {
			all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%s, %s: a hook that %s cannot read", f.ShortPath(file.Path), err, h.Row.Name), Fix: "correct it"})
		}
	}
	return all
}

// findRewriters returns findings about other programs' hooks that run before a tool. Such a hook
// runs together with clawai-hook, and may change the arguments that clawai-hook has judged.
func findRewriters(f *wrapcmd.Found, h wrap.Hooks) (all []finding) {
	for _, file := range h.Files {
		var names []string
		for _, hook := range file.Hooked.Others {
			if slices.Contains(h.Row.ToolEvents(), hook.Event) {
				names = append(names, fmt.Sprintf("%s at %s (line %d)", programName(hook.Command), hook.Event, hook.Line))
			}
		}
		if len(names) > 0 {
			all = append(all, finding{Health: doubtful,
				Text: fmt.Sprintf("%s: other hooks run beside clawai-hook, and may rewrite what it has judged: %s in %s", h.Row.Name, strings.Join(names, ", "), f.ShortPath(file.Path)),
				Fix:  "see that none of them answers with other arguments (updatedInput, tool_input)"})
		}
	}
	return all
}

// findHooklessProfiles returns findings about the client's profiles in which no hook runs.
func findHooklessProfiles(h wrap.Hooks) (all []finding) {
	for _, why := range h.Without {
		all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%s: started with a profile it may run no hook: %s", h.Row.Name, why), Fix: "take that out, or start it without --profile"})
	}
	return all
}

// programName returns only the program of a command line, because the arguments may contain a
// secret.
func programName(line string) string {
	words := strings.Fields(strings.TrimPrefix(line, "exec "))
	if len(words) == 0 {
		return "a hook"
	}
	return fmt.Sprintf("%q", filepath.Base(strings.Trim(words[0], `"'`)))
}

// lastFired says when the client's hook last ran. It warns if the client was used today but the
// hook last ran more than a day before that.
func lastFired(p *machine, f *wrapcmd.Found, h wrap.Hooks) []finding {
	word := h.Row.HookWord()
	var fired time.Time
	for e, err := range audit.Read(filepath.Join(p.folders.State, "audit"), audit.Filter{Server: func(s string) bool { return s == word }, Last: 1}) {
		if err == nil && e.Kind != event.Segment {
			fired = e.Time
		}
	}
	used := f.LastUsed(h)
	const day = 24 * time.Hour
	switch {
	case time.Since(used) < day && fired.Before(used.Add(-day)):
		return []finding{{Health: doubtful,
			Text: fmt.Sprintf("%s was used today (%s), and its hook %s", h.Row.Name, used.Format(time.TimeOnly), renderFired(fired)),
			Fix:  "restart it, have it run a tool, and look: clawai log --server " + word + "; " + h.Row.After}}
	case fired.IsZero():
		return healthyFinding("%s: its hook has not fired yet", h.Row.Name)
	}
	return healthyFinding("%s: its hook last fired on %s", h.Row.Name, fired.Local().Format(time.DateTime))
}

func renderFired(fired time.Time) string {
	if fired.IsZero() {
		return "never fired"
	}
	return "last fired on " + fired.Local().Format(time.DateTime)
}
