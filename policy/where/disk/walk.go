package disk

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

const (
	maxPath  = 4096 // largest length of a path in bytes: PATH_MAX on Linux; other systems have a smaller limit
	maxLinks = 40   // largest number of links in one walk: the limit of Linux; other systems have a smaller limit
	maxNames = 1024 // largest number of names in one walk
)

// errUndecided means that the package cannot tell where a path leads.
var errUndecided = errors.New("undecided")

// step is one name on a path without links; info is nil when nothing exists there.
type step struct {
	name string
	info fs.FileInfo
}

// location is the target of a path: a root and the steps from it.
type location []step // the first is the root

func (dir location) String() string {
	if len(dir) == 1 {
		return dir[0].name
	}
	var b strings.Builder
	for i, s := range dir {
		if i > 1 {
			b.WriteByte(separatorOf(dir[0].name))
		}
		b.WriteString(s.name)
	}
	return b.String()
}

func separatorOf(root string) byte { return root[len(root)-1] }

// walker resolves one path.
type walker struct {
	disk    Disk
	syntax  syntax
	at      location
	pending []string // names that are not resolved yet, in reverse order
	own     location // the place of the path's last name if this name is a link
	links   int
	names   int
}

// walkPath resolves an absolute path. The second result is the place of the path's last name. It
// differs from the first result if that name is a link.
func walkPath(d Disk, s syntax, path string) (end, own location, err error) {
	w := &walker{disk: d, syntax: s}
	if err := w.startAtRoot(path); err != nil {
		return nil, nil, err
	}
	for len(w.pending) > 0 {
		last := len(w.pending) - 1
		name := w.pending[last]
		w.pending = w.pending[:last]
		if err := w.takeStep(name); err != nil {
			return nil, nil, err
		}
	}
	if w.own == nil {
		w.own = w.at
	}
	return w.at, w.own, nil
}

// startAtRoot goes to the root of an absolute path and puts its names before the
// pending names.
func (w *walker) startAtRoot(path string) error {
	root, names, ok := w.syntax.splitPath(path)
	if !ok {
		return errUndecided
	}
	info, err := w.disk.Lstat(root)
	if err != nil {
		return err
	}
	w.at = location{{root, info}}
	w.pushNames(names)
	return nil
}

func (w *walker) pushNames(names []string) {
	slices.Reverse(names)
	w.pending = append(w.pending, names...)
}

// takeStep resolves one name.
func (w *walker) takeStep(name string) error {
	if w.names++; w.names > maxNames {
		return errUndecided
	}
	above := w.at[len(w.at)-1].info
	if name == ".." {
		if above != nil && !above.IsDir() {
			// A kernel returns an error for file/.., and cleaning the text gives the folder of the
			// file.
			return errUndecided
		}
		w.at = w.at[:max(1, len(w.at)-1)]
		return nil
	}
	w.at = append(w.at, step{name: name})
	path := w.at.String()
	switch {
	case kernelPath(path):
		return errUndecided
	case above == nil:
		return nil // nothing can be below a missing name
	}
	info, err := w.disk.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeIrregular != 0: // a junction or another reparse point of Windows
		return errUndecided
	}
	w.at[len(w.at)-1].info = info
	if info.Mode()&fs.ModeSymlink != 0 {
		return w.followLink(path)
	}
	return nil
}

// followLink continues at the target of a link. path is the link, the last name that was resolved.
func (w *walker) followLink(path string) error {
	if w.links++; w.links > maxLinks {
		return errUndecided
	}
	if len(w.pending) == 0 && w.own == nil {
		w.own = slices.Clone(w.at)
	}
	w.at = w.at[:len(w.at)-1]
	target, err := w.disk.Readlink(path)
	switch {
	case err != nil:
		return err
	case target == "" || len(target) > maxPath:
		return errUndecided
	case w.syntax.isAbsolute(target):
		return w.startAtRoot(target)
	}
	names, ok := w.syntax.splitNames(target)
	if !ok {
		return errUndecided
	}
	w.pushNames(names)
	return nil
}

// kernelPath reports whether a path without links leads to files that the kernel makes for each
// process that reads them: links of Linux's /proc (they differ between this process and the
// server), open files, files by number and lookups in another mode (macOS).
func kernelPath(path string) bool {
	if len(path) < 5 || path[0] != '/' {
		return false
	}
	for _, dir := range [...]string{"/proc", "/dev/fd", "/.vol", "/.file", "/.nofollow", "/.resolve"} {
		if len(path) >= len(dir) && strings.EqualFold(path[:len(dir)], dir) && (len(path) == len(dir) || path[len(dir)] == '/') {
			return true
		}
	}
	return strings.Contains(path, "/..namedfork")
}
