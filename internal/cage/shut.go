package cage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// shutPlaces keeps shut what no server needs, unless a table names it: keys, what browsers and
// clients keep, and for writing also what runs later by itself. What rules call secret, and what
// questions warn of, is the same list (internal/text/textclass).
//
// It looks in the home folder, in the folders in it where programs keep things, and directly in
// each folder that is open. It does not look for them deeper: that would read whole trees.
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
			continue // not there
		}
		info, err := os.Stat(own)
		if err != nil {
			continue
		}
		for _, open := range append(slices.Clone(s.Read), s.Write...) {
			switch {
			case open == p.Installed:
			case contains(own, open):
				return fmt.Errorf("%s is clawai's own, which no server gets", open)
			// A file that somebody replaces is open again: the wall stands on the old one.
			case contains(open, own) && !info.IsDir() && !isBelow(own, s.Hide) && !p.opensDisk(open):
				return fmt.Errorf("%s is clawai's own, and lies in %s, which the server may read; put it elsewhere, or name a narrower folder", own, open)
			}
		}
		if err := p.hide(own, own); err != nil {
			return err
		}
	}
	named := p.namedPlaces()
	look := newLooker()
	open := slices.Concat(s.Read, s.Write, p.system)
	for _, base := range p.shutBases() {
		look.towards = nil
		if !isBelow(base, open) {
			look.towards = firstNames(base, open)
		}
		p.fixGit(look, base)
		for _, found := range look.findSecrets(base) {
			if isBelow(found, named) {
				continue
			}
			if inGit(found) {
				p.fix(found)
			} else if err := p.hide(found, found); err != nil {
				return err
			}
		}
		for i := range textclass.LaterPlaces {
			pl := &textclass.LaterPlaces[i]
			for _, found := range look.find(base, []string{pl.Path}, pl.Spare) {
				if !isBelow(found, named) {
					p.fix(found)
				}
			}
		}
	}
	return nil
}

