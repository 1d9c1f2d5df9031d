package layer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/preview/report"
)

// Limits in bytes of the texts in the list of changes: for one file, and for all files together.
const (
	maxText  = 8 << 10
	maxTexts = 64 << 10
)

// lister lists the changes in one layer.
type lister struct {
	*layer
	r     *runner
	until time.Time
	texts *int // bytes of text that may still be kept, for all layers together
}

// listChanges compares the layers with the real folders under them.
func (r *runner) listChanges(until time.Time) {
	texts := maxTexts
	for _, l := range r.layers {
		r.result.Full = r.result.Full || l.isFull()
		at := &lister{layer: l, r: r, until: until, texts: &texts}
		at.listFolder(".", true, false)
	}
}

// isFull reports whether the memory of the layers is used up.
func (l *layer) isFull() bool {
	var stat unix.Statfs_t
	err := unix.Statfs(l.upper, &stat)
	return err == nil && (stat.Bavail*uint64(stat.Bsize) < 64<<10 || stat.Ffree < 16) //nolint:gosec // a size is never negative
}

func (l *lister) isLate() bool {
	if time.Now().After(l.until) {
		l.r.result.Unread = true
	}
	return l.r.result.Unread
}

// listFolder lists the changes in a folder of the layer. covers means that there is a real folder
// under the layer's folder. opaque means that the command has replaced the real folder: files that
// only the real folder has were deleted.
func (l *lister) listFolder(folder string, covers, opaque bool) {
	entries, err := os.ReadDir(filepath.Join(l.upper, folder))
	if err != nil {
		l.r.result.Unread = true
		return
	}
	kept := map[string]bool{}
	for _, e := range entries {
		if l.isLate() {
			return
		}
		kept[e.Name()] = true
		l.listEntry(filepath.Join(folder, e.Name()), covers)
	}
	if !covers || !opaque {
		return
	}
	real, _ := os.ReadDir(filepath.Join(l.lower, folder))
	for _, e := range real {
		if rest := filepath.Join(folder, e.Name()); !kept[e.Name()] {
			l.listDeleted(rest)
		}
	}
}

// entry is one file, in a layer or in the real folder under the layer.
type entry struct {
	path string
	info os.FileInfo
	stat *syscall.Stat_t
}

func readEntry(path string) *entry {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return &entry{path, info, info.Sys().(*syscall.Stat_t)}
}

// isOpaque reports whether a folder of the layer hides the whole real folder below it.
func (e *entry) isOpaque() bool {
	var value [8]byte
	n, err := unix.Lgetxattr(e.path, opaqueMark, value[:])
	return err == nil && string(value[:n]) == "y"
}

func (e *entry) kind() string {
	switch e.info.Mode().Type() {
	case 0:
		return "file"
	case os.ModeDir:
		return "folder"
	case os.ModeSymlink:
		return "link"
	case os.ModeNamedPipe:
		return "pipe"
	case os.ModeSocket:
		return "socket"
	}
	return "device"
}

func (l *lister) listEntry(rest string, covers bool) {
	now := readEntry(filepath.Join(l.upper, rest))
	if now == nil {
		l.r.result.Unread = true
		return
	}
	var was *entry
	if covers {
		was = readEntry(filepath.Join(l.lower, rest))
	}
	if now.info.Mode().Type() == os.ModeDevice|os.ModeCharDevice && now.stat.Rdev == 0 {
		if was != nil { // overlayfs marks a deleted file with this device
			l.listDeleted(rest)
		}
		return
	}
	kind := now.kind()
	change := report.Change{Path: l.join(rest), Kind: kind, Size: now.info.Size(), Mode: now.stat.Mode & 0o7777, UID: int(now.stat.Uid), GID: int(now.stat.Gid)}
	switch {
	case was == nil:
		change.What = report.Created
	case was.kind() != kind:
		change.What = report.Replaced
		change.Files = l.countFiles(was)
	default:
		change.Was = was.stat.Mode & 0o7777
		change.What = l.compare(rest, now, was, &change)
	}
	change.Link, _ = os.Readlink(now.path)
	if change.What != "" {
		l.keepTexts(&change, now, was)
		l.add(change, 1)
	}
	if kind == "folder" {
		opaque := now.isOpaque()
		l.listFolder(rest, was != nil && was.info.IsDir() && !(l.hidden[rest] && opaque), opaque)
	}
}

