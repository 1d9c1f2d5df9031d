package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap"
)

// hasOurHooks reports whether a client already has our hooks.
func (r *initRun) hasOurHooks() (bool, error) {
	all, err := r.FindHooks()
	return slices.ContainsFunc(all, func(h wrap.Hooks) bool {
		state, _ := r.Judge.HookState(h, all)
		return state != wrap.HookBare && state != wrap.HookUnreadable
	}), err
}

// offerHooks plans hooks for the clients on this machine, if --hooks is set or the person wants
// them.
func (r *initRun) offerHooks(servers []wrap.Change) ([]wrap.Change, []error, error) {
	asked := r.c.Bool("hooks")
	all, err := r.FindHooks()
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(h wrap.Hooks) bool { return r.selection.Client != "" && h.Row.Client != r.selection.Client })
	if _, err := r.Judge.Program.HookPath(); err != nil {
		if asked {
			return nil, nil, err
		}
		for _, h := range all {
			r.bareClients = append(r.bareClients, h.Row.Name)
		}
		r.hookFault = err
		return nil, nil, nil
	}
	changes, refused := r.Judge.PlanHooks(wrap.Wrap, all, servers)
	if len(changes) == 0 || asked {
		r.plan.agents = r.plan.agents || len(changes) > 0
		return changes, refused, nil
	}
	for _, c := range changes {
		r.hooked = append(r.hooked, c.Hook.Name)
	}
	if r.hooked = dropRepeats(r.hooked); !r.terminal {
		return nil, nil, nil
	}
	then := "Your policy gets rules for them, if it opens none of their tools."
	switch {
	case r.Judge.Observe:
		then = "They are only watched then, as the servers are."
	case !r.kept:
		then = "The policy gets rules for them: reading and building pass, keys stay shut, you are asked about the rest."
	}
	answer, err := r.askLine(fmt.Sprintf("\n%s can call clawai before each built-in tool as well: shell, editor, web.\n%s Put the hooks in now? [y/N] ", strings.Join(r.hooked, ", "), then))
	if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
		return nil, nil, nil
	}
	r.hooked, r.plan.agents = nil, true
	return changes, refused, nil
}
