package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where"
)

// places are paths that a rule names with globs. The folder before the first wildcard
// is resolved like the compared paths, with its links.
type places struct {
	list  []place
	place func(path, base string) (stands, leads string, known bool)
}

// place is a folder and a glob for the rest of a path. If excluded is true, the paths of the
// place are excluded, even if other places allow them.
type place struct {
	folder, rest string
	excluded     bool
}

// Limits of disk queries: the number of folders in which a relative path may begin, the number of
// paths of one text, and the number of bytes of all these paths.
const (
	maxStarts    = 8
	maxPaths     = 64
	maxPathBytes = 4096
)

// diskCost returns the cost of the disk queries for a text of n bytes, in nanoseconds: 2 µs for
// each path component, as in package disk. For each path in the text, a place of the rule counts as
// 40 components.
func (p *places) diskCost(n int) int {
	if p == nil {
		return 0
	}
	return 2000 * (min(n*maxStarts, maxPathBytes) + 40*len(p.list)*min(n/2, maxPaths))
}

func parsePlaces(list []string, resolve func(path, base string) (string, string, bool)) (*places, error) {
	if resolve == nil {
		resolve = func(string, string) (string, string, bool) { return "", "", false }
	}
	p := &places{place: resolve}
	opens := false
	for _, text := range list {
		text, not := strings.CutPrefix(text, "!")
		opens = opens || !not
		if not && strings.HasPrefix(text, "**/") {
			p.list = append(p.list, place{folder: "/", rest: text, excluded: true}) // the place applies at any depth
			continue
		}
		begins := text == "." || text == "~" || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "~/") || strings.HasPrefix(text, "/") ||
			len(text) > 2 && text[1] == ':' && text[2] == '/'
		switch {
		case !begins:
			return nil, fmt.Errorf("%q does not say where it begins: write a path below \"/\", \"~/\" or \"./\", the folder of the server, such as \"~/projects/**\"", text)
		case goesUp(text):
			return nil, fmt.Errorf("%q goes up; write the path without \"..\"", text)
		}
		if err := glob.Check(text); err != nil {
			return nil, err
		}
		at := strings.IndexAny(text, "*?")
		if at < 0 {
			p.list = append(p.list, place{folder: text, excluded: not})
			continue
		}
		at = strings.LastIndexByte(text[:at], '/')
		if at < 0 {
			return nil, errors.New("a path cannot begin with a wildcard")
		}
		p.list = append(p.list, place{folder: text[:max(at, 1)], rest: text[at:], excluded: not})
	}
	if !opens {
		return nil, errors.New("only excludes places; name a place as well, such as \"./**\"")
	}
	return p, nil
}

// judgePaths reports whether paths lie in places. In an allow rule all paths must lie there; in
// another rule one path is enough. For an empty list, and for a path that cannot be resolved, the
// answer is Maybe.
func (j *judge) judgePaths(paths []string, p *places) where.Match {
	if len(paths) == 0 {
		return where.Maybe
	}
	v := where.MatchOf(j.opens)
	for _, path := range paths {
		if j.asked++; j.asked > maxPaths {
			return where.Maybe
		}
		if j.askedBytes += len(path); j.askedBytes > maxPathBytes {
			return where.Maybe
		}
		one := where.Maybe
		if stands, leads, known := p.place(path, j.base); known {
			a, b := p.matchPath(stands, j.base), p.matchPath(leads, j.base)
			if one = where.Maybe; a == b {
				one = a
			}
		}
		if j.opens {
			v = min(v, one)
		} else {
			v = max(v, one)
		}
	}
	return v
}

// matchPath reports whether a resolved path is in one of the places. For a path that differs only
// in letter case the answer is Maybe, because some disks ignore case.
func (p *places) matchPath(path, base string) where.Match {
	v, shut := where.No, where.No
	for _, e := range p.list {
		one := e.matchPath(path, base, p.place)
		if e.excluded {
			shut = max(shut, one)
		} else {
			v = max(v, one)
		}
	}
	return min(v, where.Yes-shut)
}

