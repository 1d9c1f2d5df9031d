package wrapcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// findTargets returns the servers to change, or none if there is nothing to do. If the command line
// is ambiguous, it asks the person. If no person can be asked, it returns an error that lists the
// choices.
func (r *wrapRun) findTargets() ([]wrap.Target, error) {
	matched := wrap.SelectTargets(r.Places, r.selection)
	var pending []wrap.Target
	for _, t := range matched {
		if r.Judge.ChangesTarget(r.op, t) {
			pending = append(pending, t)
		}
	}
	for _, name := range r.selection.Names {
		if !slices.ContainsFunc(matched, func(t wrap.Target) bool { return t.Entry.Name == name }) {
			return nil, r.notFound(name)
		}
	}
	if len(pending) == 0 || r.all || !r.isAmbiguous(pending) {
		return pending, nil
	}
	if !r.terminal {
		return nil, cmdline.Usagef("%s", r.renderChoices(pending))
	}
	return r.chooseServers(pending)
}

// isAmbiguous reports whether it is unclear which servers the command line means. This is so if
// several servers have the given name, or if no name was given and there are several servers.
func (r *wrapRun) isAmbiguous(pending []wrap.Target) bool {
	if len(r.selection.Names) == 0 {
		return len(pending) > 1 || r.terminal
	}
	seen := map[string]bool{}
	for _, t := range pending {
		if seen[t.Entry.Name] {
			return true
		}
		seen[t.Entry.Name] = true
	}
	return false
}

func (r *wrapRun) notFound(name string) error {
	var known []string
	s := r.selection
	s.Names = nil
	for _, t := range wrap.SelectTargets(r.Places, s) {
		known = append(known, term.VisibleValue(t.Entry.Name))
	}
	slices.Sort(known)
	unread := ""
	for i := range r.Places {
		if p := &r.Places[i]; p.Err != nil && r.selection.MatchesFile(p) {
			unread += fmt.Sprintf("; not read: %s: %v", r.ShortPath(p.Path), p.Err)
		}
	}
	if len(known) == 0 {
		return cmdline.Usagef("there is no server %s, nor any other where it was looked for%s; see: clawai status", term.VisibleValue(name), unread)
	}
	return cmdline.Usagef("there is no server %s; there are %s%s", term.VisibleValue(name), strings.Join(slices.Compact(known), ", "), unread)
}

// explainNothing prints why there is nothing to change. It returns an error if a named server
// cannot be changed. If everything is already as requested, it returns nil.
func (r *wrapRun) explainNothing() error {
	if err := r.printDocument(nil, nil); err != nil {
		return err
	}
	done, failed := 0, false
	for _, t := range wrap.SelectTargets(r.Places, r.selection) {
		state, why := r.Judge.EntryState(t.File, t.Entry)
		line := fmt.Sprintf("%s: %s", r.renderTarget(t), state)
		if why != "" {
			line += ": " + term.VisibleText(why)
		}
		if as := t.Entry.Wrapped != nil; as == (r.op == wrap.Wrap) && t.Entry.Kind != client.Other && (!as || state != wrap.Drifted) {
			done++
		} else if len(r.selection.Names) > 0 {
			failed = true
		}
		fmt.Fprintln(r.prose, line)
	}
	fmt.Fprintf(r.prose, "Nothing to %s.\n", r.op)
	if failed && done == 0 {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return r.tellErrors(nil)
}

// renderTarget returns the name of a server and its file, as one line.
func (r *wrapRun) renderTarget(t wrap.Target) string {
	s := fmt.Sprintf("%s  %s  %s", term.VisibleLine(t.Entry.Name), t.File.Row.Name, r.ShortPath(t.File.Path))
	if p := projectFolder(t); p != "" {
		s += "  for " + r.ShortPath(p)
	}
	return s
}

// projectFolder returns the project's folder. It is the key that the entry has at the place of "*"
// in the row's key path.
func projectFolder(t wrap.Target) string {
	i := slices.Index(t.File.Row.KeyPath, "*")
	if i < 0 || i >= len(t.Entry.KeyPath) {
		return ""
	}
	return t.Entry.KeyPath[i]
}

func (r *wrapRun) renderChoices(pending []wrap.Target) string {
	var b strings.Builder
	b.WriteString("which of these? narrow it with SERVER, --client, --scope or --file")
	if len(r.selection.Names) > 0 {
		b.WriteString(", or take all of them with --client all:")
	} else {
		b.WriteString(", or take all of them with --all:")
	}
	for _, t := range pending {
		fmt.Fprintf(&b, "\n  %s --client %s --scope %s --file %s", term.VisibleText(cmdline.Quote([]string{t.Entry.Name})),
			t.File.Row.Client, t.File.Row.Scope, term.VisibleText(cmdline.Quote([]string{t.File.Path})))
		if p := projectFolder(t); p != "" {
			b.WriteString("  (for " + r.ShortPath(p) + ")")
		}
	}
	return b.String()
}

func (r *wrapRun) chooseServers(pending []wrap.Target) ([]wrap.Target, error) {
	chosen, err := r.chooseTargets(fmt.Sprintf("Which servers to %s?", r.op), pending, func(wrap.Target) bool { return len(r.selection.Names) > 0 })
	if err == nil && len(chosen) == 0 {
		err = errors.New("nothing was chosen; Space chooses a server")
	}
	return chosen, err
}

// chooseTargets lets the person choose from a list of servers that is sorted by client. The given
// function reports whether a server is selected at the start.
func (r *wrapRun) chooseTargets(question string, all []wrap.Target, already func(wrap.Target) bool) (chosen []wrap.Target, err error) {
	slices.SortStableFunc(all, func(a, b wrap.Target) int { return strings.Compare(a.File.Row.Client, b.File.Row.Client) })
	options := make([]choose.Option, len(all))
	for i, t := range all {
		options[i] = choose.Option{Label: r.renderTarget(t), Chosen: already(t)}
	}
	picked, err := chooseSeveral(r.c.Context, question, options)
	for _, i := range picked {
		chosen = append(chosen, all[i])
	}
	return chosen, err
}

// errLeft is the error for a person who leaves a list without choosing.
var errLeft error = &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: choose.ErrLeft}

func chooseSeveral(ctx context.Context, question string, options []choose.Option) ([]int, error) {
	picked, err := choose.PickSeveral(ctx, os.Stdin, os.Stdout, question, options)
	if errors.Is(err, choose.ErrLeft) {
		return nil, errLeft
	}
	return picked, err
}
