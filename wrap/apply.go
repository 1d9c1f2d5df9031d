package wrap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/wrap/client"
)

// Options holds the options of ApplyChanges. All folders are absolute paths.
type Options struct {
	State   string // clawai's state folder, which exists; it holds the journal and the locks
	Version string // version of clawai, for the journal
	Home    string
	Dir     string // the project's folder
	// Follow allows edits of a file outside Home and Dir if a symlink leads to the file.
	Follow bool
	// WhileRunning allows edits while the client of the file runs. The client may then overwrite
	// the edits.
	WhileRunning bool
	Running      func() ([]string, error) // returns the names of running programs; nil means RunningPrograms
	LockWait     time.Duration            // maximum wait for each lock; 0 means 5 s
	// RecheckAfter is the wait before ApplyChanges checks a file again; 0 means 1.5 s. ApplyChanges
	// checks a file again if the client runs and may overwrite the edit with its own copy in
	// memory.
	RecheckAfter time.Duration
	Now          func() time.Time // returns the time; nil means time.Now
	// Replan plans a change again if somebody has written the file in the meantime. It returns
	// false if the new edit would differ. If Replan is nil, such a change is refused.
	Replan func(Change) (Change, bool)

	at func(point string) // tests use it to pause at certain points; nil outside tests
}

func (o Options) currentTime() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o Options) lockWait() time.Duration { return cmp.Or(o.LockWait, 5*time.Second) }

func (o Options) recheckAfter() time.Duration { return cmp.Or(o.RecheckAfter, 1500*time.Millisecond) }

func (o Options) passPoint(point string) {
	if o.at != nil {
		o.at(point)
	}
}

// ApplyChanges writes the changes. It writes each file once, with all changes of this file. errs[i]
// is the error of changes[i]; nil if its file was written. If a file is refused, its bytes stay.
func ApplyChanges(ctx context.Context, changes []Change, o Options) []error {
	errs := make([]error, len(changes))
	watch := make([]bool, len(changes))
	for i := range changes {
		indexes := indexesOf(changes, changes[i].Real)
		if indexes[0] == i {
			err := applyWithReplans(ctx, changes, indexes, o)
			for _, at := range indexes {
				errs[at] = err
			}
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", changes[i].Path, errs[i])
			continue
		}
		watch[i] = o.mayRewrite(changes[i])
	}
	if !slices.Contains(watch, true) {
		return errs
	}
	select {
	case <-time.After(o.recheckAfter()):
	case <-ctx.Done(): // check now, although later overwrites are then not noticed
	}
	for i, c := range changes {
		if watch[i] {
			if err := c.checkUnchanged(); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Path, err)
			}
		}
	}
	return errs
}

// maxReplans is the maximum number of times that a change is planned again if the client keeps
// writing the file.
const maxReplans = 3

// applyWithReplans applies the changes of one file: changes[i] for each i in indexes. If the file
// has only one change, and the client has written the file after clawai read it, applyWithReplans
// plans the change again.
func applyWithReplans(ctx context.Context, changes []Change, indexes []int, o Options) error {
	for replans := 0; ; replans++ {
		parts := make([]Change, len(indexes))
		for n, at := range indexes {
			parts[n] = changes[at]
		}
		err := applyFile(ctx, parts, o)
		if !errors.Is(err, atomicfile.ErrChanged) || o.Replan == nil || len(indexes) > 1 || replans == maxReplans {
			return err
		}
		again, same := o.Replan(parts[0])
		if !same {
			return err
		}
		changes[indexes[0]] = again
	}
}

