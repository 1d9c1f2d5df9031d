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

// file is the policy file as it was at one moment.
type file struct {
	src    []byte
	policy *policy.Policy
}

// loadPolicy reads the policy file, also one that is not to be written.
func (k *Writer) loadPolicy() (*file, error) {
	info, err := os.Stat(k.Policy)
	if err == nil && !info.Mode().IsRegular() { // and may never end
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

// checkWritable gives nil for a file whose owner lets it be written, and which lies where
// it is named: behind a symlink is a file that others may share, or keep under
// version control, and rely on.
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

// lockName gives the file beside a policy file that its writers lock.
func lockName(path string) string { return "." + filepath.Base(path) + ".lock" }

// patience bounds the wait for another process that writes: it takes
// milliseconds.
const patience = 5 * time.Second

var errHeld = fmt.Errorf("another process has held its lock for %v", patience)

// replaceFile gives the file its next content if it still holds what f has. The lock
// beside it makes writers wait for each other: without it one could overwrite
// what another has written between its check and its rename.
func (k *Writer) replaceFile(ctx context.Context, f *file, next []byte) (changed bool, err error) {
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
	if k.Wrote != nil { // first: the file may be looked at as soon as it is there
		k.Wrote(f.src, next)
	}
	err = atomicfile.Write(k.Policy, next, atomicfile.Options{Old: f.src})
	if err != nil {
		// It may have failed after the file was replaced.
		if now, _ := os.ReadFile(k.Policy); bytes.Equal(now, next) {
			err = nil
		}
	}
	return false, err
}

// ownWrite is a rule that was written into the file.
type ownWrite struct {
	to    string // the revision after
	index int    // of the new rule
	lines int    // by which those below have moved
}

// maxGrown bounds what is remembered of one's own writing.
const maxGrown = 1024

// noteWrite notes what is about to be written: whoever reads the file next may ask.
func (k *Writer) noteWrite(from string, g ownWrite) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.writes == nil || len(k.writes) >= maxGrown {
		k.writes = map[string]ownWrite{}
	}
	k.writes[from] = g
}

// relocateRule gives the place of a rule of one revision in another; false when
// anything but this Writer's own rules has changed between them. Without a
// revision to start from, the rule must stand where it stood.
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
		if r.Index >= g.index {
			r.Index++
			r.Pos.Line += g.lines
		}
		from = g.to
	}
	return r, true
}
