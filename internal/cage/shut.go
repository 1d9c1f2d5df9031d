package cage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// shutPlaces shuts places that no server needs, unless a table names them: keys, and the data of
// browsers and clients. It also makes a file read-only if its content runs later without a request,
// for example .bashrc. The list of places is in internal/text/textclass; rules and questions use
// the list too.
//
// shutPlaces searches the home folder, the folders in it where programs keep their data, and each
// open folder itself. It does not search whole trees, because that would take too long.
func (p *planner) shutPlaces() error {
	s := &p.plan.Spec
	for _, own := range p.Own {
		own, err := filepath.Abs(own)
		if err != nil {
			return err
		}
		if link := findLink(own, s.Write); link != "" {
			return fmt.Errorf("%s is clawai's own, and is reached through %s, which the server may replace; name a narrower folder", own, link)
		}
		if own, err = filepath.EvalSymlinks(own); err != nil {
			continue // this file of clawai does not exist
		}
		info, err := os.Stat(own)
		if err != nil {
			continue
		}
		for _, shown := range p.everyPathOf(own) {
			for _, open := range append(slices.Clone(s.Read), s.Write...) {
				switch {
				case open == p.Installed:
				case contains(shown, open):
					return fmt.Errorf("%s is clawai's own, which no server gets", open)
				// A single file cannot be hidden: the server could replace it, and the cover would
				// not cover the new file.
				case contains(open, shown) && !info.IsDir() && !isBelow(shown, s.Hide) && !p.opensDisk(open):
					return fmt.Errorf("%s is clawai's own, and lies in %s, which the server may read; put it elsewhere, or name a narrower folder", shown, open)
				}
			}
		}
		if err := p.hide(own, own); err != nil {
			return err
		}
	}
	named := sync.OnceValue(p.namedPlaces) // computed only when needed, because for most servers no secret place is found
	look := newLooker()
	for _, base := range p.shutBases() {
		p.fixGit(look, base)
		for _, found := range look.findSecrets(base) {
			if isBelow(found, named()) {
				continue
			}
			if inGit(found) {
				p.fix(found)
			} else if err := p.hide(found, found); err != nil {
				return err
			}
		}
		for _, found := range look.find(base, laterGlobs()) {
			if !isBelow(found, named()) {
				p.fix(found)
			}
		}
	}
	return nil
}