// Replan plans the same edits for the present content of the file. It returns false if an entry is
// missing or starts another command, or if the edit moves servers or secrets between files.
func (pl Planner) Replan(c Change) (Change, bool) {
	if c.Hook != nil || c.Model != nil || c.Absent || c.Gone || pl.Secrets != nil || pl.Hub != nil && pl.Hub.Into {
		return c, false
	}
	places := map[string]*ConfigFile{}
	var targets []Target
	for _, e := range c.Edits {
		p := places[e.Row.ID]
		if p == nil {
			read := ReadConfigFile(e.Row, c.Path)
			p, places[e.Row.ID] = &read, &read
		}
		i := slices.IndexFunc(p.Entries, func(present client.Entry) bool { return slices.Equal(present.KeyPath, e.Entry.KeyPath) })
		if p.Err != nil || i < 0 {
			return c, false
		}
		targets = append(targets, Target{p, p.Entries[i]})
	}
	again, errs := pl.planFile(c.Op, targets)
	same := len(errs) == 0 && again.Real == c.Real && slices.EqualFunc(again.Edits, c.Edits, func(a, b Edit) bool {
		return slices.Equal(a.Entry.KeyPath, b.Entry.KeyPath) && slices.Equal(a.Old, b.Old) && slices.Equal(a.New, b.New)
	})
	return again, same
}

// indexesOf returns the indexes of the changes of one file. Each change starts from the result of
// the change before (PlanHooks).
func indexesOf(changes []Change, real string) (all []int) {
	for i, c := range changes {
		if c.Real == real {
			all = append(all, i)
		}
	}
	return all
}

// applyFile applies the changes (parts) of one file.
func applyFile(ctx context.Context, parts []Change, o Options) error {
	c := parts[0]
	for _, next := range parts[1:] {
		if !bytes.Equal(next.Before, c.After) {
			return errors.New("nothing was written: its edits were planned apart; run the command again")
		}
		c.After, c.Gone, c.Edits = next.After, next.Gone, slices.Concat(c.Edits, next.Edits)
	}
	if err := o.checkEditable(c); err != nil {
		return err
	}
	unlock, err := lockFile(ctx, o, c.Real)
	if err != nil {
		return err
	}
	defer unlock()
	if slices.ContainsFunc(c.Edits, func(e Edit) bool { return e.Row.Lock == "directory" }) {
		unlock, err := lockDirectory(ctx, o, c.Real)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	o.passPoint("locked")
	removeLeftovers(c.Real, o.currentTime())
	return writeJournaled(c, parts, o)
}

// writeJournaled writes the journal first, and then the file. After a crash the journal may have an
// edit that was not made, but it never lacks an edit that was made. c is the sum of parts.
func writeJournaled(c Change, parts []Change, o Options) error {
	if err := c.checkPlace(); err != nil {
		return err
	}
	if err := appendJournal(parts, o, nil); err != nil {
		return fmt.Errorf("nothing was written, as the journal cannot be: %w", err)
	}
	o.passPoint("journaled")
	err := c.carryOut(o.State)
	o.passPoint("written")
	if err == nil {
		return nil
	}
	if c.Absent && !pathExists(c.Real) || !c.Absent && hasBytes(c.Real, c.Before) {
		err = fmt.Errorf("nothing was changed: %w", addAdvice(err))
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		err = fmt.Errorf("nothing was written: %w; run the command again", atomicfile.ErrChanged)
	}
	return errors.Join(err, appendJournal(parts, o, err))
}

// hasBytes reports whether the content of the file is equal to the parameter want.
func hasBytes(path string, want []byte) bool {
	now, err := readRegularFile(path)
	return err == nil && bytes.Equal(now, want)
}

// addAdvice adds advice to an error that has a usual cause.
func addAdvice(err error) error {
	return fmt.Errorf("%w%s", err, failureAdvice(err))
}

// checkUnchanged returns an error if a client has undone the edits. Other changes by the client are
// no error.
func (c Change) checkUnchanged() error {
	now, err := readRegularFile(c.Real)
	if err != nil {
		return fmt.Errorf("after the edit: %w", err)
	}
	if bytes.Equal(now, c.After) {
		return nil
	}
	var undone []string
	for _, e := range c.Edits {
		entries, err := client.Read(e.Row, now)
		if err != nil {
			return fmt.Errorf("the client has written the file again, and now it cannot be read: %w", err)
		}
		for _, present := range entries {
			if slices.Equal(present.KeyPath, e.Entry.KeyPath) && (present.Wrapped != nil) != (c.Op == Wrap) {
				undone = append(undone, e.Entry.Name)
			}
		}
	}
	if len(undone) == 0 {
		return nil
	}
	return fmt.Errorf("%s has undone the edit of %s; quit it and run the command again", c.Edits[0].Row.Name, strings.Join(undone, ", "))
}
