package wrapcmd

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// reportChanges prints the changes, and what the person must do next. Then it prints the servers
// that are still without clawai, and how to undo the changes.
func (r *wrapRun) reportChanges(changes []wrap.Change, failed []error) {
	verb := "Wrapped"
	if r.op == wrap.Unwrap {
		verb = "Unwrapped"
	}
	var done []string
	var written []wrap.Change
	for i, c := range changes {
		if failed[i] != nil {
			continue
		}
		if c.Hook != nil {
			r.tellHooks(c)
			continue
		}
		if c.Model != nil {
			r.tellModel(c)
			continue
		}
		written = append(written, c)
		done = append(done, c.ServerNames()...)
		if r.Judge.Hub.Into {
			fmt.Fprintf(r.prose, "Moved %s of %s into the hub, %s.\n", joinNames(c.ServerNames()), r.ShortPath(c.Path), r.ShortPath(r.folders.SettingsFile()))
		} else {
			fmt.Fprintf(r.prose, "%s %s in %s.\n", verb, joinNames(c.ServerNames()), r.ShortPath(c.Path))
		}
		r.tellAftercare(c)
	}
	back := r.undoArguments(slices.Clone(done))
	editedHooks, editedModels := listSettings(changes, failed)
	hooks := r.undoSettings("--hooks", editedHooks)
	// The hooks have no separate undo command after wrap --all, because unwrap --all removes them
	// too.
	if hooks != "" && (r.op == wrap.Unwrap || len(done) == 0 || !strings.HasPrefix(back, "--all")) {
		fmt.Fprintf(r.prose, "Undo: %s\n", hooks)
	}
	r.tellModelProxy(failed)
	if models := r.undoSettings("--llm", editedModels); models != "" && (r.op == wrap.Unwrap || len(done) == 0 || !strings.HasPrefix(back, "--all")) {
		fmt.Fprintf(r.prose, "Undo: %s\n", models)
	}
	if r.op == wrap.Wrap && !r.hooks && !r.models {
		r.tellUncovered()
	}
	if len(done) == 0 {
		return
	}
	if r.op == wrap.Wrap {
		r.tellProxy(changes)
	}
	r.tellUnruled(written)
	r.tellLeaks(written)
	if r.Judge.Observe {
		fmt.Fprintln(r.prose, "NOTHING IS ENFORCED for servers wrapped with --observe: every call passes and is recorded.")
	}
	r.tellVariables()
	fmt.Fprintf(r.prose, "Undo: clawai %s %s\n", r.op.Undo(), back)
}

// tellAftercare prints what the person must do after a change of one file.
func (r *wrapRun) tellAftercare(c wrap.Change) {
	var afterwards, readers []string
	experimental := false
	for _, e := range c.Edits {
		if c.Hook != nil && r.op == wrap.Unwrap {
			afterwards = append(afterwards, "Sessions of "+e.Row.Name+" that run now may call it until they end")
			continue
		}
		if why, ok := strings.CutPrefix(e.Row.Restart, "nothing: "); ok {
			afterwards = append(afterwards, "In effect at once: "+why)
		} else {
			afterwards = append(afterwards, "To take effect in "+e.Row.Name+": "+e.Row.Restart)
		}
		readers = append(readers, e.Row.ReadBy...)
		experimental = experimental || e.Row.Confidence == client.Experimental
	}
	for _, text := range dropRepeats(afterwards) {
		fmt.Fprintf(r.prose, "  %s.\n", text)
	}
	if readers = dropRepeats(readers); len(readers) > 0 {
		fmt.Fprintf(r.prose, "  Also read by %s.\n", strings.Join(readers, ", "))
	}
	r.tellCorrections(c)
	r.tellSignIn(c)
	if c.Real != c.Path {
		fmt.Fprintf(r.prose, "  The file edited is %s, where the symlink leads.\n", r.ShortPath(c.Real))
	}
	if r.op == wrap.Wrap && c.Tracked {
		fmt.Fprintln(r.prose, "  Git tracks this file, so it names clawai without a path: everybody who uses it needs clawai on PATH.")
	}
	if wrap.HasMark(c.Edits[0].Row, c.Before) {
		fmt.Fprintf(r.prose, "  The file starts with a byte order mark, which %s may not read: save it without.\n", c.Edits[0].Row.Name)
	}
	if experimental {
		fmt.Fprintf(r.prose, "  Experimental: this form of %s's file was not seen on a real install; see that the server starts.\n", c.Edits[0].Row.Name)
	}
}

