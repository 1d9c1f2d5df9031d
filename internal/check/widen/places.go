package widen

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// place is a set of files that stay closed in the new folder.
type place struct {
	globs []string
	files []string // examples of such files, as paths below the folder
	// If keys is true, no copy may open these files. If keys is false, a copy may open the place
	// only if its rule opens the same place in the rule's own folder.
	keys bool
}

// listPlaces returns the places with keys, and the places of files that programs run later.
func listPlaces() (all []place) {
	for _, p := range textclass.SecretPlaces {
		for _, shut := range p.Shut {
			all = append(all, place{globs: []string{"**/" + shut}, files: []string{sample(shut)}, keys: true})
		}
	}
	for _, p := range textclass.LaterPlaces {
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			name := sample(p.Path)
			all = append(all, place{globs: []string{"**/" + p.Path, "**/" + p.Path + "/**"}, files: []string{name, name + "/x"}, keys: p.Path == hooks})
		}
	}
	return all
}

// hooks is the folder with programs that git runs.
const hooks = ".git/hooks"

// shutPlaces adds exceptions to the copies that allow. There is one for each place that a copy
// would open but must not open.
func (w *widener) shutPlaces() {
	places := listPlaces()
	for _, c := range w.copies {
		if c.source.Action != policy.Allow {
			continue
		}
		for _, a := range c.args {
			if namesRepository(a.Path) {
				continue
			}
			var globs []string
			for i := range places {
				if w.opensPlace(c, a.Path, &places[i]) {
					globs = append(globs, places[i].globs...)
				}
			}
			if len(globs) > 0 {
				c.except = append(c.except, policy.ArgSource{Path: a.Path, Globs: globs})
			}
		}
	}
}

// opensPlace reports whether a copy opens a place that must stay closed: no rule above the copy
// closes the place for all calls of the copy.
func (w *widener) opensPlace(c *copied, arg []string, p *place) bool {
	return slices.ContainsFunc(p.files, func(file string) bool {
		return !w.shutsFile(c, arg, w.o.Folder+"/"+file) && (p.keys || w.shutsFile(c, arg, c.dirs[0]+"/"+file))
	})
}

// shutsFile reports whether a rule above a copy denies or asks about a file, for every tool and
// server of the copy.
func (w *widener) shutsFile(c *copied, arg []string, file string) bool {
	return slices.ContainsFunc(w.sources[:c.at], func(s policy.Source) bool {
		return s.Subject == policy.ToolSubject && (s.Action == policy.Deny || s.Action == policy.Prompt) &&
			len(s.Args) == 1 && len(s.Where) == 0 && !s.Not.HasExceptions() && !s.Further.Only &&
			(slices.Equal(s.Args[0].Path, arg) || policy.EveryArgument(s.Args[0].Path)) &&
			len(s.Calls) == countServers(&s) && coverAll(s.Names, c.source.Names) && (s.Servers == nil || coverAll(s.Servers, w.serversOf(c))) &&
			slices.ContainsFunc(s.Args[0].Globs, func(g string) bool { return matchesSurely(g, file) })
	})
}

func countServers(s *policy.Source) int {
	if s.Servers == nil {
		return 0
	}
	return 1
}

// serversOf returns the globs for the servers of a copy.
func (w *widener) serversOf(c *copied) []string {
	switch {
	case w.o.Server != "":
		return []string{w.o.Server}
	case c.source.Servers == nil:
		return []string{"**"}
	}
	return c.source.Servers
}

// namesRepository reports whether an argument is always a whole repository, and never a file.
func namesRepository(path []string) bool {
	words := textclass.SplitWords(path[len(path)-1])
	return slices.Contains(words, "repo") || slices.Contains(words, "repository")
}

// callOf returns a call that a copy matches, about a file in the folder. If file is "", the
// argument has a value that the globs of the rule match.
func (w *widener) callOf(c *copied, file string) *policy.Call {
	s := c.source
	args := map[string]any{}
	for _, a := range s.Args {
		value := sample(a.Globs[0])
		if i := slices.IndexFunc(c.args, func(own policy.ArgSource) bool { return slices.Equal(own.Path, a.Path) }); i >= 0 && file != "" {
			value = w.o.Folder + "/" + file
		} else if i >= 0 {
			value = sample(c.args[i].Globs[0])
		}
		setMember(args, a.Path, value)
	}
	return newCall(s, sample(w.serversOf(c)[0]), args)
}

func setMember(in map[string]any, path []string, value string) {
	for _, name := range path[:len(path)-1] {
		below, ok := in[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			in[name] = below
		}
		in = below
	}
	name := path[len(path)-1]
	if policy.EveryArgument(path) {
		name = "path"
	}
	in[name] = value
}

// maxKept is the maximum number of closed files that are shown to a person.
const maxKept = 4

// listKept finds files in the folder that stay closed. It lists at most one file for each rule that
// closes files.
func (w *widener) listKept(op *Opening) {
	seen := map[policy.Rule]bool{}
	for _, file := range []string{".git/hooks/pre-commit", ".env", ".ssh/id_ed25519", ".bashrc", ".git/config", "server.key"} {
		for _, c := range slices.Concat(w.named, w.copies) {
			call := w.callOf(c, file)
			d := op.New.Decide(call)
			if d.Action != policy.Deny || d.Rule == nil || seen[*d.Rule] || len(op.Kept) >= maxKept || w.closing >= 0 && d.Rule.Index == w.closing+len(w.copies) {
				continue
			}
			seen[*d.Rule] = true
			op.Kept = append(op.Kept, Kept{File: w.o.Folder + "/" + file, Tool: call.Names[0], By: *d.Rule})
		}
	}
}
