package wrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// SplitWritable splits the changes. The result writable has the changes whose file may be edited.
// The result refused has the reason for each of the remaining changes. If a caller shows only the
// changes in writable, each change that it shows can be made.
func (o Options) SplitWritable(changes []Change) (writable []Change, refused []error) {
	for _, c := range changes {
		if err := o.checkFile(c); err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", c.Path, err))
			continue
		}
		writable = append(writable, c)
	}
	return writable, refused
}

// checkEditable returns the reason why a file must not be edited now.
func (o Options) checkEditable(c Change) error {
	if err := o.checkFile(c); err != nil {
		return err
	}
	return o.checkNotRunning(c)
}

// checkFile returns an error for a read-only file. It also returns an error if a symlink leads to
// the file and the file is outside the owner's folders.
func (o Options) checkFile(c Change) error {
	if !o.Follow && !o.inOwnFolders(c) {
		return fmt.Errorf("it is a symlink to %s, outside your home folder; give --follow to edit that file", c.Real)
	}
	if !c.Absent {
		if err := checkWritable(c.Real); err != nil {
			return err
		}
	}
	return nil
}

// inOwnFolders reports whether the file may be edited in spite of symlinks: no symlink leads to it,
// or the file itself is in the owner's home or project folder.
func (o Options) inOwnFolders(c Change) bool {
	if c.Real == filepath.Clean(c.Path) {
		return true
	}
	for _, dir := range []string{o.Home, o.Dir} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" && isInside(c.Real, real) {
			return true
		}
	}
	return false
}

// checkWritable returns an error for a file that is marked read-only. A rename could replace the
// file, but the owner has set the mark on purpose.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return withoutPath(err)
	}
	if err := checkOwner(path); err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 || !mayWrite(path) {
		return fmt.Errorf("it is read-only for you (%s); make it writable or edit it as its owner", info.Mode().Perm())
	}
	return nil
}

// checkNotRunning returns an error if the client runs and would later overwrite the edited file
// with its own copy.
func (o Options) checkNotRunning(c Change) error {
	var names []string
	for _, e := range c.Edits {
		names = append(names, e.Row.Processes...)
	}
	if len(names) == 0 || o.WhileRunning {
		return nil
	}
	running, err := o.findRunning(names)
	if err != nil {
		return fmt.Errorf("cannot tell whether %s is running (%w); quit it and give --while-running", c.Edits[0].Row.Name, err)
	}
	if running {
		return fmt.Errorf("%s is running and would write over the edit; quit it and run the command again, or give --while-running", c.Edits[0].Row.Name)
	}
	return nil
}

// mayRewrite reports whether a program that writes the file from its memory runs now. It also
// returns true if the running programs cannot be listed.
func (o Options) mayRewrite(c Change) bool {
	var names []string
	for _, e := range c.Edits {
		names = append(names, e.Row.Writers...)
	}
	if len(names) == 0 {
		return false
	}
	running, err := o.findRunning(names)
	return running || err != nil
}

// findRunning reports whether a program with one of the names runs.
func (o Options) findRunning(names []string) (bool, error) {
	list := o.Running
	if list == nil {
		list = RunningPrograms
	}
	running, err := list()
	return slices.ContainsFunc(running, func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return n == name || goos == "windows" && strings.EqualFold(strings.TrimSuffix(n, ".exe"), strings.TrimSuffix(name, ".exe"))
		})
	}), err
}

// removeLeftovers removes temporary files beside the file. A clawai process leaves one if it is
// killed during a write. No other clawai process is writing now, because the caller has the lock of
// the file.
func removeLeftovers(real string, now time.Time) {
	dir, base := filepath.Split(real)
	ours := regexp.MustCompile(`^\.` + regexp.QuoteMeta(base) + `\.[0-9]+\.tmp$`)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // an error is ignored, because the write will report it too
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !ours.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// failureAdvice returns advice for a usual error of a write; "" for other errors.
func failureAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; make room on the disk and run the command again"
	case errors.Is(err, fs.ErrPermission):
		return "; its folder must be writable for you, as a new file takes the old one's place"
	}
	return ""
}
