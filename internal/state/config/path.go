package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/access"
)

// resolvedPath is a path with its symlinks resolved.
type resolvedPath struct {
	file string // path of the file, without symlinks
	// entries are the directory entries on the way: each symlink, and then the file itself or the
	// entry that is missing. A change of such an entry could lead the path to another file.
	entries []string
}

// maxLinks is Linux's limit of symlinks on one path.
const maxLinks = 40

// resolvePath finds the file that path leads to. It returns an error if another user could change
// the result. Each folder and symlink on the way, also on the way to a link's target, must belong
// to us or root, and no other user may write to it. A sticky folder is allowed, because other users
// cannot touch our files there. The caller must open and check the file itself. Even after an
// error, t.entries has the entries that were found so far.
func resolvePath(path string) (t resolvedPath, err error) { return new(walk).walkPath(path) }

// walk resolves several paths and checks each folder only once.
type walk struct {
	sound []string // checked folders without symlinks; a parent comes before its subfolders
}

// findSoundFolder returns the nearest checked folder above path, and the rest of path below it. If
// no folder is checked yet, findSoundFolder checks the root.
func (w *walk) findSoundFolder(path string) (at, rest string, err error) {
	for _, dir := range slices.Backward(w.sound) {
		if rest, below := strings.CutPrefix(path, strings.TrimSuffix(dir, separator)+separator); below {
			return dir, rest, nil
		}
	}
	if at, rest, err = splitRoot(path); err == nil {
		w.sound = append(w.sound, at)
	}
	return at, rest, err
}

func (w *walk) walkPath(path string) (t resolvedPath, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return t, err
	}
	at, rest, err := w.findSoundFolder(path)
	if err != nil {
		return t, err
	}
	links := 0
	for {
		var name string
		name, rest, _ = strings.Cut(rest, separator)
		switch name {
		case "", ".":
			if rest == "" {
				t.file = at
				return t, nil
			}
			continue
		case "..": // ".." occurs only in the target of a link; filepath.Dir is right, because the path in at has no links
			at = filepath.Dir(at)
			continue
		}
		entry := strings.TrimSuffix(at, separator) + separator + name
		info, err := os.Lstat(entry)
		if err != nil {
			t.entries = append(t.entries, entry)
			return t, err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			t.entries = append(t.entries, entry)
			if links++; links > maxLinks {
				return t, fmt.Errorf("%s: too many symlinks", path)
			}
			at, rest, err = followLink(entry, info, at, rest)
		case rest == "":
			t.entries, t.file = append(t.entries, entry), entry
			return t, nil
		case info.IsDir():
			if at, err = entry, access.CheckChange(entry, info); err == nil {
				w.sound = append(w.sound, entry)
			}
		default:
			at = entry // entry is not a folder, so the next step returns an error
		}
		if err != nil {
			return t, err
		}
	}
}

const separator = string(filepath.Separator)

// splitRoot splits an absolute path into its root and the rest. It checks the root.
func splitRoot(path string) (at, rest string, err error) {
	volume := filepath.VolumeName(path)
	at, rest = volume+separator, strings.TrimPrefix(filepath.Clean(path)[len(volume):], separator)
	info, err := os.Lstat(at)
	if err != nil {
		return "", "", err
	}
	return at, rest, access.CheckChange(at, info)
}

// followLink follows a symlink. The parameter at is the folder that contains the symlink.
// followLink returns the folder at which the walk continues, and the rest of the path below that
// folder.
func followLink(link string, info fs.FileInfo, at, rest string) (string, string, error) {
	if err := access.CheckChange(link, info); err != nil {
		return "", "", err
	}
	target, err := os.Readlink(link)
	if err != nil {
		return "", "", err
	}
	if !filepath.IsAbs(target) {
		return at, filepath.FromSlash(target) + separator + rest, nil
	}
	at, begin, err := splitRoot(target)
	return at, begin + separator + rest, err
}

// PrivateFolder creates the folder if it is missing (mode 0700). It returns an error if other users
// could change files in the folder.
func PrivateFolder(path string) error {
	t, err := resolvePath(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("make the folder %s: %w", path, err)
		}
		t, err = resolvePath(path)
	}
	if err != nil {
		return err
	}
	info, err := os.Lstat(t.file)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return errors.Join(access.CheckChange(t.file, info), fmt.Errorf("%s is shared by several users; name a folder of your own", path))
	}
	return access.CheckChange(t.file, info)
}