func (e *place) matchPath(path, base string, resolve func(path, base string) (string, string, bool)) where.Match {
	if e.folder == "/" {
		return compareGlob("/"+e.rest, path)
	}
	stands, leads, known := resolve(e.folder, base)
	if e.folder[0] == '.' && known {
		_, home, atHome := resolve("~", base)
		known = leads != "/" && (!atHome || home != leads && !strings.HasPrefix(home, leads+"/"))
	}
	if !known || strings.ContainsAny(stands+leads, "*?") {
		return where.Maybe
	}
	v := where.No
	for _, folder := range []string{stands, leads} {
		v = max(v, compareGlob(strings.TrimSuffix(folder, "/")+e.rest, path))
	}
	return v
}

func compareGlob(pattern, path string) where.Match {
	g, err := glob.Compile(pattern)
	switch {
	case err != nil:
		return where.Maybe
	case g.Match(path) || g.Match(path+"/"): // ~/x/** also matches ~/x
		return where.Yes
	}
	folded, err := glob.Compile(strings.ToLower(pattern))
	if err == nil && (folded.Match(strings.ToLower(path)) || folded.Match(strings.ToLower(path)+"/")) {
		return where.Maybe
	}
	return where.No
}

// pathText returns the path that a program sees in a word, and whether the path is
// known.
func (w *word) pathText() (string, bool) {
	switch {
	case w.home:
		return w.text, true
	case !w.known || w.text == "" || w.text[0] == '~':
		return "", false
	}
	return w.text, true
}

// wordPaths returns the paths that a word may mean. A relative path may begin in any
// folder that the text may have entered. It returns nil when the paths are unknown.
func (j *judge) wordPaths(w *word) []string {
	path, known := w.pathText()
	switch {
	case !known || strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/"):
		return nil
	case path[0] == '/' || w.home:
		return []string{path}
	case j.lost:
		return nil
	}
	all := make([]string, len(j.starts))
	for i, start := range j.starts {
		all[i] = start + path
	}
	return all
}

// judgeFiles judges the words of a command that may be paths. In an allow rule all these paths must
// lie in the places of the rule; in another rule one path is enough.
func (j *judge) judgeFiles(words []word) where.Match {
	if j.files == nil {
		return where.Yes
	}
	v, r, readNames := where.MatchOf(j.opens), rowOf(words), scriptReader(words[0].text)
	if expandsWildcard(words) {
		v = where.Maybe
	}
	script := findScript(words)
	for i := 1; i < len(words); i++ {
		parts := readNames(&words[i])
		if i != script {
			parts = append(parts, r.pathParts(&words[i])...)
		}
		for _, part := range parts {
			one := j.judgePaths(j.wordPaths(&part), j.files)
			if j.opens {
				v = min(v, one)
			} else {
				v = max(v, one)
			}
		}
	}
	return v
}

