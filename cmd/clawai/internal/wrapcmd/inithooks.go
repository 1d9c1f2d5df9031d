package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap"
)

// offerHooks plans the hooks of the clients here that have them, when a person wants that
// or --hooks says so.
func (r *initRun) offerHooks() ([]wrap.Change, []error, error) {
	asked := r.c.Bool("hooks")
	if _, err := r.Judge.Program.Hook(); err != nil {
		if asked {
			return nil, nil, err
		}
		return nil, nil, nil
	}
	all, err := r.Hooks()
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(h wrap.Hooks) bool { return r.selection.Client != "" && h.Row.Client != r.selection.Client })
	changes, refused := r.Judge.PlanHooks(wrap.Wrap, all)
	if len(changes) == 0 || asked {
		return changes, refused, nil
	}
	r.hooked = clientsOf(changes)
	if !r.terminal || len(r.targets) == 0 && !r.kept {
		return nil, nil, nil
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Hook.Name)
	}
	then := "A tool that no rule opens is refused then, also to an agent at work."
	if r.Judge.Observe {
		then = "They are only watched then, as the servers are."
	}
	answer, err := r.ask(fmt.Sprintf("\n%s can call clawai before each tool of their own as well: shell, editor, web.\n%s Put the hooks in now? [y/N] ", strings.Join(compact(names), ", "), then))
	if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
		return nil, nil, nil
	}
	r.hooked = nil
	return changes, refused, nil
}
