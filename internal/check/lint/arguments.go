package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// otherNames tries what a rule refuses under the other names that an argument of
// the kind goes by: those that the tool was seen to take, and the usual ones.
func otherNames(l *linter) {
	l.each(func(i int, r *policy.Source) {
		if opens(r) || r.Subject != policy.ToolSubject || l.reach[i].Witness == nil || l.reach[i].Perhaps {
			return
		}
		for _, c := range conditionsOf(r) {
			if family(c.name()) != nil && l.otherName(i, r, c) {
				return
			}
		}
	})
}

// condition is what a rule says of one argument.
type condition struct {
	path  []string
	pos   policy.Position
	globs []string // nil of a typed constraint
	where string   // "args" or "where"
}

func (c *condition) name() string { return c.path[len(c.path)-1] }

func conditionsOf(r *policy.Source) (out []condition) {
	for _, a := range r.Args {
		out = append(out, condition{a.Path, a.Pos, a.Globs, "args"})
	}
	for _, w := range r.Where {
		known := slices.ContainsFunc(out, func(c condition) bool { return slices.Equal(c.path, w.Path) })
		if !known && w.Key != "present" && w.Key != "type" {
			out = append(out, condition{w.Path, w.Pos, nil, "where"})
		}
	}
	return out
}

// values are texts that rule i, perhaps, refuses in an argument, some of them like
// those of a call that is allowed.
func (l *linter) values(i int, c *condition, like *policy.Call) (out []string) {
	folders := []string{folderIn(like, c.path)}
	for _, name := range family(c.name()) {
		folders = append(folders, folderIn(like, []string{name}))
	}
	slices.Sort(folders)
	for _, g := range c.globs {
		for _, f := range slices.Compact(folders) {
			out = append(out, within(g, f)...)
		}
	}
	if s, ok := textIn(l.reach[i].Witness, c.path); ok {
		out = append(out, s) // of constraints the only one
	}
	return slices.Compact(out)
}

// namesIn are the last names of the arguments that a rule names.
func namesIn(r *policy.Source) (out []string) {
	for _, c := range conditionsOf(r) {
		out = append(out, c.name())
	}
	return out
}

// named is a call that shows a value under another name.
type named struct {
	name    string
	known   bool // the tool was seen to take it, or an allow names it
	call    *policy.Call
	allowed *policy.Rule
}

func (l *linter) otherName(i int, r *policy.Source, c condition) bool {
	var found []named
	for _, base := range l.openings(i) {
		allow, tool := &l.sources[base.rule], base.call.Names[0]
		seen := l.options.Arguments[tool]
		for _, name := range slices.Concat(seen, namesIn(allow), family(c.name())) {
			known := slices.Contains(seen, name)
			if strings.EqualFold(name, c.name()) || !akin(c.name(), name) ||
				!known && textclass.Effects(textclass.LetterWords(tool))&textclass.Opens == 0 && !slices.Contains(namesIn(allow), name) ||
				slices.ContainsFunc(found, func(n named) bool { return n.name == name && (n.known || !known) }) {
				continue // of a tool that has nothing to take, names are no more than guessed
			}
			open, named := leaves(allow, c, name)
			if !open || !known && !named && len(conditionsOf(allow)) > 0 {
				continue
			}
			if n := l.elsewhere(i, &c, name, &base.call); n != nil {
				n.known = known || named
				found = append(found, *n)
			}
		}
	}
	if slices.ContainsFunc(found, func(n named) bool { return n.known }) {
		found = slices.DeleteFunc(found, func(n named) bool { return !n.known })
	}
	if len(found) == 0 {
		return false
	}
	var others []string
	for _, n := range found {
		others = append(others, policytext.Key("args", replaced(c.path, n.name)...))
	}
	f := check.Finding{Code: OtherArgumentName,
		Message: fmt.Sprintf("what this rule refuses in %s is allowed in %s", policytext.Key(c.where, c.path...), listed(others)),
		Fix:     fmt.Sprintf("let %s name the arguments that it means, or add the same rule for %s", l.at(found[0].allowed.Pos), listed(others))}
	if !found[0].known {
		f.Severity = check.Note
		f.Message += ", should the tool take it there"
	}
	l.show(&f, found[0].call)
	l.add(r, c.pos, f)
	return true
}

// leaves says that an allow leaves an argument of this name open, or names it
// itself. One that names another of the kind says what it means.
func leaves(allow *policy.Source, c condition, name string) (open, named bool) {
	open = true
	for _, a := range conditionsOf(allow) {
		if slices.Equal(a.path, replaced(c.path, name)) {
			return true, true
		}
		open = open && !akin(a.name(), c.name())
	}
	return open, false
}

// elsewhere is a call in which an argument of another name has a value that rule i
// refuses in its own, and which is allowed.
func (l *linter) elsewhere(i int, c *condition, name string, like *policy.Call) *named {
	path := replaced(c.path, name)
	for _, value := range l.values(i, c, like) {
		refused, other := with(like, c.path, value), with(like, path, value)
		if refused == nil || other == nil {
			continue
		}
		if d := l.policy.Decide(refused); d.Rule == nil || d.Rule.Index != i {
			continue
		}
		if d := l.policy.Decide(other); d.Action == policy.Allow {
			return &named{name: name, call: other, allowed: d.Rule}
		}
	}
	return nil
}

// replaced is a path of names with another last one.
func replaced(path []string, last string) []string {
	out := slices.Clone(path)
	out[len(out)-1] = last
	return out
}

// open finds allows that look at no argument of a tool that has ones to look at.
func open(l *linter) {
	l.each(func(_ int, r *policy.Source) {
		if !opens(r) || r.Subject != policy.ToolSubject || len(r.Paths()) > 0 {
			return
		}
		var known []string
		for tool, names := range l.options.Arguments {
			if matchesAny(r.Names, []string{tool}) {
				for _, n := range names {
					if family(n) != nil {
						known = append(known, n)
					}
				}
			}
		}
		slices.Sort(known)
		known = slices.Compact(known)
		opening := slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool {
			return textclass.Effects(textclass.LetterWords(name))&textclass.Opens == 0 && !everything(name)
		})
		if len(known) > 0 {
			opening = r.Names
		}
		if len(opening) == 0 {
			return
		}
		f := check.Finding{Code: OpenArguments, Message: fmt.Sprintf("tool = %s is allowed with any arguments", written(opening)),
			Fix: `say what they may be: args.path = "~/projects/**", for example`}
		if len(known) > 0 {
			f.Message += ", and takes " + listed(known)
		}
		l.add(r, policy.Position{}, f)
	})
}
