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

// resolvedPath is the way from a path to the file it means.
type resolvedPath struct {
	file string // symlinks resolved
	// entries are the entries at which the way can be changed without changing
	// the file: each symlink, and the file, or what is missing in its place.
	entries []string
}

// maxLinks is what Linux allows on one path.
const maxLinks = 40

// resolvePath walks to the file that path means, and refuses when somebody else
// could change what lies there: each folder and symlink on the way, targets
// included, must be ours or root's, and writable by nobody else (a sticky
// folder may be: there others cannot touch what is ours). The file itself is
// for the caller to check, opened. The result is good as far as it was walked
// even when there is an error.
func resolvePath(path string) (t resolvedPath, err error) { return new(walk).walkPath(path) }

// walk goes to several files at the same time: a folder that is on the way to two of them is
// looked at once.
type walk struct {
	sound []string // folders, without links; behind each that is above it
}

// findSoundFolder gives the nearest folder above path that is sound.
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
		case "..": // of a link's target; at has no links, so its parent is lexical
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
			at = entry // not a folder: the next step says so
		}
		if err != nil {
			return t, err
		}
	}
}

const separator = string(filepath.Separator)

// splitRoot splits an absolute path into its checked root and the rest.
func splitRoot(path string) (at, rest string, err error) {
	volume := filepath.VolumeName(path)
	at, rest = volume+separator, strings.TrimPrefix(filepath.Clean(path)[len(volume):], separator)
	info, err := os.Lstat(at)
	if err != nil {
		return "", "", err
	}
	return at, rest, access.CheckChange(at, info)
}

// followLink continues the walk at the target of a symlink.
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

// PrivateFolder makes the folder when it is missing (mode 0700) and refuses it
// when other users could change what lies in it.
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
