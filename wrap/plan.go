package wrap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/wrap/client"
)

// Op is an operation on a server.
type Op string

// Values of Op.
const (
	Wrap   Op = "wrap"
	Unwrap Op = "unwrap"
)

// Undo returns the operation that reverses o.
func (o Op) Undo() Op {
	if o == Unwrap {
		return Wrap
	}
	return Unwrap
}

// Selection selects servers. An empty field selects all.
type Selection struct {
	Names  []string
	Client string // Row.Client of the servers
	Scope  client.Scope
	File   string // ConfigFile.Path or ConfigFile.Real
}

// Target is one selected server.
type Target struct {
	File  *ConfigFile
	Entry client.Entry
}

// SelectTargets returns the selected servers in the order of the files. Their state does not
// matter.
func SelectTargets(files []ConfigFile, s Selection) []Target {
	var all []Target
	for i := range files {
		p := &files[i]
		if !s.MatchesFile(p) {
			continue
		}
		for _, e := range p.Entries {
			if len(s.Names) == 0 || slices.Contains(s.Names, e.Name) {
				all = append(all, Target{p, e})
			}
		}
	}
	return all
}

// MatchesFile reports whether servers of a file can be selected.
func (s Selection) MatchesFile(p *ConfigFile) bool {
	return (s.Client == "" || s.Client == p.Row.Client) &&
		(s.Scope == "" || s.Scope == p.Row.Scope) &&
		(s.File == "" || s.File == p.Path || s.File == p.Real)
}

// ChangesTarget reports whether PlanChanges would plan an edit for t, or return an error for t.
func (pl Planner) ChangesTarget(op Op, t Target) bool {
	if t.Entry.Kind == client.Other || t.File.Row.ReadOnly {
		return false
	}
	if w := t.Entry.Wrapped; w != nil && w.Hub {
		return op == Unwrap && pl.Hub != nil && pl.Hub.findMove(t.File, t.Entry.KeyPath) >= 0
	}
	if op == Unwrap {
		return t.Entry.Wrapped != nil
	}
	if pl.Hub != nil && pl.Hub.Into {
		return true
	}
	if pl.HTTPProxy.redirectsEntry(t.Entry) { // the field Problem does not matter here, because a redirected entry becomes no process
		return pl.HTTPProxy.needsRedirect(t)
	}
	if t.Entry.Problem != nil {
		return t.Entry.Wrapped != nil || t.Entry.Unclear // PlanChanges returns an error for an Unclear entry
	}
	return pl.needsWrap(t.File, t.Entry) || pl.Secrets != nil && holdsSecrets(t)
}

// Change is one file before and after its edits.
type Change struct {
	Op      Op
	Path    string // path where the client looks for the file
	Real    string // path of the written file: Path without symlinks
	Tracked bool   // git tracks the file
	Before  []byte
	After   []byte
	Edits   []Edit // in reverse order of the file

	Hook    *client.HookRow  // the client, if its hooks are edited; otherwise nil
	Model   *client.ModelRow // the client, if the address of its model is edited; otherwise nil
	Absent  bool             // the file did not exist
	Notes   []string         // texts for the owner about hooks in the file that are not ours
	Gone    bool             // the file is removed, because it had only text of wrap
	Program bool             // the new file must be executable
}

// Edit is the part of a change for one server.
type Edit struct {
	Row      client.Row
	Entry    client.Entry // the entry before the edit
	Old, New []string     // the changed words before and after the edit, in the notation of the file
}

// PlanChanges plans the changes of an operation on servers. If a server cannot be edited, the
// errors name the server, and the other servers of the file are still planned.
func (pl Planner) PlanChanges(op Op, targets []Target) ([]Change, []error) {
	var changes []Change
	var errs []error
	byFile := map[string][]Target{}
	for _, t := range targets {
		byFile[t.File.Real] = append(byFile[t.File.Real], t)
	}
	for _, t := range targets {
		group := byFile[t.File.Real]
		delete(byFile, t.File.Real)
		if len(group) == 0 {
			continue
		}
		change, failed := pl.planFile(op, group)
		errs = append(errs, failed...)
		if len(change.Edits) > 0 {
			changes = append(changes, change)
		}
	}
	return changes, errs
}

