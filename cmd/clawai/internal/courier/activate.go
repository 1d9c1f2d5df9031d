package courier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check/bundled"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// refusedError says why a bundle was refused. The earlier bundle stays in force.
type refusedError struct{ error }

func (r refusedError) Unwrap() error { return r.error }

// Active describes the bundle in force.
type Active struct {
	Counter  uint64 // counter of the bundle; 0 if no bundle is in force
	Revision string // revision of the bundle's policy
	New      bool   // the bundle came into force in this poll
}

// active is the bundle in force with its signed text.
type active struct {
	Active
	src []byte // the signed bytes; nil if no bundle is in force
}

// readActive returns the bundle in force. If the bundle's file cannot be read, no bundle is in
// force. Even then, activate refuses older bundles, because the progress file has the counter too.
func readActive(state string, keys []string) (a active, b bundle.Bundle) {
	src, err := config.ReadFile(enrolment.BundleFile(state))
	if err != nil {
		return a, b
	}
	if b, _, err = bundle.Read(src, keys); err != nil {
		return a, b
	}
	return active{Active{Counter: b.Counter}, src}, b
}

// activate puts a bundle into force if it meets these conditions:
//   - One of the keys has signed it.
//   - Its counter is not smaller than the largest counter of a bundle that was in force here.
//   - If it has the counter of the bundle in force, it has the same files too.
//   - Its policy loads as a layer on this laptop.
//   - Its fixtures pass.
//
// Otherwise activate changes nothing and returns a refusedError. Any other error is an error of the
// disk.
func activate(folders config.Folders, src []byte, keys []string) (Active, error) {
	state := folders.State
	b, _, err := bundle.Read(src, keys)
	if err != nil {
		return Active{}, refusedError{err}
	}
	p, err := enrolment.ReadProgress(state)
	if err != nil {
		return Active{}, err
	}
	before, old := readActive(state, keys)
	newest := max(p.Counter, before.Counter)
	switch {
	case b.Counter < newest:
		return Active{}, refusedError{fmt.Errorf("the bundle's counter is %d, and %d was in force already: an older bundle never counts again; to go back, sign the old rules with a larger counter", b.Counter, newest)}
	case b.Counter == before.Counter && !hasSameFiles(&b, &old):
		return Active{}, refusedError{fmt.Errorf("the bundle's counter is %d, as that of the one in force, and its rules are others; sign them with a larger counter", b.Counter)}
	}
	trial, err := bundled.Try(nil, &b, enrolment.PolicyFile(state), policyfile.PolicyOptions(folders.Home), packs.ParsePack)
	if err == nil {
		err = trial.Err()
	}
	if err != nil {
		return Active{}, refusedError{fmt.Errorf("the bundle with the counter %d was refused: %w", b.Counter, err)}
	}
	a := Active{Counter: b.Counter, Revision: trial.Rules.Revision(), New: b.Counter != before.Counter}
	// The signed file is written first. If this process is then killed, the next process can write
	// the rules from that file.
	for _, dir := range []string{enrolment.Folder(state), filepath.Dir(enrolment.PolicyFile(state))} {
		if err := config.PrivateFolder(dir); err != nil {
			return Active{}, err
		}
	}
	if !bytes.Equal(src, before.src) {
		if err := atomicfile.Write(enrolment.BundleFile(state), src, atomicfile.Options{Mode: 0o600}); err != nil {
			return Active{}, err
		}
	}
	_, err = writeRules(state, &b)
	return a, err
}

// hasSameFiles reports whether two bundles contain the same files.
func hasSameFiles(a, b *bundle.Bundle) bool {
	return slices.EqualFunc(a.Files, b.Files, func(x, y bundle.File) bool { return x.Name == y.Name && bytes.Equal(x.Text, y.Text) })
}

// writeRules writes the policy and the packs of a bundle into the folder from which sessions read
// them. It removes all other files in that folder. changed reports whether a file had different
// bytes before.
func writeRules(state string, b *bundle.Bundle) (changed bool, err error) {
	file := enrolment.PolicyFile(state)
	dir := filepath.Dir(file)
	write := func(path string, text []byte) error {
		if old, err := config.ReadFile(path); err == nil && bytes.Equal(old, text) {
			return nil
		}
		changed = true
		// Somebody has put a link or a folder in this place.
		if fi, err := os.Lstat(path); err == nil && !fi.Mode().IsRegular() {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		return atomicfile.Write(path, text, atomicfile.Options{Mode: 0o600})
	}
	keep := []string{filepath.Base(file)}
	for _, p := range b.Packs() { // before the policy, because the policy names the packs
		keep = append(keep, p.Name)
		if err := write(filepath.Join(dir, p.Name), p.Text); err != nil {
			return changed, err
		}
	}
	if old, err := config.ReadFile(file); err != nil || !bytes.Equal(old, b.Policy()) {
		// If a new text of a layer has fewer rules, running sessions keep the old rules until the
		// new text is confirmed. This text is complete and signed, so it is confirmed here.
		if err := config.ConfirmPolicy(state, file, b.Policy()); err != nil {
			return changed, err
		}
	}
	if err := write(file, b.Policy()); err != nil {
		return changed, err
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return changed, err
	}
	for _, e := range there {
		if !slices.Contains(keep, e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// restoreRules writes the rules of the bundle in force again, because somebody may have changed
// them, or a crash may have left them incomplete. changed reports whether the files were different.
func restoreRules(state string, keys []string) (a active, changed bool, err error) {
	a, b := readActive(state, keys)
	if a.src == nil {
		return a, false, nil
	}
	changed, err = writeRules(state, &b)
	return a, changed, err
}

// EndEnrolment ends the enrolment. After that, the bundle's rules no longer apply, not even in
// running sessions. The error is enrolment.ErrNone if the laptop is not enrolled.
func EndEnrolment(ctx context.Context, state string) error {
	file := enrolment.PolicyFile(state)
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		if err := config.ConfirmPolicy(state, file, nil); err != nil {
			return err
		}
	}
	return enrolment.RemoveEnrolment(ctx, state)
}