// SecretsIn returns the secret places in folders that are open to a program: in the home folder,
// where they are looked for as in the cage of a server, and directly in each folder. It leaves out
// what git needs to read.
func SecretsIn(home string, folders []string) (found []string) {
	p := &planner{Options: Options{Home: home}}
	p.plan.Spec.Read = folders
	look := newLooker()
	for _, base := range p.shutBases() {
		found = append(found, slices.DeleteFunc(look.findSecrets(base), inGit)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// gitFiles are what leads git to another repository, whose configuration names programs, and the
// configuration of worktrees and modules.
var gitFiles = []string{".git", ".git/commondir", ".git/config.worktree", ".git/worktrees/*/commondir",
	".git/worktrees/*/config.worktree", ".git/modules/*/config", ".git/modules/*/hooks"}

// fixGit keeps these from being written. A .git that is a folder is what git works in.
func (p *planner) fixGit(look *looker, base string) {
	for _, glob := range gitFiles {
		for _, path := range look.match(base, strings.Split(glob, "/")) {
			real, err := filepath.EvalSymlinks(path)
			if info, _ := os.Stat(path); err == nil && (glob != ".git" || info != nil && !info.IsDir()) {
				p.fix(real)
			}
		}
	}
}

// fix keeps a place that may be read from being written.
func (p *planner) fix(path string) {
	s := &p.plan.Spec
	if isBelow(path, s.Write) && !isBelow(path, s.Fixed) && !isBelow(path, s.Hide) {
		s.Fixed = append(s.Fixed, path)
	}
}

// inGit reports whether a place lies in a .git: git needs to read what it must not write.
func inGit(path string) bool { return strings.Contains(path, "/.git/") }

// namedPlaces returns the places of the policy's own table, not resolved: a link into a shut place
// does not name it.
func (p *planner) namedPlaces() (all []string) {
	if p.isClientsAlone() {
		return nil // its file may be a project's, which is not the owner's word
	}
	for _, t := range p.Tables[:1] {
		for _, text := range append(slices.Clone(t.Read), t.Write...) {
			if path := p.expand(text); path != p.Dir && !contains(path, p.Home) {
				all = append(all, path)
			}
		}
	}
	// A named folder opens the secrets in it only if it is one itself.
	return slices.DeleteFunc(all, func(path string) bool { return !isShut(path) })
}

// isShut reports whether a path is one of the places, or lies in one.
func isShut(path string) bool {
	among := func(all []textclass.Place) bool {
		return slices.ContainsFunc(all, func(pl textclass.Place) bool { return pl.ContainsPath(path) })
	}
	return textclass.NamesShut(path) || among(textclass.SecretPlaces[:]) || among(textclass.LaterPlaces[:])
}

// shutBases are the folders in which shut places are looked for.
func (p *planner) shutBases() (all []string) {
	open := append(slices.Clone(p.plan.Spec.Read), p.plan.Spec.Write...)
	readable := slices.Concat(open, p.system)
	for _, below := range []string{"", ".config", ".local", ".local/share", ".cache"} {
		base := filepath.Join(p.Home, below)
		if slices.ContainsFunc(readable, func(o string) bool { return contains(o, base) || contains(base, o) }) {
			all = append(all, base)
		}
	}
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil && isBelow(real, p.system) && !slices.Contains(p.system, real) {
		open = append(open, real) // a project in a folder of the system
	}
	for _, o := range open {
		if info, err := os.Stat(o); err == nil && info.IsDir() && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}

// looker finds files by globs of one name at a time, and reads each folder once.
type looker struct {
	names map[string][]string
	// towards are the names in a folder that is not open, behind which something is open. Only
	// there can something have to stay shut. nil: the folder is open.
	towards []string
}

func newLooker() *looker { return &looker{names: map[string][]string{}} }

// firstNames returns the names in a folder by which the places in it are reached.
func firstNames(folder string, places []string) []string {
	names := []string{}
	for _, place := range places {
		if rest, found := strings.CutPrefix(place, folder+"/"); found {
			name, _, _ := strings.Cut(rest, "/")
			names = append(names, name)
		}
	}
	return names
}

// find returns what is there of the globs below a folder, with its links resolved: a link to a
// key is the key. Of a .git it leaves out the whole, which git needs.
func (l *looker) find(base string, globs, spare []string) (found []string) {
	for _, glob := range globs {
		glob = strings.TrimSuffix(glob, "/**")
		if glob == ".git" || glob == "" || glob[0] == '/' || strings.ContainsAny(glob, `\:`) {
			continue
		}
		parts := strings.Split(glob, "/")
		if l.towards != nil && !slices.ContainsFunc(l.towards, func(name string) bool { return len(parts) > 1 && matches(parts[0], name) }) {
			continue
		}
		for _, path := range l.match(base, parts) {
			spared := slices.ContainsFunc(spare, func(s string) bool { return matches(s, filepath.Base(path)) })
			if real, err := filepath.EvalSymlinks(path); err == nil && !spared && !slices.Contains(found, real) {
				found = append(found, real)
			}
		}
	}
	return found
}

// findSecrets returns the secret places below a folder.
func (l *looker) findSecrets(base string) (found []string) {
	for i := range textclass.SecretPlaces {
		pl := &textclass.SecretPlaces[i]
		found = append(found, l.find(base, append(slices.Clone(pl.Shut), pl.Path), pl.Spare)...)
	}
	return found
}

func (l *looker) match(folder string, parts []string) (found []string) {
	for _, name := range l.list(folder) {
		if name != parts[0] && !matches(parts[0], name) {
			continue
		}
		path := filepath.Join(folder, name)
		switch {
		case len(parts) == 1:
			found = append(found, path)
		default:
			found = append(found, l.match(path, parts[1:])...)
		}
	}
	return found
}

func (l *looker) list(folder string) []string {
	if names, known := l.names[folder]; known {
		return names
	}
	var names []string
	if f, err := os.Open(folder); err == nil {
		names, _ = f.Readdirnames(-1)
		_ = f.Close()
	}
	l.names[folder] = names
	return names
}

func matches(glob, name string) bool {
	ok, err := filepath.Match(glob, name)
	return ok && err == nil
}
