package wrapcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

func hooksFlag() cli.Flag {
	return &cli.BoolFlag{Name: "hooks", Usage: "instead of servers, the hooks of the clients that you name or choose"}
}

// checkHooks returns an error for options that cannot be used together with --hooks.
func checkHooks(c *cli.Context) error {
	for _, name := range []string{"client", "scope", "file", "remote", "listen"} {
		if c.Bool("hooks") && c.IsSet(name) {
			return cmdline.Usagef("--%s is about servers; with --hooks name the clients: clawai %s --hooks CLIENT", name, c.Command.Name)
		}
	}
	return nil
}

// FindHooks returns the hooks of all clients on this machine, and of the named clients.
func (f *Found) FindHooks(named ...string) ([]wrap.Hooks, error) {
	rows, err := client.HookRows()
	if err != nil {
		return nil, err
	}
	return wrap.FindHooks(f.env, rows, f.Judge.Program, named...), nil
}

// planHooks plans the changes for --hooks.
func (r *wrapRun) planHooks(ctx context.Context) ([]wrap.Change, []error, error) {
	words, err := hookClients(r.selection.Names)
	if err != nil {
		return nil, nil, err
	}
	all, err := r.FindHooks(words...)
	if err != nil {
		return nil, nil, err
	}
	if r.op == wrap.Wrap {
		if _, err := r.Judge.Program.HookPath(); err != nil {
			return nil, nil, err
		}
	}
	meant, err := r.selectHooks(all, words)
	if err != nil {
		return nil, nil, err
	}
	changes, refused := r.Judge.PlanHooks(r.op, meant, nil)
	if len(words) > 0 || r.all || len(changes) == 0 || len(changes) == 1 && !r.terminal {
		if len(changes) == 0 && len(refused) == 0 {
			r.tellHookStates(all, words)
		}
		return changes, refused, nil
	}
	if !r.terminal {
		return nil, nil, cmdline.Usagef("%s", r.hookChoices(changes))
	}
	chosen, err := r.chooseHooks(ctx, changes)
	return chosen, refused, err
}

// hookClients parses names of clients. It accepts the names of the catalogue and the names of
// clawai-hook.
func hookClients(names []string) (words []string, err error) {
	rows, err := client.HookRows()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, row := range rows {
		known = append(known, row.Client)
	}
	for _, name := range names {
		at := slices.IndexFunc(rows, func(row client.HookRow) bool { return row.Client == name || row.HookWord() == name })
		if at < 0 {
			slices.Sort(known)
			return nil, cmdline.Usagef("%s is not a client whose hooks clawai knows; they are %s", term.VisibleValue(name), strings.Join(known, ", "))
		}
		words = append(words, rows[at].Client)
	}
	return words, nil
}

// selectHooks returns the hooks of the named clients. Some clients also run the hooks of other clients
// (Row.Through). For a named client of this kind, selectHooks adds the hooks of the last client in Row.Through in
// two cases: if no hook covers the named client yet, and for unwrap.
func (r *wrapRun) selectHooks(all []wrap.Hooks, words []string) ([]wrap.Hooks, error) {
	if len(words) == 0 {
		return all, nil
	}
	for _, h := range all {
		if len(h.Row.Through) == 0 || !slices.Contains(words, h.Row.Client) {
			continue
		}
		if state, _ := r.Judge.HookState(h, all); state == wrap.HookBare || r.op == wrap.Unwrap {
			words = append(words, h.Row.Through[len(h.Row.Through)-1])
		}
	}
	more, err := r.FindHooks(words...)
	return slices.DeleteFunc(more, func(h wrap.Hooks) bool { return !slices.Contains(words, h.Row.Client) }), err
}

// tellHookStates prints the state of the hooks if there is nothing to change.
func (r *wrapRun) tellHookStates(all []wrap.Hooks, words []string) {
	told := 0
	for _, h := range all {
		if len(words) > 0 && !slices.Contains(words, h.Row.Client) {
			continue
		}
		told++
		state, why := r.Judge.HookState(h, all)
		fmt.Fprintf(r.prose, "%s: %s\n", h.Row.Name, appendReason(state.StateText(), why))
	}
	if told == 0 {
		fmt.Fprintln(r.prose, "No client that clawai knows hooks of is on this machine.")
	}
	fmt.Fprintf(r.prose, "Nothing to %s.\n", r.op)
}

