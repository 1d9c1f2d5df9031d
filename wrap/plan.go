package wrap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clawai/clawai/wrap/client"
)

// Op is what is done to a server.
type Op string

// The operations.
const (
	Wrap   Op = "wrap"
	Unwrap Op = "unwrap"
)

// Selection says which servers are meant. A zero field leaves its part open.
type Selection struct {
	Names  []string
	Client string // a Row's Client
	Scope  client.Scope
	File   string // a Place's Path or Real
}

// Target is one server that is meant.
type Target struct {
	Place *Place
	Entry client.Entry
}

// Select finds the servers that are meant, whatever their state, in the order
// of the places.
func Select(places []Place, s Selection) []Target {
	var all []Target
	for i := range places {
		p := &places[i]
		if !s.matches(p) {
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

func (s Selection) matches(p *Place) bool {
	return (s.Client == "" || s.Client == p.Row.Client) &&
		(s.Scope == "" || s.Scope == p.Row.Scope) &&
		(s.File == "" || s.File == p.Path || s.File == p.Real)
}

// Pending says that op would change something of t.
func (j Judge) Pending(op Op, t Target) bool {
	if t.Entry.Kind == client.Other || t.Place.Row.ReadOnly {
		return false
	}
	if op == Unwrap {
		return t.Entry.Wrapped != nil
	}
	if j.Front.redirects(t.Entry) { // which a Problem of becoming a process does not hinder
		return j.Front.stale(t)
	}
	if t.Entry.Problem != nil {
		return t.Entry.Wrapped != nil || t.Entry.Unclear // Plan says why it cannot be done
	}
	return j.stale(t.Place, t.Entry)
}

// Change is one file before and after.
type Change struct {
	Op      Op
	Path    string // where the client looks
	Real    string
	Tracked bool
	Before  []byte
	After   []byte
	Edits   []Edit // from the end of the file to its beginning
}

// Edit is one server's part of a change.
type Edit struct {
	Row      client.Row
	Entry    client.Entry // as it was
	Old, New []string     // the words that changed place, as the file writes them
}

// Plan works out the files that an operation gives. A server that cannot be
// edited is an error that names it; the others of its file go on.
func (j Judge) Plan(op Op, targets []Target) ([]Change, []error) {
	var changes []Change
	var errs []error
	byFile := map[string][]Target{}
	for _, t := range targets {
		byFile[t.Place.Real] = append(byFile[t.Place.Real], t)
	}
	for _, t := range targets {
		group := byFile[t.Place.Real]
		delete(byFile, t.Place.Real)
		if len(group) == 0 {
			continue
		}
		change, failed := j.plan(op, group)
		errs = append(errs, failed...)
		if len(change.Edits) > 0 {
			changes = append(changes, change)
		}
	}
	return changes, errs
}

// plan edits one file from its end, so that what is found by its place in the
// file is still there.
func (j Judge) plan(op Op, group []Target) (Change, []error) {
	first := group[0].Place
	change := Change{Op: op, Path: first.Path, Real: first.Real, Tracked: first.Tracked, Before: first.src, After: first.src}
	slices.SortStableFunc(group, func(a, b Target) int {
		return cmp.Or(cmp.Compare(b.Entry.Line, a.Entry.Line), cmp.Compare(b.Entry.Column, a.Entry.Column))
	})
	group = slices.CompactFunc(group, func(a, b Target) bool { return slices.Equal(a.Entry.KeyPath, b.Entry.KeyPath) })
	var errs []error
	for _, t := range group {
		after, err := j.edit(op, t, change.After)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", first.Path, t.Entry.Name, err))
			continue
		}
		if slices.Equal(after, change.After) {
			continue
		}
		e := Edit{Row: t.Place.Row, Entry: t.Entry}
		e.Old, _ = client.Tokens(e.Row, change.After, e.Entry) // "" in the journal is better than no edit
		e.New, _ = client.Tokens(e.Row, after, e.Entry)
		change.Edits, change.After = append(change.Edits, e), after
	}
	return change, errs
}

func (j Judge) edit(op Op, t Target, src []byte) ([]byte, error) {
	if op == Unwrap {
		return client.Unwrap(t.Place.Row, src, t.Entry)
	}
	if j.Front.redirects(t.Entry) {
		return j.Front.redirect(t, src)
	}
	path, err := j.Program.For(t.Place)
	if err != nil {
		return nil, err
	}
	if err := j.unwrappable(t.Place, t.Entry); err != nil {
		return nil, err
	}
	return client.Wrap(t.Place.Row, src, t.Entry, client.Wrapper{Path: path, Server: t.Entry.Name, Observe: j.Observe})
}

// Names are the servers of a change, in the order of the file.
func (c Change) Names() []string {
	names := make([]string, 0, len(c.Edits))
	for _, e := range slices.Backward(c.Edits) {
		names = append(names, e.Entry.Name)
	}
	return names
}