// compare returns the kind of change between two files of the same type; "" for no change.
func (l *lister) compare(rest string, now, was *entry, change *report.Change) string {
	if now.kind() == "file" && was.stat.Nlink > 1 {
		change.Names = int(was.stat.Nlink) - 1 //nolint:gosec // the count is small
	}
	switch now.kind() {
	case "file":
		change.Hidden = l.hidden[rest]
		if change.Hidden && now.info.Size() > 0 || !change.Hidden && !l.hasSameContent(now, was) {
			return report.Changed
		}
	case "link":
		before, _ := os.Readlink(was.path)
		if after, _ := os.Readlink(now.path); before != after {
			return report.Changed
		}
		return ""
	case "device", "pipe", "socket":
		if now.stat.Rdev != was.stat.Rdev {
			return report.Changed
		}
	}
	owner := len(l.r.spec.Keep) > 0 && (now.stat.Uid != was.stat.Uid || now.stat.Gid != was.stat.Gid)
	if change.Mode != change.Was || owner {
		return report.Modified
	}
	return ""
}

func (l *lister) join(rest string) string { return filepath.Join(l.folder, rest) }

// add counts a change as n files. It keeps the change if fewer than Spec.Listed are kept.
func (l *lister) add(c report.Change, n int) {
	all := &l.r.result
	switch c.What {
	case report.Created:
		all.Counts.Created += n
	case report.Deleted:
		all.Counts.Deleted += n
	default:
		all.Counts.Changed += n
	}
	if len(all.Changes) >= l.r.spec.Listed {
		all.Unlisted++
		return
	}
	all.Changes = append(all.Changes, c)
}

// listDeleted lists a deleted file. A deleted folder is one change.
func (l *lister) listDeleted(rest string) {
	was := readEntry(filepath.Join(l.lower, rest))
	if was == nil {
		return
	}
	c := report.Change{What: report.Deleted, Path: l.join(rest), Kind: was.kind(), Hidden: l.hidden[rest], Was: was.stat.Mode & 0o7777, Files: l.countFiles(was)}
	l.add(c, max(c.Files, 1))
}

// countFiles returns how many files are in a folder, at any depth.
func (l *lister) countFiles(at *entry) (n int) {
	if !at.info.IsDir() {
		return 0
	}
	_ = filepath.WalkDir(at.path, func(_ string, d os.DirEntry, err error) error {
		if l.isLate() {
			return filepath.SkipAll
		}
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// openFile opens a file without following a link. It never waits, for example at a pipe.
func (e *entry) openFile() (*os.File, error) {
	return os.OpenFile(e.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// hasSameContent reports whether two files have the same bytes. It returns false if one cannot be read.
func (l *lister) hasSameContent(now, was *entry) bool {
	if now.info.Size() != was.info.Size() {
		return false
	}
	a, err := now.openFile()
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := was.openFile()
	if err != nil {
		return false
	}
	defer b.Close()
	one, other := make([]byte, 128<<10), make([]byte, 128<<10)
	for !l.isLate() {
		n, err := io.ReadFull(a, one)
		m, _ := io.ReadFull(b, other)
		if n != m || !bytes.Equal(one[:n], other[:m]) {
			return false
		}
		if err != nil {
			return true
		}
	}
	return false
}

// keepTexts stores the digest of a written file in c. If the file's texts before and after are
// small, it stores the texts too.
func (l *lister) keepTexts(c *report.Change, now, was *entry) {
	if c.Kind != "file" || c.Hidden || c.What == report.Modified || len(l.r.result.Changes) >= l.r.spec.Listed {
		return
	}
	c.SHA256 = l.sum(now)
	after, read := l.readText(now)
	if !read {
		return
	}
	var before string
	if was != nil && was.info.Mode().IsRegular() {
		if before, read = l.readText(was); !read {
			return
		}
	}
	if *l.texts -= len(before) + len(after); *l.texts < 0 {
		*l.texts = 0
		return
	}
	c.Shown, c.Before, c.After = true, before, after
}

// sum returns the digest of a file, or "" if there is no time left to read the file.
func (l *lister) sum(e *entry) string {
	f, err := e.openFile()
	if err != nil {
		return ""
	}
	defer f.Close()
	digest := sha256.New()
	for {
		switch _, err := io.CopyN(digest, f, 1<<20); {
		case errors.Is(err, io.EOF):
			return hex.EncodeToString(digest.Sum(nil))
		case err != nil, time.Now().After(l.until):
			return ""
		}
	}
}

// readText returns the content of a small file. It returns false if the file is too large or not a text.
func (l *lister) readText(e *entry) (string, bool) {
	if e.info.Size() > maxText {
		return "", false
	}
	f, err := e.openFile()
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return string(text), err == nil && len(text) <= maxText && utf8.Valid(text) && !strings.Contains(string(text), "\x00")
}
