package policy

import (
	"encoding/json"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// maxHints is the largest number of changed calls that Hint judges.
const maxHints = 32

// Hint returns a folder: if the relative paths of the denied call were absolute paths below this
// folder, the policy would have allowed the call. The folder has ~ for the home. Hint returns "" if
// there is no such folder, or if a rule with conditions denied the call. Hint reveals only this
// folder of the policy.
func (p *Policy) Hint(cs []Call) string {
	left := maxHints
	for i := range cs {
		if d := p.Decide(&cs[i]); d.Action == Deny && d.Reason == "" && p.byDefault(d.Rule) {
			return p.findHintFolder(&cs[i], &left)
		}
	}
	return ""
}

// byDefault reports whether a call was denied without a rule, or by a rule without conditions.
func (p *Policy) byDefault(r *Rule) bool {
	if r == nil {
		return true
	}
	if r.Index >= len(p.sources) || p.sources[r.Index].Rule != *r {
		return false
	}
	src := &p.sources[r.Index]
	return strings.Trim(strings.Join(src.patterns, ""), "*") == "" && len(src.args)+len(src.where)+len(src.calls) == 0 && !src.not.hasExceptions() && !src.further.Only
}

// findHintFolder tries the folders in rules that do not deny. It returns the first folder below
// which the call would not be denied, or "".
func (p *Policy) findHintFolder(c *Call, left *int) string {
	if c.Subject != ToolSubject || len(c.Names) != 1 {
		return ""
	}
	for i := range p.sources {
		src := &p.sources[i]
		if src.Action == Deny || src.On != OnCall || src.subject != ToolSubject || !p.rules[i].names.matchText(c.Names[0]) {
			continue
		}
		for _, folder := range src.literalFolders(p.homeFolder()) {
			other := *c
			var changed bool
			if other.Args, changed = src.rebasePaths(c.Args, folder); !changed {
				continue
			}
			if *left--; *left < 0 {
				return ""
			}
			if p.Decide(&other).Action != Deny {
				return p.renderFolder(folder)
			}
		}
	}
	return ""
}

// literalFolders returns the literal folders at the start of a rule's absolute globs.
func (r *ruleSource) literalFolders(home string) (all []string) {
	for _, a := range r.args {
		for _, text := range a.globs {
			g, err := glob.Compile(text)
			if err != nil || text[0] != '/' && !strings.HasPrefix(text, "~/") && !reading.HasDrive(text) {
				continue
			}
			prefix := g.LiteralPrefix()
			if strings.HasPrefix(prefix, "~/") && home != "" {
				prefix = home + prefix[1:]
			}
			if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
				all = append(all, prefix[:i])
			}
		}
	}
	return all
}

// rebasePaths puts folder in front of some paths in args: the paths without a root in arguments
// that the rule names. It returns the new arguments. It returns false if there are no such paths.
func (r *ruleSource) rebasePaths(args []byte, folder string) (out []byte, changed bool) {
	sc := jsonscan.Cursor{Src: string(args)}
	from := 0
	sc.SkipBlanks()
	ok := sc.VisitMembers(func(name string) bool {
		start := sc.At
		if sc.Peek() != '"' || !r.speaksOf(name) {
			return sc.SkipValue()
		}
		text, ok := sc.ReadString()
		if path := reading.RootlessPath(text); ok && path != "" {
			if path[0] != '/' {
				path = folder + "/" + path
			}
			quoted, _ := json.Marshal(path) // no error: a string always marshals
			out = append(append(out, args[from:start]...), quoted...)
			from, changed = sc.At, true
		}
		return ok
	})
	return append(out, args[from:]...), ok && changed
}

func (r *ruleSource) speaksOf(name string) bool {
	for _, a := range r.args {
		if len(a.path) == 1 && a.path[0] == name {
			return true
		}
	}
	return false
}

// renderFolder returns a folder as the agent reads it: with ~ for the home.
func (p *Policy) renderFolder(folder string) string {
	if home := p.homeFolder(); home != "" && (folder == home || strings.HasPrefix(folder, home+"/")) {
		return "~" + folder[len(home):]
	}
	if folder == "" {
		return "/"
	}
	return folder
}
