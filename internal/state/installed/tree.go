package installed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Measured is the result of Measure for a folder.
type Measured struct {
	Stamp   string // digest of the system's facts about each file: its inode number, size, mode and times
	Content string // digest of the content of each file
	Files   int
}

// maxFiles limits the number of files in an installation. The largest servers of npm have some ten
// thousand files.
const maxFiles = 200_000

// Measure reads a whole folder. It returns an error for files that no package needs: a link that
// leads out of the folder, a device, or a program that runs with its owner's rights.
func Measure(dir string) (m Measured, err error) {
	stamp, content := sha256.New(), sha256.New()
	m.Files, err = walkTree(dir, func(name string, info fs.FileInfo, link string) error {
		if err := writeStamp(stamp, name, info, link); err != nil {
			return err
		}
		return writeContent(content, dir, name, info, link)
	})
	m.Stamp, m.Content = hex.EncodeToString(stamp.Sum(nil)), hex.EncodeToString(content.Sum(nil))
	return m, err
}

// stampOf returns only the Stamp of Measure. It is fast, because it opens no file.
func stampOf(dir string) (string, error) {
	stamp := sha256.New()
	_, err := walkTree(dir, func(name string, info fs.FileInfo, link string) error { return writeStamp(stamp, name, info, link) })
	return hex.EncodeToString(stamp.Sum(nil)), err
}

// Check returns an error if the files of an installation were changed. It first asks the system for
// the inode numbers, sizes and times of all files. If these have changed, for example after a
// backup was restored, it compares the content of the files.
func (s *Store) Check(m *Manifest) error {
	dir := s.Folder(m)
	now, err := stampOf(dir)
	if err == nil && now == m.Stamp {
		return nil
	}
	whole, failed := Measure(dir)
	switch {
	case failed != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, failed)
	case whole.Content != m.Content || whole.Files != m.Files:
		return fmt.Errorf("%w: files in %s were changed%s", ErrDamaged, dir, s.nameChanged(m))
	}
	return nil
}

// nameChanged returns the names of at most three files that were changed after the manifest was
// written, the latest first. If only folders were changed, it returns their names. The names are
// for an error.
func (s *Store) nameChanged(m *Manifest) string {
	const most = 3
	info, err := os.Stat(s.manifestFile(m.Server))
	if err != nil {
		return ""
	}
	type changed struct {
		name   string
		folder bool
		at     time.Time
	}
	var all []changed
	_, _ = walkTree(s.Folder(m), func(name string, file fs.FileInfo, _ string) error {
		if at := changeTime(file); !at.Before(info.ModTime()) {
			all = append(all, changed{name, file.IsDir(), at})
		}
		return nil
	})
	if files := slices.DeleteFunc(slices.Clone(all), func(c changed) bool { return c.folder }); len(files) > 0 {
		all = files
	}
	slices.SortStableFunc(all, func(a, b changed) int { return b.at.Compare(a.at) })
	var names []string
	for _, c := range all[:min(len(all), most)] {
		names = append(names, strconv.Quote(c.name))
	}
	if len(names) == 0 {
		return ""
	}
	return " (last: " + strings.Join(names, ", ") + ")"
}

// walkTree calls visit for all files, folders and links below a folder, in the order of their
// names. For a link, link is its target.
func walkTree(dir string, visit func(name string, info fs.FileInfo, link string) error) (count int, err error) {
	err = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		if count++; count > maxFiles {
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		link := ""
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			if link, err = os.Readlink(at); err != nil {
				return err
			}
			if !staysInside(dir, name, link) {
				return fmt.Errorf("%q is a link that leads out of its folder, or nowhere", name)
			}
		case mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 && !mode.IsDir():
			return fmt.Errorf("%q runs with the rights of its owner", name)
		case !mode.IsRegular() && !mode.IsDir():
			return fmt.Errorf("%q is no file and no folder", name)
		}
		return visit(name, info, link)
	})
	return count, err
}

// staysInside reports whether a link leads to a place below the folder. It asks the disk, because
// the target may lead through another link, and ".." may then lead out of the folder.
func staysInside(dir, name, link string) bool {
	if filepath.IsAbs(link) || link == "" {
		return false
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	return err == nil && strings.HasPrefix(real, root+string(filepath.Separator))
}

// writeContent adds a file's name and content to a digest.
func writeContent(to hash.Hash, dir, name string, info fs.FileInfo, link string) error {
	fmt.Fprintf(to, "%q %v %q\n", name, info.Mode(), link)
	if !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fmt.Fprintf(to, "%d\n", info.Size())
	_, err = io.Copy(to, f)
	return err
}
