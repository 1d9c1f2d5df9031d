package widen

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// place is a set of files that a further folder may not open.
type place struct {
	globs []string
	files []string // examples below the folder
	keys  bool     // no copy opens it; another place is opened if the rule's own folder opens it
}

// listPlaces returns the keys, and what runs by itself later.
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

// hooks is the place whose files git runs.
const hooks = ".git/hooks"

// shutPlaces gives the copies that allow exceptions for the places that they may not open.
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

// opensPlace reports whether a copy opens a place that it may not open: no rule above it shuts the
// place for all of its calls.
func (w *widener) opensPlace(c *copied, arg []string, p *place) bool {
	return slices.ContainsFunc(p.files, func(file string) bool {
		return !w.shutsFile(c, arg, w.o.Folder+"/"+file) && (p.keys || w.shutsFile(c, arg, c.dirs[0]+"/"+file))
	})
}

// shutsFile reports whether a rule above a copy denies a file, or asks about it, for each tool and
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

// serversOf returns the globs of a copy's servers.
func (w *widener) serversOf(c *copied) []string {
	switch {
	case w.o.Server != "":
		return []string{w.o.Server}
	case c.source.Servers == nil:
		return []string{"**"}
	}
	return c.source.Servers
}

// namesRepository reports whether an argument names a whole repository and never a file in it.
func namesRepository(path []string) bool {
	words := textclass.SplitWords(path[len(path)-1])
	return slices.Contains(words, "repo") || slices.Contains(words, "repository")
}

// callOf returns a call of a copy with a file of the folder.
func (w *widener) callOf(c *copied, file string) *policy.Call {
	s := c.source
	args := map[string]any{}
	for _, a := range s.Args {
		value := sample(a.Globs[0])
		if slices.ContainsFunc(c.args, func(own policy.ArgSource) bool { return slices.Equal(own.Path, a.Path) }) {
			value = w.o.Folder + "/" + file
		}
		setMember(args, a.Path, value)
	}
	src, _ := json.Marshal(args) // texts and objects can always be encoded
	return &policy.Call{Server: sample(w.serversOf(c)[0]), Method: "tools/call", Subject: policy.ToolSubject, Names: []string{sampleName(s.Names[0])}, Args: src, Screened: true}
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

// maxKept is the maximum number of files that are shown to stay shut.
const maxKept = 4

// listKept finds files of the folder that stay shut, each by another rule.
func (w *widener) listKept(op *Opening) {
	seen := map[policy.Rule]bool{}
	for _, file := range []string{".git/hooks/pre-commit", ".env", ".ssh/id_ed25519", ".bashrc", ".git/config", "server.key"} {
		for _, c := range w.copies {
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
