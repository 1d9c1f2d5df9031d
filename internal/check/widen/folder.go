package widen

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/text/textclass"
)

// CheckFolder returns an error for a folder that must not be opened, by its name or by where it
// leads: the home folder and those above it, one that no rule can name, a place of keys, clawai's
// own folders with those above them, and one behind a link. It needs the disk. If the folder does
// not exist, it checks the part of the path that exists.
func CheckFolder(folder, home string, own []string) error {
	if err := checkLinks(folder, home); err != nil {
		return err
	}
	if err := checkName(folder, home, own); err != nil {
		return err
	}
	all := append([]string{folder, home}, own...)
	for i, path := range all {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			all[i] = real
		}
	}
	return checkName(all[0], all[1], all[2:])
}

// checkName returns an error for a folder whose name shows that it must not be opened.
func checkName(folder, home string, own []string) error {
	if !isModest(folder, home) {
		return fmt.Errorf("%s is your home folder or above it, or has a name that no rule can have: open a folder in it", folder)
	}
	slashed := filepath.ToSlash(folder)
	for i := range textclass.SecretPlaces {
		switch p := &textclass.SecretPlaces[i]; {
		case p.ContainsPath(slashed):
			return fmt.Errorf("%s is a place where secrets are kept", folder)
		case strings.HasPrefix(p.Path, strings.TrimSuffix(slashed, "/")+"/"):
			return fmt.Errorf("%s holds the secrets of the system (%s): open a folder in it", folder, p.Path)
		}
	}
	if textclass.NamesShut(slashed + "/x") {
		return fmt.Errorf("%s is a place where secrets are kept", folder)
	}
	for _, of := range own {
		if liesBelow(folder, of) || liesBelow(of, folder) {
			return fmt.Errorf("%s holds clawai's own files, or lies among them", folder)
		}
	}
	return nil
}

// checkLinks returns an error for a folder whose path goes through a symbolic link, except the home
// folder itself: the rules would name the link, and it can lead to any place later.
func checkLinks(folder, home string) error {
	real, err := filepath.EvalSymlinks(folder)
	if above := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && above != folder {
		return checkLinks(above, home)
	}
	if err != nil {
		return err
	}
	want := filepath.Clean(folder)
	if rel, err := filepath.Rel(home, folder); err == nil && liesBelow(folder, home) {
		realHome, err := filepath.EvalSymlinks(home)
		if err != nil {
			return err
		}
		want = filepath.Join(realHome, rel)
	}
	if real != want {
		return fmt.Errorf("%s leads through a link to %s: open that folder", folder, real)
	}
	return nil
}

// liesBelow reports whether a path is a folder, or below it.
func liesBelow(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// SpellFolder returns a folder as rules name it. One below the home starts with ~, so that a rule
// also matches a call that writes its path with ~.
func SpellFolder(folder, home string) string {
	folder = filepath.ToSlash(folder)
	if rest, below := strings.CutPrefix(folder, filepath.ToSlash(filepath.Clean(home))+"/"); below && home != "" {
		return "~/" + rest
	}
	return folder
}

// CheckClosed returns an error for a folder that no rule can close by its name: the home folder and
// those above it, and one whose name is a pattern or needs quoting.
func CheckClosed(folder, home string) error {
	if !isModest(folder, home) {
		return fmt.Errorf("%s is your home folder or above it, or has a name that no rule can have: close a folder in it", folder)
	}
	return nil
}

// isModest reports whether a folder is neither the home folder nor above it, and its name is not a
// pattern and needs no quoting.
func isModest(folder, home string) bool {
	rel, err := filepath.Rel(folder, home)
	if strings.EqualFold(filepath.VolumeName(folder), filepath.VolumeName(home)) {
		if err != nil || rel == "." || !strings.HasPrefix(rel, "..") {
			return false
		}
	} else if clean := filepath.Clean(folder); filepath.Dir(clean) == clean {
		return false // the root of another drive
	}
	return !strings.ContainsFunc(folder, func(r rune) bool {
		return strings.ContainsRune("\"\\*?[]{}$%", r) || !unicode.IsPrint(r)
	})
}