// SecretsIn returns the secret places in folders that a program may read. It searches like
// shutPlaces. It leaves out files that git must read.
func SecretsIn(home string, folders []string) (found []string) {
	p := &planner{Options: Options{Home: home}}
	p.plan.Spec.Read = folders
	p.mounts, _ = readMounts() // after an error, a secret with two paths is found at only one path
	look := newLooker()
	for _, base := range p.shutBases() {
		found = append(found, slices.DeleteFunc(look.findSecrets(base), inGit)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// gitGlobs match the configuration of worktrees and modules, and the files that lead git to another
// repository. These files are dangerous because the configuration can name programs that git runs.
var gitGlobs = sync.OnceValue(func() *globs {
	t := &globs{}
	for _, glob := range []string{".git", ".git/commondir", ".git/config.worktree", ".git/worktrees/*/commondir",
		".git/worktrees/*/config.worktree", ".git/modules/*/config", ".git/modules/*/hooks"} {
		t.add(glob, nil)
	}
	return t
})

// fixGit makes the files that gitGlobs match read-only. A folder .git stays writable, because git
// works in it.
func (p *planner) fixGit(look *looker, base shutBase) {
	for _, real := range look.find(shutBase{path: base.path}, gitGlobs()) {
		if info, err := os.Stat(real); err == nil && (filepath.Base(real) != ".git" || !info.IsDir()) {
			p.fix(real)
		}
	}
}

// fix makes a writable place read-only.
func (p *planner) fix(path string) {
	s := &p.plan.Spec
	if isBelow(path, s.Write) && !isBelow(path, s.Fixed) && !isBelow(path, s.Hide) {
		s.Fixed = append(s.Fixed, path)
	}
}

// inGit reports whether a place lies in a folder .git. clawai makes such a place read-only and does
// not hide it, because git must read it.
func inGit(path string) bool { return strings.Contains(path, "/.git/") }

// namedPlaces returns the places that the policy's own table names. It does not resolve their
// links, because a link that leads to a shut place does not name that place.
func (p *planner) namedPlaces() (all []string) {
	if p.isClientsAlone() {
		return nil // a project's file can define the client's sandbox, so the sandbox cannot open secrets
	}
	for _, t := range p.Tables[:1] {
		for _, text := range append(slices.Clone(t.Read), t.Write...) {
			if path := p.expand(text); path != p.Dir && !contains(path, p.Home) {
				all = append(all, path)
			}
		}
	}
	var apart []string
	for _, m := range p.findMoved() {
		apart = append(apart, m.path)
	}
	// Keep only paths in a shut place, or in a place that findMoved returns. If the table names
	// only a folder around such a place, the place stays shut.
	return slices.DeleteFunc(all, func(path string) bool { return !isShut(path) && !isBelow(path, apart) })
}

// isShut reports whether a path is a shut place, or lies in one.
func isShut(path string) bool {
	among := func(all []textclass.Place) bool {
		return slices.ContainsFunc(all, func(pl textclass.Place) bool { return pl.ContainsPath(path) })
	}
	return textclass.NamesShut(path) || among(textclass.SecretPlaces[:]) || among(textclass.LaterPlaces[:])
}

// shutBase is a folder in which shut places are searched.
type shutBase struct {
	path  string
	usual []string // the last names of the folder's usual path; they are compared with the paths of shut places
	moved bool     // the folder was found by a variable, so the folder itself may be a shut place
}

func newBase(path string) shutBase {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return shutBase{path: path, usual: names[max(0, len(names)-longestPlace):]}
}

// shutBases returns the folders in which shut places are searched. These are all open folders. They
// are also the home folder and the folders where programs keep their data, if the server may read
// these folders.
func (p *planner) shutBases() (all []shutBase) {
	open := append(slices.Clone(p.plan.Spec.Read), p.plan.Spec.Write...)
	readable := slices.Concat(open, p.system)
	add := func(one shutBase) {
		if !slices.ContainsFunc(all, func(b shutBase) bool { return b.path == one.path && slices.Equal(b.usual, one.usual) }) {
			all = append(all, one)
		}
	}
	for _, home := range append([]string{p.Home}, p.aliasesOf(p.Home)...) {
		for _, below := range []string{"", ".config", ".local", ".local/share", ".cache"} {
			if base := filepath.Join(home, below); isBelow(base, readable) {
				add(newBase(base))
			}
		}
	}
	for _, m := range p.findMoved() {
		if isBelow(m.path, readable) {
			add(m)
		}
	}
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil && isBelow(real, p.system) && !slices.Contains(p.system, real) {
		open = append(open, real) // the project lies in a system folder, which every server may read
	}
	for _, o := range open {
		if info, err := os.Stat(o); err == nil && info.IsDir() {
			add(newBase(o))
		}
	}
	return all
}

// moved lists the variables that move a file or folder out of its usual place. The field usual holds
// the usual path, relative to the home folder.
var moved = []struct{ variable, usual string }{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_CACHE_HOME", ".cache"},
	{"CLAUDE_CONFIG_DIR", ".claude"}, {"CODEX_HOME", ".codex"}, {"GNUPGHOME", ".gnupg"}, {"KUBECONFIG", ".kube/config"}, {"DOCKER_CONFIG", ".docker"},
	{"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"}, {"AWS_CONFIG_FILE", ".aws/config"}, {"AZURE_CONFIG_DIR", ".azure"}, {"CLOUDSDK_CONFIG", ".config/gcloud"},
	{"GH_CONFIG_DIR", ".config/gh"}, {"GLAB_CONFIG_DIR", ".config/glab-cli"}, {"NPM_CONFIG_USERCONFIG", ".npmrc"}, {"npm_config_userconfig", ".npmrc"},
	{"NETRC", ".netrc"}, {"PGPASSFILE", ".pgpass"}, {"PASSWORD_STORE_DIR", ".password-store"}, {"HF_HOME", ".cache/huggingface"},
	{"RCLONE_CONFIG", ".config/rclone/rclone.conf"}, {"SOPS_AGE_KEY_FILE", ".config/sops/age/keys.txt"}, {"GRADLE_USER_HOME", ".gradle"},
}

// findMoved returns the places to which the variables in `moved` point, with their links resolved.
func (p *planner) findMoved() (all []shutBase) {
	for _, m := range moved {
		for _, path := range filepath.SplitList(os.Getenv(m.variable)) {
			if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) {
				all = append(all, shutBase{real, strings.Split(m.usual, "/"), true})
			}
		}
	}
	return all
}

// globs is a tree of place patterns. Each level matches one name of a path.
type globs struct {
	plain []namedGlobs // names without wildcards
	wild  []namedGlobs
	ends  []placeEnd // places whose pattern ends at this node
}

// namedGlobs is a glob for one name, with the rest of the patterns after it.
type namedGlobs struct {
	glob string
	rest *globs
}

// placeEnd marks a node of globs at which a pattern ends.
type placeEnd struct{ spare []string } // globs of harmless files: if the last name of a path matches one, the path is not a place

// longestPlace is larger than the number of names in any place.
const longestPlace = 8

// add adds a place, unless it is an absolute path or a path of Windows.
func (g *globs) add(place string, spare []string) {
	place = strings.TrimSuffix(place, "/**")
	if place == "" || place[0] == '/' || strings.ContainsAny(place, `\:`) {
		return
	}
	for name := range strings.SplitSeq(place, "/") {
		g = g.step(name)
	}
	g.ends = append(g.ends, placeEnd{spare})
}

func (g *globs) step(name string) *globs {
	list := &g.plain
	if strings.ContainsAny(name, "*?[") {
		list = &g.wild
	}
	if last := len(*list) - 1; last >= 0 && (*list)[last].glob == name { // only the last node is compared; a second node for the same name does no harm
		return (*list)[last].rest
	}
	rest := &globs{}
	*list = append(*list, namedGlobs{name, rest})
	return rest
}

// match returns the rest of the patterns after a name.
func (g *globs) match(name string) (rest []*globs) {
	for _, w := range g.plain {
		if w.glob == name {
			rest = append(rest, w.rest)
		}
	}
	for _, w := range g.wild {
		if matches(w.glob, name) {
			rest = append(rest, w.rest)
		}
	}
	return rest
}

func matchAll(all []*globs, name string) (rest []*globs) {
	for _, g := range all {
		rest = append(rest, g.match(name)...)
	}
	return rest
}

// endsWith reports whether the pattern of a place ends at one of the nodes. It ignores a place for
// which the last name of the path (name) is harmless (placeEnd.spare).
func endsWith(all []*globs, name string) bool {
	return slices.ContainsFunc(all, func(g *globs) bool {
		return slices.ContainsFunc(g.ends, func(e placeEnd) bool {
			return !slices.ContainsFunc(e.spare, func(s string) bool { return matches(s, name) })
		})
	})
}

var secretGlobs = sync.OnceValue(func() *globs {
	t, single := &globs{}, &globs{}
	for i := range textclass.SecretPlaces {
		pl := &textclass.SecretPlaces[i]
		for _, place := range append(slices.Clone(pl.Shut), pl.Path, homePart(pl)) {
			if place == ".git/**" {
				continue // git must read it
			}
			t.add(place, pl.Spare)
			if pl.Path != "" && !strings.Contains(strings.TrimSuffix(place, "/**"), "/") {
				single.add(place, pl.Spare)
			}
		}
	}
	// Files with these names also lie in the hidden folders of programs.
	t.wild = append(t.wild, namedGlobs{".*", single})
	for _, folder := range []*globs{t.step(".config"), t.step(".local").step("share")} {
		folder.wild = append(folder.wild, namedGlobs{"*", single})
	}
	return t
})

var laterGlobs = sync.OnceValue(func() *globs {
	t := &globs{}
	for i := range textclass.LaterPlaces {
		pl := &textclass.LaterPlaces[i]
		t.add(pl.Path, pl.Spare)
		t.add(homePart(pl), pl.Spare)
	}
	return t
})

// homePart returns the path of a place's example, relative to the home folder. It returns "" if the
// example does not lie in the home folder.
func homePart(pl *textclass.Place) string {
	rest, found := strings.CutPrefix(pl.Hit, "~/")
	if !found || pl.Path == "" {
		return ""
	}
	names, want := strings.Split(rest, "/"), strings.Split(pl.Path, "/")
	for at := 0; at+len(want) <= len(names); at++ {
		if slices.EqualFunc(want, names[at:at+len(want)], matches) {
			return strings.Join(names[:at+len(want)], "/")
		}
	}
	return ""
}

// looker finds places in folders. It reads each folder only once.
type looker struct{ names map[string][]string }

func newLooker() *looker { return &looker{names: map[string][]string{}} }

// find returns the places that exist in a folder. It resolves their links, because a link to a key
// must shut the key. If a variable names the folder, the folder itself may be a place.
func (l *looker) find(base shutBase, places *globs) (found []string) {
	begun := []*globs{places}
	for i := range base.usual { // the folder's path may contain the start of a place, for example .github of .github/workflows
		rest := []*globs{places}
		for _, name := range base.usual[i:] {
			rest = matchAll(rest, name)
		}
		begun = append(begun, rest...)
	}
	add := func(path string) {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(found, real) {
			found = append(found, real)
		}
	}
	if base.moved && endsOrLiesIn(places, base.usual) {
		add(base.path)
	}
	l.walk(base.path, begun, add)
	return found
}

// endsOrLiesIn reports whether a path is one of the places, or lies in one.
func endsOrLiesIn(places *globs, path []string) bool {
	at := []*globs{places}
	for _, name := range path {
		if at = matchAll(at, name); endsWith(at, name) {
			return true
		}
	}
	return false
}

func (l *looker) walk(folder string, at []*globs, add func(string)) {
	for _, name := range l.list(folder) {
		rest := matchAll(at, name)
		if len(rest) == 0 {
			continue
		}
		path := filepath.Join(folder, name)
		if endsWith(rest, name) {
			add(path)
		}
		if slices.ContainsFunc(rest, func(g *globs) bool { return len(g.plain)+len(g.wild) > 0 }) {
			l.walk(path, rest, add)
		}
	}
}

// findSecrets returns the secret places in a folder.
func (l *looker) findSecrets(base shutBase) (found []string) { return l.find(base, secretGlobs()) }

// list returns the names in a folder. It opens only a folder: a server may have put a pipe there, and
// opening a pipe would wait for ever.
func (l *looker) list(folder string) []string {
	if names, known := l.names[folder]; known {
		return names
	}
	var names []string
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		if f, err := os.Open(folder); err == nil {
			names, _ = f.Readdirnames(-1)
			_ = f.Close()
		}
	}
	l.names[folder] = names
	return names
}

func matches(glob, name string) bool {
	if glob == name {
		return true
	}
	ok, err := filepath.Match(glob, name)
	return ok && err == nil
}
