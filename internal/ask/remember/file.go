package remember

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/policy"
)

// file is the content of the policy file at one time.
type file struct {
	src    []byte
	policy *policy.Policy
}

// loadPolicy reads the policy file. It does not check whether the file may be written.
func (k *Writer) loadPolicy() (*file, error) {
	info, err := os.Stat(k.Policy)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe or a device may never end
		err = fmt.Errorf("%s is not a regular file", k.Policy)
	}
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(k.Policy)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last != nil && bytes.Equal(last.src, src) {
		return last, nil
	}
	p, err := policy.Parse(k.Policy, src, k.Options)
	if err != nil {
		return nil, fmt.Errorf("the policy file does not load: %w", err)
	}
	last = &file{src, p}
	k.mu.Lock()
	k.last = last
	k.mu.Unlock()
	return last, nil
}

// checkWritable returns nil if the owner may write the file and the path is no symlink. The target
// of a symlink may be shared or under version control.
func checkWritable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("%s is a symlink; write the rule by hand where it leads", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is read-only", path)
	}
	return nil
}

// lockName returns the name of the lock file beside a policy file.
func lockName(path string) string { return "." + filepath.Base(path) + ".lock" }

// patience is the longest wait for another process that writes. A write takes milliseconds.
const patience = 5 * time.Second

var errHeld = fmt.Errorf("another process has held its lock for %v", patience)

// replaceFile replaces the file's content if it is still the content of f. A lock file makes
// writers wait for each other: otherwise two writers could both check the file, and one would
// overwrite the change of the other. The journal keeps the replaced text. undoes is the file of the
// journal that an undo uses and removes; "" for no undo.
func (k *Writer) replaceFile(ctx context.Context, f *file, next []byte, undoes string) (changed bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errHeld)
	defer cancel()
	lock := flock.New(filepath.Join(filepath.Dir(k.Policy), lockName(k.Policy)), flock.SetPermissions(0o600))
	defer func() { _ = lock.Close() }()
	if _, err := lock.TryLockContext(ctx, time.Millisecond); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return false, fmt.Errorf("waiting to write the policy file: %w", err)
	}
	if err := checkWritable(k.Policy); err != nil {
		return false, err
	}
	now, err := os.ReadFile(k.Policy)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now, f.src) {
		return true, nil
	}
	if undoes == "" {
		if err := k.keepText(f.src, next); err != nil {
			return false, err
		}
	}
	if k.Wrote != nil { // before the write, because another process may read the new file at once
		k.Wrote(f.src, next)
	}
	err = atomicfile.Write(k.Policy, next, atomicfile.Options{Old: f.src})
	if err != nil {
		// The write may report an error although the file was replaced.
		if now, _ := os.ReadFile(k.Policy); bytes.Equal(now, next) {
			err = nil
		}
	}
	if err == nil && undoes != "" {
		_ = os.Remove(undoes)
	}
	return false, err
}

// ownWrite describes a rule that this Writer wrote into the file.
type ownWrite struct {
	to    string // the revision after the write
	index int    // index of the new rule
	line  int    // first line whose number has changed
	lines int    // number of lines that the write added
	own   []bool // own[i]: the rule that had the index i before the write is in the file itself, not in a file that it extends
}

func newOwnWrite(f *file, p *proposal) ownWrite {
	w := ownWrite{to: p.new.Revision(), index: p.rule.Index, line: 1, lines: bytes.Count(p.next, []byte("\n")) - bytes.Count(f.src, []byte("\n"))}
	for i := 0; i < len(f.src) && i < len(p.next) && f.src[i] == p.next[i]; i++ {
		if f.src[i] == '\n' {
			w.line++
		}
	}
	for _, s := range f.policy.Sources() {
		w.own = append(w.own, s.From == "")
	}
	return w
}

// maxGrown is the maximum number of writes that a Writer remembers.
const maxGrown = 1024

// noteWrite remembers a write. It is called before the write, because another goroutine may read
// the new file at once.
func (k *Writer) noteWrite(from string, g ownWrite) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.writes == nil || len(k.writes) >= maxGrown {
		k.writes = map[string]ownWrite{}
	}
	k.writes[from] = g
}

// relocateRule returns the rule r with its index and line in another revision of the policy, the
// parameter to. The index and line in r are those of the revision in the parameter from. If that
// parameter is "", they stay. relocateRule returns false if anything but rules of this Writer has
// changed between the two revisions.
func (k *Writer) relocateRule(r policy.Rule, from, to string) (policy.Rule, bool) {
	if from == "" {
		return r, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for steps := 0; from != to; steps++ {
		g, ok := k.writes[from]
		if !ok || steps > maxGrown {
			return r, false
		}
		if r.Index < len(g.own) && g.own[r.Index] && r.Pos.Line >= g.line {
			r.Pos.Line += g.lines
		}
		if r.Index >= g.index {
			r.Index++
		}
		from = g.to
	}
	return r, true
}
