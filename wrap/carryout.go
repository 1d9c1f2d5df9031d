package wrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

// checkPlace returns an error if the path of the change now leads to another file.
func (c Change) checkPlace() error {
	real, err := filepath.EvalSymlinks(c.Path)
	if c.Absent && err != nil {
		real, err = realFolder(c.Path), nil
	}
	if err != nil || real != c.Real {
		return errors.New("its symlink leads elsewhere by now; nothing was written, run the command again")
	}
	if c.Absent && pathExists(c.Real) {
		return fmt.Errorf("nothing was written: %w; run the command again", atomicfile.ErrChanged)
	}
	return nil
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// missingFolders returns the folders that must be created before the file can be written.
func (c Change) missingFolders() (all []string) {
	if !c.Absent {
		return nil
	}
	for dir := filepath.Dir(c.Real); !pathExists(dir); dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// carryOut makes the change on disk: it creates, replaces or removes the file.
func (c Change) carryOut(state string) error {
	switch {
	case c.Gone:
		return c.removeFile(madeFolders(state))
	case c.Absent:
		if err := os.MkdirAll(filepath.Dir(c.Real), 0o700); err != nil {
			return err
		}
		o := atomicfile.Options{}
		if c.Program {
			o.Mode = 0o700
		}
		return atomicfile.Write(c.Real, c.After, o)
	}
	return atomicfile.Write(c.Real, c.After, atomicfile.Options{Old: c.Before})
}

// removeFile removes the file. It also removes the folders above the file that wrap created (made),
// if they are empty.
func (c Change) removeFile(made map[string]bool) error {
	if !hasBytes(c.Real, c.Before) {
		return fmt.Errorf("remove %s: %w", c.Real, atomicfile.ErrChanged)
	}
	if err := os.Remove(c.Real); err != nil {
		return withoutPath(err)
	}
	for dir := filepath.Dir(c.Real); made[dir]; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // stop at the first folder that is not empty
			break
		}
	}
	return nil
}
