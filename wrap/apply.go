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

// Options holds the options of ApplyChanges. The folders are absolute.
type Options struct {
	State   string // clawai's existing state folder, with the journal and the locks
	Version string // clawai's version, for the journal
	Home    string
	Dir     string // the project's folder
	// Follow allows edits of files outside Home and Dir that a symlink leads to.
	Follow bool
	// WhileRunning allows edits of a file whose client should not run meanwhile.
	WhileRunning bool
	Running      func() ([]string, error) // names of running programs; nil: RunningPrograms
	LockWait     time.Duration            // for each lock; 0: 5 s
	// RecheckAfter is the time that a client that writes its file from memory gets to undo an
	// edit, before ApplyChanges checks the file again; 0: 1.5 s.
	RecheckAfter time.Duration
	Now          func() time.Time // nil: time.Now
	// Replan plans a change again when somebody has written the file since; it returns false
	// when the edit would not be the same. nil: such a change is refused.
	Replan func(Change) (Change, bool)

	at func(point string) // tests pause here
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

// ApplyChanges writes the changes, each file by itself and once. A refused file keeps its old
// bytes and gets an error at its indexes; the error of a written file is nil.
func ApplyChanges(ctx context.Context, changes []Change, o Options) []error {
	errs := make([]error, len(changes))
	watch := false
	for i := range changes {
		of := ofFile(changes, changes[i].Real)
		if of[0] == i {
			err := applyAgain(ctx, changes, of, o)
			for _, at := range of {
				errs[at] = err
			}
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", changes[i].Path, errs[i])
			continue
		}
		watch = watch || changes[i].rewritesFile()
	}
	if !watch {
		return errs
	}
	select {
	case <-time.After(o.recheckAfter()):
	case <-ctx.Done(): // the second check is not guaranteed
	}
	for i, c := range changes {
		if errs[i] == nil && c.rewritesFile() {
			if err := c.checkUnchanged(); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Path, err)
			}
		}
	}
	return errs
}

// maxReplans limits how often a file is read again when its client keeps writing it.
const maxReplans = 3

// applyAgain applies the changes of one file, at the given indexes. It plans a single change
// again when the client wrote the file between our read and our write.
func applyAgain(ctx context.Context, changes []Change, of []int, o Options) error {
	for replans := 0; ; replans++ {
		whole := make([]Change, len(of))
		for n, at := range of {
			whole[n] = changes[at]
		}
		err := applyFile(ctx, whole, o)
		if !errors.Is(err, atomicfile.ErrChanged) || o.Replan == nil || len(of) > 1 || replans == maxReplans {
			return err
		}
		again, same := o.Replan(whole[0])
		if !same {
			return err
		}
		changes[of[0]] = again
	}
}

// Replan plans the same edits on the present file. It returns false when an entry is gone, when
// an entry starts something else, or when the edit moves things between files.
func (pl Planner) Replan(c Change) (Change, bool) {
	if c.Hook != nil || c.Absent || c.Gone || pl.Secrets != nil || pl.Hub != nil && pl.Hub.Into {
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
		i := slices.IndexFunc(p.Entries, func(is client.Entry) bool { return slices.Equal(is.KeyPath, e.Entry.KeyPath) })
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

func (c Change) rewritesFile() bool {
	return slices.ContainsFunc(c.Edits, func(e Edit) bool { return e.Row.RewritesFile })
}

// ofFile returns the indexes of the changes of one file. Each change starts where the one
// before it ends (PlanHooks).
func ofFile(changes []Change, real string) (all []int) {
	for i, c := range changes {
		if c.Real == real {
			all = append(all, i)
		}
	}
	return all
}

func applyFile(ctx context.Context, whole []Change, o Options) error {
	c := whole[0]
	for _, next := range whole[1:] {
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
	return writeJournaled(c, whole, o)
}

// writeJournaled writes the journal first: after a crash the journal may list an edit that was
// not made, but it never misses one that was made.
func writeJournaled(c Change, whole []Change, o Options) error {
	if err := c.checkPlace(); err != nil {
		return err
	}
	if err := appendJournal(whole, o, nil); err != nil {
		return fmt.Errorf("nothing was written, as the journal cannot be: %w", err)
	}
	o.passPoint("journaled")
	err := c.carryOut(o.State)
	o.passPoint("written")
	if err == nil {
		return nil
	}
	if c.Absent && !pathExists(c.Real) || !c.Absent && bytesOf(c.Real, c.Before) {
		err = fmt.Errorf("nothing was changed: %w", plainWrite(err))
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		err = fmt.Errorf("nothing was written: %w; run the command again", atomicfile.ErrChanged)
	}
	return errors.Join(err, appendJournal(whole, o, err))
}

// bytesOf reports whether the file holds exactly these bytes.
func bytesOf(path string, want []byte) bool {
	now, err := readRegularFile(path)
	return err == nil && bytes.Equal(now, want)
}

// plainWrite adds advice to an error with a usual cause.
func plainWrite(err error) error {
	return fmt.Errorf("%w%s", err, failureAdvice(err))
}

// checkUnchanged returns an error when a client has undone the edits meanwhile. It ignores
// other changes of the client.
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
		for _, is := range entries {
			if slices.Equal(is.KeyPath, e.Entry.KeyPath) && (is.Wrapped != nil) != (c.Op == Wrap) {
				undone = append(undone, e.Entry.Name)
			}
		}
	}
	if len(undone) == 0 {
		return nil
	}
	return fmt.Errorf("%s has undone the edit of %s; quit it and run the command again", c.Edits[0].Row.Name, strings.Join(undone, ", "))
}
