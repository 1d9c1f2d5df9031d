package widen

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/text/textclass"
)

// CheckFolder returns an error for an absolute folder that is not opened: the home folder and
// those above it, one that no rule can name, a place of keys, and clawai's own folders with those
// above them.
func CheckFolder(folder, home string, own []string) error {
	if !IsModestFolder(folder, home) {
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

// CheckLinks returns an error for a folder whose path goes through a symbolic link, except the home
// folder itself: the rules would name the link, and it can lead to any place later. It needs the
// disk.
func CheckLinks(folder, home string) error {
	real, err := filepath.EvalSymlinks(folder)
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

// IsModestFolder reports whether a rule may open a folder without a question: it is not the
// home folder or above it, and its name is not a pattern and needs no quoting.
func IsModestFolder(folder, home string) bool {
	rel, err := filepath.Rel(folder, home)
	if strings.EqualFold(filepath.VolumeName(folder), filepath.VolumeName(home)) {
		if err != nil || rel == "." || !strings.HasPrefix(rel, "..") {
			return false
		}
	} else if clean := filepath.Clean(folder); filepath.Dir(clean) == clean {
		return false // the whole of another drive
	}
	return !strings.ContainsFunc(folder, func(r rune) bool {
		return strings.ContainsRune("\"\\*?[]{}$%", r) || !unicode.IsPrint(r)
	})
}
