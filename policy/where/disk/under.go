package disk

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/policy/where"
)

// NewUnder returns a constraint that holds for a path that is equal to one of the directories or
// lies inside one of them. Before this comparison, all links in the path and in the directories are
// resolved. A path that does not exist yet lies where its deepest existing ancestor leads. home
// replaces ~ in the path and in the directories; "" means unknown. With a nil disk the answer for
// every path is Maybe.
//
// The directories are absolute or begin with ~ or ${cwd}, the folder at which relative paths start.
// An empty list, a glob, or a directory that begins in another way is an error.
func NewUnder(dirs []string, home string, d Disk) (where.Constraint, error) {
	if len(dirs) == 0 {
		return nil, errors.New("an empty list; name at least one folder")
	}
	for _, dir := range dirs {
		if err := CheckFolder(dir); err != nil {
			return nil, err
		}
	}
	c := under{dirs: dirs, home: home, disk: d}
	if d != nil {
		c.syntax = syntaxOf(d)
	}
	return c, nil
}

// CheckFolder returns the reason why NewUnder does not accept a text as a folder; nil if it does.
func CheckFolder(dir string) error {
	drive := len(dir) > 2 && isLetter(dir[0]) && dir[1] == ':' && isSlash(dir[2])
	switch {
	case strings.ContainsAny(dir, "*?"):
		return fmt.Errorf("%q is a glob: write the directory alone, everything below it counts", dir)
	case strings.ContainsRune(dir, 0) || !utf8.ValidString(dir):
		return fmt.Errorf("%q is not a path", dir)
	case dir == "~", dir == baseWord, strings.HasPrefix(dir, "~/"), strings.HasPrefix(dir, baseWord+"/"), strings.HasPrefix(dir, "/"), drive:
		return nil
	}
	return fmt.Errorf("%q does not say where it begins: write an absolute directory, or one below ~/ or ${cwd}/", dir)
}

type under struct {
	dirs   []string
	home   string
	disk   Disk
	syntax syntax
}

func (c under) JudgeValue(v where.Value, _ bool) where.Match {
	if v.Kind != where.String || v.Text == "" {
		return where.No
	}
	path, ok := c.resolvePath(v.Text, v.Base)
	if c.disk == nil || !ok {
		return where.Maybe
	}
	verdict, decided := c.judgePath(path, v.Base)
	if cleaned := c.cleanPath(path); decided && cleaned != path {
		if other, same := c.judgePath(cleaned, v.Base); !same || other != verdict {
			return where.Maybe
		}
	}
	if !decided {
		return where.Maybe
	}
	return verdict
}

// JudgeCost returns two microseconds, the time on a local disk, for each name of the path and of
// the directories.
func (c under) JudgeCost(n int) int {
	names := min(n/2, maxNames)
	for _, dir := range c.dirs {
		names += 8 + strings.Count(dir, "/")
	}
	return 2000 * (names + 8)
}

// resolvePath makes a path absolute without the disk. It returns false if a program could read the
// text as something other than a path, or if the beginning of the path is unknown.
func (c under) resolvePath(text, base string) (string, bool) {
	first, size := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case len(text) > maxPath, !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return "", false
	case unicode.IsSpace(first), unicode.IsSpace(last):
		return "", false
	case text == "~", strings.HasPrefix(text, "~/"):
		return c.home + text[size:], c.home != ""
	case c.syntax.isAbsolute(text):
		return text, true
	case strings.ContainsRune("~$%", first), strings.Contains(strings.SplitN(text, "/", 2)[0], ":"):
		return "", false // the path starts at another user's home or at a variable, or is a URI
	}
	return base + "/" + text, base != ""
}

// cleanPath resolves dot-dot without the disk, as some programs do.
func (c under) cleanPath(path string) string {
	root, names, ok := c.syntax.splitPath(path)
	if !ok || !strings.Contains(path, "..") {
		return path
	}
	var kept []string
	for _, name := range names {
		switch {
		case name != "..":
			kept = append(kept, name)
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
	}
	return root + strings.Join(kept, string(separatorOf(root)))
}

// judgePath walks a path and compares two places with the directories: the target of
// the path, and the place of its last name, which may be a link.
func (c under) judgePath(path, base string) (verdict where.Match, decided bool) {
	end, own, err := walkPath(c.disk, c.syntax, path)
	if err != nil {
		return where.Maybe, false
	}
	led, stands := where.No, where.No
	for _, text := range c.dirs {
		text, known := c.expandStart(text, base)
		if !known {
			led, stands = max(led, where.Maybe), max(stands, where.Maybe)
			continue
		}
		dir, dirOwn, err := walkPath(c.disk, c.syntax, text)
		if err != nil {
			led, stands = max(led, where.Maybe), max(stands, where.Maybe)
			continue
		}
		led = max(led, dir.containsPlace(end))
		stands = max(stands, dir.containsPlace(own), where.MatchOf(own.String() == dirOwn.String()))
	}
	if led != stands {
		return where.Maybe, true
	}
	return led, true
}

// expandStart returns a directory of the policy with ~ or ${cwd} replaced. It returns false if the
// replacement is unknown.
func (c under) expandStart(dir, base string) (string, bool) {
	if rest, found := strings.CutPrefix(dir, baseWord); found {
		return base + rest, base != ""
	}
	if dir[0] == '~' {
		return c.home + dir[1:], c.home != ""
	}
	return dir, true
}

// baseWord is the word ${cwd} in a directory of the policy: the folder at which relative paths
// start.
const baseWord = "${cwd}"

// containsPlace reports whether a place lies in a directory. It compares names and file identities.
// The two comparisons differ if one directory has several names. On many systems, names that differ
// only in case or composition are the same directory, and the identity shows whether they are. For
// other differences (a mount, a file system that renumbers its files) the identity is not enough.
func (dir location) containsPlace(p location) where.Match {
	named := len(p) >= len(dir)
	alike := named
	for i := 0; named && i < len(dir); i++ {
		if p[i].name != dir[i].name {
			named = false
		}
	}
	for i := 0; alike && i < len(dir); i++ {
		alike = sameName(p[i].name, dir[i].name)
	}
	top := dir[len(dir)-1].info
	if top == nil {
		if alike && !named {
			return where.Maybe
		}
		return where.MatchOf(named)
	}
	same := false
	for _, s := range p {
		same = same || s.info != nil && os.SameFile(s.info, top)
	}
	switch {
	case named && same, alike && same:
		return where.Yes
	case named || same:
		return where.Maybe
	}
	return where.No
}

// sameName reports whether two names are equal on a file system that ignores case and
// composition.
func sameName(a, b string) bool {
	return a == b || strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b))
}