// planFile plans the edits of one file. It goes from the end of the file to the start, because an
// edit moves only the entries after it.
func (pl Planner) planFile(op Op, group []Target) (Change, []error) {
	first := group[0].File
	change := Change{Op: op, Path: first.Path, Real: first.Real, Tracked: first.Tracked, Before: first.src, After: first.src}
	slices.SortStableFunc(group, func(a, b Target) int {
		return cmp.Or(cmp.Compare(b.Entry.Line, a.Entry.Line), cmp.Compare(b.Entry.Column, a.Entry.Column))
	})
	group = slices.CompactFunc(group, func(a, b Target) bool { return slices.Equal(a.Entry.KeyPath, b.Entry.KeyPath) })
	if op == Wrap && pl.Hub != nil && pl.Hub.Into {
		return pl.planHub(change, group)
	}
	var errs []error
	for _, t := range group {
		if w := t.Entry.Wrapped; op == Unwrap && w != nil && w.Hub {
			after, back, err := pl.moveOutOfHub(t, change.After)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", first.Path, t.Entry.Name, err))
				continue
			}
			for _, e := range append(back, t.Entry) {
				change.Edits = append(change.Edits, Edit{Row: t.File.Row, Entry: e})
			}
			change.After = after
			continue
		}
		after, err := pl.editTarget(op, t, change.After)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", first.Path, cmp.Or(t.Entry.Name, `""`), err))
			continue
		}
		if slices.Equal(after, change.After) {
			continue
		}
		e := Edit{Row: t.File.Row, Entry: t.Entry}
		e.Old, _ = client.EntryTokens(e.Row, change.After, e.Entry) // an error is ignored, because the words are only for the journal
		e.New, _ = client.EntryTokens(e.Row, after, e.Entry)
		change.Edits, change.After = append(change.Edits, e), after
	}
	return change, errs
}

// planHub moves servers of one file into the hub, one container after the other.
func (pl Planner) planHub(change Change, group []Target) (Change, []error) {
	var errs []error
	for len(group) > 0 {
		first := group[0]
		same := func(t Target) bool {
			return t.File.Row.ID == first.File.Row.ID && slices.Equal(t.Entry.KeyPath[:len(t.Entry.KeyPath)-1], first.Entry.KeyPath[:len(first.Entry.KeyPath)-1])
		}
		var one, rest []Target
		for _, t := range group {
			if same(t) {
				one = append(one, t)
			} else {
				rest = append(rest, t)
			}
		}
		after, moved, failed := pl.moveIntoHub(one, change.After)
		errs = append(errs, failed...)
		for _, e := range slices.Backward(moved) {
			change.Edits = append(change.Edits, Edit{Row: first.File.Row, Entry: e})
		}
		change.After, group = after, rest
	}
	if slices.Equal(change.After, change.Before) {
		change.Edits = nil // the servers are already in the hub
	}
	return change, errs
}

func (pl Planner) editTarget(op Op, t Target, src []byte) ([]byte, error) {
	if op == Unwrap {
		src, err := pl.restoreSecrets(t, src)
		if err != nil {
			return nil, err
		}
		return client.Unwrap(t.File.Row, src, t.Entry)
	}
	if t.Entry.Name == "" {
		return nil, errors.New("its name is empty, so no rule can name it; give it a name")
	}
	if pl.HTTPProxy.redirectsEntry(t.Entry) {
		return pl.HTTPProxy.redirectEntry(t, src)
	}
	path, err := pl.Program.StartCommand(t.File)
	if err != nil {
		return nil, err
	}
	if err := pl.checkWrappable(t.File, t.Entry); err != nil {
		return nil, err
	}
	after, err := client.Wrap(t.File.Row, src, t.Entry, client.Wrapper{Path: path, Server: t.Entry.Name, Observe: pl.Observe})
	if err != nil {
		return nil, err
	}
	return pl.takeSecrets(t, after)
}

// ServerNames returns the names of the servers in a change, in the order of the file.
func (c Change) ServerNames() []string {
	names := make([]string, 0, len(c.Edits))
	for _, e := range slices.Backward(c.Edits) {
		names = append(names, e.Entry.Name)
	}
	return names
}
