package wrapcmd

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/wrap"
)

// pickTargets chooses the mode and the servers, from the command line or by asking the person.
func (r *initRun) pickTargets() error {
	if r.mode == "" && r.terminal && len(r.pendingTargets(modeAsk)) > 0 {
		answer, err := r.askLine(modeQuestion)
		if err != nil {
			return errLeft
		}
		if r.mode = modeNamed(answer); r.mode == "" {
			return cmdline.Usagef("%q is not ask, strict or observe; nothing was written", answer)
		}
	}
	if r.mode == "" {
		r.mode = modeAsk
	}
	r.targets = r.pendingTargets(r.mode)
	r.Judge.Observe = r.mode == modeObserve
	found := len(r.targets)
	var err error
	if r.terminal && found > 0 {
		err = r.chooseInitServers()
	} else {
		err = r.narrowTargets()
	}
	r.all = len(r.targets) == found
	return err
}

// pendingTargets returns the servers that init would change in this mode.
func (r *initRun) pendingTargets(mode initMode) []wrap.Target {
	judge := r.Judge
	judge.Observe = mode == modeObserve
	return r.bareTargets(judge, r.selection)
}

// bareTargets returns the servers that wrap would change as judge says.
func (f *Found) bareTargets(judge wrap.Planner, s wrap.Selection) []wrap.Target {
	return slices.DeleteFunc(wrap.SelectTargets(f.Places, s), func(t wrap.Target) bool { return !judge.ChangesTarget(wrap.Wrap, t) })
}

// The commands that write a first policy.
const (
	initServers = "clawai init"
	initHooks   = "clawai init --hooks"
	initProfile = "clawai policy init --profile "
)

// FirstPolicyCommand returns the command for a machine that has no policy yet. "clawai init" writes a
// policy only if there is a server or an agent that it can put clawai in front of.
func (f *Found) FirstPolicyCommand() string {
	if len(f.bareTargets(f.Judge, wrap.Selection{})) > 0 {
		return initServers
	}
	if hooks, err := f.FindHooks(); err == nil {
		if changes, _ := f.Judge.PlanHooks(wrap.Wrap, hooks, nil); len(changes) > 0 {
			return initHooks
		}
	}
	return initProfile + "NAME; clawai policy init --list shows the names"
}

const modeQuestion = `
How to start?
  ask      known servers get their own rules, others are asked for call by call
  strict   known servers get their own rules, others are refused
  observe  nothing is enforced: watch first, enforce later
Mode [ask]: `

// modeNamed returns the mode that an answer names, or "". The start of a mode's name is enough.
func modeNamed(answer string) initMode {
	answer = strings.ToLower(answer)
	if answer == "" {
		return modeAsk
	}
	for _, m := range initModes {
		if strings.HasPrefix(string(m), answer) {
			return m
		}
	}
	return ""
}

// chooseInitServers asks the person which servers to wrap. A server in a file that git tracks is
// not selected in advance.
func (r *initRun) chooseInitServers() (err error) {
	r.targets, err = r.chooseTargets("Put clawai in front of which servers?", r.targets, func(t wrap.Target) bool { return !t.File.Tracked })
	if err == nil && len(r.targets) == 0 {
		return choose.ErrLeft
	}
	return err
}

// narrowTargets chooses the servers if no person can be asked.
func (r *initRun) narrowTargets() error {
	all := len(r.targets)
	r.targets = slices.DeleteFunc(r.targets, func(t wrap.Target) bool { return t.File.Tracked })
	r.shared = all - len(r.targets)
	var clients []string
	for _, t := range r.targets {
		clients = append(clients, t.File.Row.Client)
	}
	slices.Sort(clients)
	if clients = slices.Compact(clients); len(clients) > 1 && r.c.String("client") == "" && !r.dryRun {
		return cmdline.Usagef("which client's servers? --client all, or one of %s", strings.Join(clients, ", "))
	}
	return nil
}
