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

// CheckFolder returns an error if a folder must not be opened:
//   - the home folder, or a parent of it
//   - a folder that no rule can name
//   - a place of keys
//   - a folder of clawai itself, or a parent of one
//   - a folder behind a symbolic link
//
// CheckFolder reads the disk. If the folder does not exist, it checks the part of the path that
// exists.
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

// checkName returns an error if the path of a folder shows that it must not be opened.
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

// checkLinks returns an error if the path of a folder goes through a symbolic link, because the
// link may lead to another place later. A link at the home folder itself is allowed.
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

// liesBelow reports whether a path is the folder, or below the folder.
func liesBelow(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// SpellFolder returns a folder in the form that rules use. A folder below the home begins with ~,
// so that the rule also matches a call that writes ~.
func SpellFolder(folder, home string) string {
	folder = filepath.ToSlash(folder)
	if rest, below := strings.CutPrefix(folder, filepath.ToSlash(filepath.Clean(home))+"/"); below && home != "" {
		return "~/" + rest
	}
	return folder
}

// CheckClosed returns an error if no rule can close a folder by its name: the home folder and its
// parents, and a folder whose name is a pattern or needs quotes.
func CheckClosed(folder, home string) error {
	if !isModest(folder, home) {
		return fmt.Errorf("%s is your home folder or above it, or has a name that no rule can have: close a folder in it", folder)
	}
	return nil
}

// isModest reports whether rules can name a folder. They cannot name the home folder, a parent of
// it, or the root of another drive. The name must be no pattern and must need no quotes.
func isModest(folder, home string) bool {
	rel, err := filepath.Rel(folder, home)
	if strings.EqualFold(filepath.VolumeName(folder), filepath.VolumeName(home)) {
		if err != nil || rel == "." || !strings.HasPrefix(rel, "..") {
			return false
		}
	} else if clean := filepath.Clean(folder); filepath.Dir(clean) == clean {
		return false // this is the root of another drive
	}
	return !strings.ContainsFunc(folder, func(r rune) bool {
		return strings.ContainsRune("\"\\*?[]{}$%", r) || !unicode.IsPrint(r)
	})
}