func appendReason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + term.VisibleText(why)
}

func (r *wrapRun) hookChoices(changes []wrap.Change) string {
	var b strings.Builder
	b.WriteString("which client's hooks? name clients, or take all of them with --all:")
	for _, name := range clientsOf(changes) {
		fmt.Fprintf(&b, "\n  clawai %s --hooks %s", r.op, name)
	}
	return b.String()
}

// clientsOf returns the clients of the changes, without duplicates.
func clientsOf(changes []wrap.Change) (names []string) {
	for _, c := range changes {
		names = append(names, c.Hook.Client)
	}
	return dropRepeats(names)
}

func (r *wrapRun) chooseHooks(ctx context.Context, changes []wrap.Change) (chosen []wrap.Change, err error) {
	clients := clientsOf(changes)
	options := make([]choose.Option, len(clients))
	for i, name := range clients {
		at := slices.IndexFunc(changes, func(c wrap.Change) bool { return c.Hook.Client == name })
		options[i] = choose.Option{Label: fmt.Sprintf("%s  %s", changes[at].Hook.Name, r.ShortPath(changes[at].Path))}
	}
	question := "Put clawai-hook into which clients' hooks?"
	if r.op == wrap.Unwrap {
		question = "Take clawai-hook out of which clients' hooks?"
	}
	picked, err := chooseSeveral(ctx, question, options)
	if err != nil {
		return nil, err
	}
	if len(picked) == 0 {
		return nil, errors.New("nothing was chosen; Space chooses a client")
	}
	for _, c := range changes {
		if slices.ContainsFunc(picked, func(i int) bool { return clients[i] == c.Hook.Client }) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// tellHooks prints the change of one file of hooks, and what the person must do next.
func (r *wrapRun) tellHooks(c wrap.Change) {
	switch {
	case c.Gone:
		fmt.Fprintf(r.prose, "Removed %s, which held nothing but clawai-hook (%s).\n", r.ShortPath(c.Path), c.Hook.Name)
	case r.op == wrap.Unwrap:
		fmt.Fprintf(r.prose, "Took clawai-hook out of %s (%s).\n", r.ShortPath(c.Path), c.Hook.Name)
	default:
		fmt.Fprintf(r.prose, "Put clawai-hook into %s (%s): %s.\n", r.ShortPath(c.Path), c.Hook.Name, joinNames(c.ServerNames()))
	}
	r.tellAftercare(c)
	if r.op == wrap.Wrap {
		if r.Judge.Observe {
			fmt.Fprintln(r.prose, "  NOTHING IS ENFORCED (--observe): every tool runs and is recorded.")
			return
		}
		fmt.Fprintf(r.prose, "  When the hook breaks: %s.\n", c.Hook.Broken)
	}
}

// editedSettings is one changed file in the output of --json: a file of hooks, or a file with the
// address of a model.
type editedSettings struct {
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Events  []string `json:"events,omitempty"`  // events that have a hook
	Routes  []string `json:"routes,omitempty"`  // routes to models
	Removed bool     `json:"removed,omitempty"` // the file is removed, because nothing else was in it
	After   string   `json:"after,omitempty"`   // what the person must do before the change takes effect
	Error   string   `json:"error,omitempty"`   // the reason why the file was not changed
}

// listSettings returns the changed files of hooks, and the changed files with addresses of models. The element
// failed[i] is the error of changes[i], or nil if that file was changed. The slice failed is nil if no file was
// to be changed.
func listSettings(changes []wrap.Change, failed []error) (hooks, models []editedSettings) {
	for i, c := range changes {
		s := editedSettings{Path: c.Path, Removed: c.Gone}
		to := &hooks
		switch {
		case c.Hook != nil:
			s.Client, s.Events, s.After = c.Hook.Client, c.ServerNames(), c.Hook.After
		case c.Model != nil:
			s.Client, s.Routes, s.After, to = c.Model.Client, c.ServerNames(), c.Model.After, &models
		default:
			continue
		}
		if failed != nil && failed[i] != nil {
			s.Error, s.After = term.VisibleText(failed[i].Error()), ""
		}
		*to = append(*to, s)
	}
	return hooks, models
}