// tellCorrections prints the changes in wrappers that wrap has now undone. Another person or
// program made these changes, and the owner may have wanted them. For example, without a layer in
// the wrapper, the rules of this layer no longer apply.
func (r *wrapRun) tellCorrections(c wrap.Change) {
	for _, e := range slices.Backward(c.Edits) {
		if was := e.Entry.Wrapped; r.op == wrap.Wrap && was != nil && len(was.Differs) > 0 {
			fmt.Fprintf(r.prose, "  Put right in %s: %s.\n", term.VisibleLine(e.Entry.Name), term.VisibleText(strings.Join(was.Differs, "; ")))
		}
	}
}

// tellSignIn prints the remote servers for which the client may have a sign-in of its own. From now
// on, clawai signs in to these servers instead.
func (r *wrapRun) tellSignIn(c wrap.Change) {
	for _, e := range slices.Backward(c.Edits) {
		if r.op != wrap.Wrap || e.Entry.Kind != client.Remote || e.Entry.Wrapped != nil || !e.Entry.SignsIn {
			continue
		}
		now := ""
		if !e.Row.HidesAddress(e.Entry.URL) {
			now = "; or now, with: clawai auth login " + term.VisibleText(cmdline.Quote([]string{e.Entry.URL}))
		}
		fmt.Fprintf(r.prose, "  clawai signs in to %s itself, when the server asks for it%s\n", term.VisibleLine(e.Entry.Name), now)
	}
}

// tellVariables prints the variables that set clawai's folders. The proxy has these variables only
// if its client passes them on.
func (r *wrapRun) tellVariables() {
	var set []string
	for _, name := range []string{"CLAWAI_CONFIG_DIR", "CLAWAI_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if r.op == wrap.Wrap && os.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) > 0 {
		fmt.Fprintf(r.prose, "%s must be set for the clients too, or the proxy will look for its policy elsewhere.\n", strings.Join(set, ", "))
	}
}

// undoArguments returns the arguments of the command line that undoes the changes. The parameter
// done has the names of the changed servers.
func (r *wrapRun) undoArguments(done []string) string {
	if r.Judge.Hub.Into {
		done = []string{client.HubName}
	}
	done = slices.DeleteFunc(done, func(name string) bool { return r.op == wrap.Unwrap && name == client.HubName })
	if len(r.selection.Names) == 0 && r.all && !r.Judge.Hub.Into {
		done = nil
	}
	words := NameWords(dropRepeats(done))
	args := slices.Clone(words)
	if len(words) == 0 {
		args = []string{"--all"}
	} else if words[0] == "--" {
		args = nil
	}
	for _, name := range []string{"client", "scope", "file"} {
		if value := r.c.String(name); value != "" && (len(words) > 0 || value != "all") {
			args = append(args, "--"+name, term.VisibleText(cmdline.Quote([]string{value})))
		}
	}
	if len(words) > 0 && words[0] == "--" {
		args = append(args, words...)
	}
	return strings.Join(args, " ")
}

// NameWords returns the names of servers as words for a command line. If a name looks like an
// option, the first word is --.
func NameWords(names []string) (words []string) {
	for _, name := range names {
		words = append(words, term.VisibleText(cmdline.Quote([]string{name})))
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") }) {
		words = append([]string{"--"}, words...)
	}
	return words
}

// tellUncovered prints the selected servers that stay without clawai. It mentions clawai status if
// there are things that no change of a file can cover.
func (r *wrapRun) tellUncovered() {
	var lines []string
	for _, t := range wrap.SelectTargets(r.Places, r.selection) {
		if state, why := r.Judge.EntryState(t.File, t.Entry); state == wrap.Uncovered {
			lines = append(lines, r.renderTarget(t)+": "+term.VisibleText(why))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(r.prose, "Not covered:\n  %s\n", strings.Join(lines, "\n  "))
	}
	if len(r.selection.Names) == 0 && len(r.findUncoverable(r.selection.Client)) > 0 {
		fmt.Fprintln(r.prose, "What no file of a client can cover: clawai status")
	}
}

func joinNames(all []string) string {
	shown := make([]string, 0, len(all))
	for _, name := range dropRepeats(all) {
		shown = append(shown, term.VisibleLine(name))
	}
	return strings.Join(shown, ", ")
}

// dropRepeats returns a list without its duplicates, in the same order.
func dropRepeats(all []string) []string {
	var once []string
	for _, s := range all {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}
