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

// otherNames tries values that a rule refuses under other names of the same
// kind of argument: names that the tool was seen to take, and the usual ones.
func otherNames(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		if isAllow(r) || r.Subject != policy.ToolSubject || l.reach[i].Witness == nil || l.reach[i].Perhaps {
			return
		}
		for _, c := range conditionsOf(r) {
			if nameFamily(c.argumentName()) != nil && l.otherName(i, r, c) {
				return
			}
		}
	})
}

// condition is a rule's condition on one argument.
type condition struct {
	path  []string
	pos   policy.Position
	globs []string // nil for a typed constraint
	where string   // "args" or "where"
}

func (c *condition) argumentName() string { return c.path[len(c.path)-1] }

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

// refusedValues returns texts that rule i may refuse in an argument. Some of
// them resemble the value in an allowed call.
func (l *linter) refusedValues(i int, c *condition, like *policy.Call) (out []string) {
	folders := []string{folderIn(like, c.path)}
	for _, name := range nameFamily(c.argumentName()) {
		folders = append(folders, folderIn(like, []string{name}))
	}
	slices.Sort(folders)
	for _, g := range c.globs {
		for _, f := range slices.Compact(folders) {
			out = append(out, textsInFolder(g, f)...)
		}
	}
	if s, ok := textIn(l.reach[i].Witness, c.path); ok {
		out = append(out, s) // the only text for constraints
	}
	return slices.Compact(out)
}

// namesIn returns the last path elements of the arguments that a rule names.
func namesIn(r *policy.Source) (out []string) {
	for _, c := range conditionsOf(r) {
		out = append(out, c.argumentName())
	}
	return out
}

// named is an allowed call that passes a refused value under another argument
// name.
type named struct {
	name    string
	known   bool // the tool was seen to take the name, or an allow names it
	call    *policy.Call
	allowed *policy.Rule
}

func (l *linter) otherName(i int, r *policy.Source, c condition) bool {
	var found []named
	for _, base := range l.findOpenings(i) {
		allow, tool := &l.sources[base.rule], base.call.Names[0]
		seen := l.options.Arguments[tool]
		for _, name := range slices.Concat(seen, namesIn(allow), nameFamily(c.argumentName())) {
			known := slices.Contains(seen, name)
			if strings.EqualFold(name, c.argumentName()) || !areAkin(c.argumentName(), name) ||
				!known && textclass.EffectsOf(textclass.LetterWords(tool))&textclass.Opens == 0 && !slices.Contains(namesIn(allow), name) ||
				slices.ContainsFunc(found, func(n named) bool { return n.name == name && (n.known || !known) }) {
				continue // the names would only be guesses for a tool that opens nothing
			}
			open, named := leavesOpen(allow, c, name)
			if !open || !known && !named && len(conditionsOf(allow)) > 0 {
				continue
			}
			if n := l.findRenamedArgument(i, &c, name, &base.call); n != nil {
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
		others = append(others, policytext.DottedKey("args", replaceLast(c.path, n.name)...))
	}
	f := check.Finding{Code: OtherArgumentName,
		Message: fmt.Sprintf("what this rule refuses in %s is allowed in %s", policytext.DottedKey(c.where, c.path...), joinNames(others)),
		Fix:     fmt.Sprintf("let %s name the arguments that it means, or add the same rule for %s", l.describeRule(found[0].allowed.Pos), joinNames(others))}
	if !found[0].known {
		f.Severity = check.Note
		f.Message += ", should the tool take it there"
	}
	l.addWitness(&f, found[0].call)
	l.addFinding(r, c.pos, f)
	return true
}

// leavesOpen reports whether an allow leaves an argument of this name
// unrestricted, and whether the allow names it. An allow that names another
// argument of the kind is taken as intended.
func leavesOpen(allow *policy.Source, c condition, name string) (open, named bool) {
	open = true
	for _, a := range conditionsOf(allow) {
		if slices.Equal(a.path, replaceLast(c.path, name)) {
			return true, true
		}
		open = open && !areAkin(a.argumentName(), c.argumentName())
	}
	return open, false
}

// findRenamedArgument returns an allowed call in which an argument with another
// name has a value that rule i refuses under its own name.
func (l *linter) findRenamedArgument(i int, c *condition, name string, like *policy.Call) *named {
	path := replaceLast(c.path, name)
	for _, value := range l.refusedValues(i, c, like) {
		refused, other := withArgument(like, c.path, value), withArgument(like, path, value)
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

// replaceLast returns a path with its last element replaced.
func replaceLast(path []string, last string) []string {
	out := slices.Clone(path)
	out[len(out)-1] = last
	return out
}

// findOpenAllows finds allows without a condition on arguments, for tools that
// have arguments worth a condition.
func findOpenAllows(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		if !isAllow(r) || r.Subject != policy.ToolSubject || len(r.ArgumentPaths()) > 0 {
			return
		}
		var known []string
		for tool, names := range l.options.Arguments {
			if matchesAny(r.Names, []string{tool}) {
				for _, n := range names {
					if nameFamily(n) != nil {
						known = append(known, n)
					}
				}
			}
		}
		slices.Sort(known)
		known = slices.Compact(known)
		opening := slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool {
			return textclass.EffectsOf(textclass.LetterWords(name))&textclass.Opens == 0 && !matchesEverything(name)
		})
		if len(known) > 0 {
			opening = r.Names
		}
		if len(opening) == 0 {
			return
		}
		f := check.Finding{Code: OpenArguments, Message: fmt.Sprintf("tool = %s is allowed with any arguments", formatGlobs(opening)),
			Fix: `say what they may be: args.path = "~/projects/**", for example`}
		if len(known) > 0 {
			f.Message += ", and takes " + joinNames(known)
		}
		l.addFinding(r, policy.Position{}, f)
	})
}