// pathParts returns the paths that may be in a word: the whole word, the value of an
// option, and the parts between the characters at which programs split words. Only the
// program knows where the value of a short option begins: -rf.env is -r -f .env, or -r
// with f.env.
func (r *row) pathParts(w *word) (all []word) {
	text := w.text
	add := func(part string) { // one path more than maxPaths makes the answer Maybe
		if part != "" && len(all) <= maxPaths && !slices.ContainsFunc(all, func(p word) bool { return p.text == part }) {
			all = append(all, word{text: part, known: true})
		}
	}
	cut := func(text string) {
		add(strings.TrimLeft(text, "@"))
		for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(between, c) }) {
			add(part)
			if host, path := strings.CutPrefix(part, "//"); path { // file://localhost/x
				add(strings.TrimLeft(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"))
			}
		}
	}
	switch {
	// Refuse %2e: curl decodes file:///%2e%2e.
	case !w.known && !w.home, strings.Contains(text, "%") && strings.Contains(strings.ToLower(text), "file:"):
		return []word{{}}
	case w.home:
		return []word{*w}
	case !goesUp(text) && (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")):
		return nil
	case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"):
		cut(text)
		return all
	}
	name, value, valued := strings.Cut(text, "=")
	if valued = valued && strings.Trim(name, optionNames) == ""; valued {
		cut(value)
	}
	if strings.ContainsAny(text, "./~") {
		add(text) // after "--", this word is a file name and not an option
	}
	if r != nil {
		if kind, known := r.options.byName()[text]; known && kind != attached {
			return all // the whole word is the option, so it has no path
		}
	}
	if valued || strings.HasPrefix(text, "--") {
		return all
	}
	rest := text[1:]
	for rest != "" && strings.IndexByte(optionNames, rest[0]) >= 0 && len(all) <= maxPaths {
		rest = rest[1:]
		cut(rest)
	}
	cut(rest)
	return all
}

const (
	between     = ":=,;@<\"" // dd if=x, curl -F x=@y, --mount source=x,target=y, show HEAD:x
	optionNames = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_#"
)

// enterFolders adds the folders in which the commands of a program may run. A cd may fail, so the
// folder before the cd stays in the list.
func (j *judge) enterFolders(p *program) {
	if j.dir == nil && j.files == nil && j.redirect == nil {
		return
	}
	for i := range p.commands {
		words := p.commands[i].words
		switch {
		case !words[0].known || listedIn("eval source . builtin command exec pushd popd chdir", words[0].text):
			j.lost = true
		case words[0].text == "cd":
			j.enterFolder(words)
		}
	}
}

func (j *judge) enterFolder(words []word) {
	to, one := cdDestination(words)
	if !one {
		j.lost = true
		return
	}
	paths := j.wordPaths(&to)
	// In a loop, each run may enter the relative folder again. Then the folders are not known.
	relative := len(paths) > 0 && !to.home && to.text[0] != '/'
	if j.lost = j.lost || len(paths) == 0 || relative && j.loops; j.lost {
		return
	}
	for _, path := range paths {
		if path = strings.TrimSuffix(path, "/") + "/"; !slices.Contains(j.starts, path) {
			j.starts = append(j.starts, path)
		}
	}
	j.lost = len(j.starts) > maxStarts
}

// cdDestination returns the folder of a cd. It returns false if the cd does not have exactly one
// folder. A cd without words goes to the home.
func cdDestination(words []word) (word, bool) {
	if len(words) == 3 && words[1].known && words[1].text == "--" {
		words = words[1:]
	}
	switch {
	case len(words) == 1:
		return word{text: "~", home: true}, true
	case len(words) != 2 || words[1].known && words[1].text != "" && strings.IndexByte("-+", words[1].text[0]) >= 0:
		return word{}, false
	}
	return words[1], true
}

// judgeWorkFolder is for a rule that denies or asks. It reports whether a program may run in one of
// the folders of the rule's key dir. The program may run in a folder in which the text starts, or
// in a folder that one of its commands enters.
func (j *judge) judgeWorkFolder(p *program) where.Match {
	if j.dir == nil {
		return where.Yes
	}
	v := where.No
	if j.lost {
		v = where.Maybe
	}
	for _, start := range j.starts {
		v = max(v, j.judgePaths([]string{start + "."}, j.dir))
	}
	for i := range p.commands {
		switch _, dirs := stripGlobals(p.commands[i].words); len(dirs) {
		case 0:
		case 1:
			v = max(v, j.judgePaths(j.wordPaths(&dirs[0]), j.dir))
		default:
			v = max(v, where.Maybe)
		}
	}
	return v
}

// judgeRedirects reports whether the files that a text reads or writes by redirection are in the
// rule's places. In an allow rule all these files must be in the places; in another rule one file
// is enough. If an allow rule names no such places, it accepts only the redirection < from a file
// of the project, and only if the rule also allows `cat` of this file.
func (j *judge) judgeRedirects() where.Match {
	if j.redirect == nil {
		return where.MatchOf(!j.opens || !slices.ContainsFunc(j.redirects, func(f file) bool { return !f.reads || !j.letsCatShow(f.to) }))
	}
	v := where.MatchOf(j.opens)
	for i := range j.redirects {
		one := j.judgePaths(j.wordPaths(&j.redirects[i].to), j.redirect)
		if j.opens {
			v = min(v, one)
		} else {
			v = max(v, one)
		}
	}
	return v
}

// letsCatShow reports whether the rule certainly allows `cat` of the file, and the file is below
// the folder in which the text starts.
func (j *judge) letsCatShow(to word) bool {
	return j.isBelowStart(&to) && j.judgeAllowed([]word{{text: "cat", known: true}, to}, 0) == where.Yes
}

// isBelowStart reports whether a word is a path in the folder in which the text starts. The path
// may be relative or absolute.
func (j *judge) isBelowStart(w *word) bool {
	text := w.text
	if w.home && j.home != "" {
		text = j.home + strings.TrimPrefix(text, "~")
	}
	switch {
	case !w.known && !w.home || text == "" || goesUp(text):
		return false
	case text[0] == '/':
		return j.base != "" && strings.HasPrefix(text+"/", j.base+"/")
	}
	return strings.IndexByte("-~", text[0]) < 0
}
