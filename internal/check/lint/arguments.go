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

// findOtherNames finds rules that refuse a value in one argument while the policy allows the same value
// in another argument with the same meaning. It tries usual names of arguments, and names from recorded
// calls of the tool.
func findOtherNames(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		if isAllow(r) || r.Subject != policy.ToolSubject || l.reach[i].Witness == nil || l.reach[i].Perhaps {
			return
		}
		for _, c := range conditionsOf(r) {
			if nameFamily(c.argumentName()) != nil && l.tryOtherNames(i, r, c) {
				return
			}
		}
	})
}

// condition is a rule's condition on one argument.
type condition struct {
	path  []string
	pos   policy.Position
	globs []string // nil if the condition is a typed constraint
	where string   // the table in the policy: "args" or "where"
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

// refusedValues returns texts that rule i may refuse in the argument of c. base is an allowed call.
// Some of the texts are paths in the folders of base's paths.
func (l *linter) refusedValues(i int, c *condition, base *policy.Call) (out []string) {
	folders := []string{folderIn(base, c.path)}
	for _, name := range nameFamily(c.argumentName()) {
		folders = append(folders, folderIn(base, []string{name}))
	}
	slices.Sort(folders)
	for _, g := range c.globs {
		for _, f := range slices.Compact(folders) {
			out = append(out, textsInFolder(g, f)...)
		}
	}
	if s, ok := textIn(l.reach[i].Witness, c.path); ok {
		out = append(out, s) // for a typed constraint, this is the only text
	}
	return slices.Compact(out)
}

// namesIn returns the names of the arguments in a rule's conditions.
func namesIn(r *policy.Source) (out []string) {
	for _, c := range conditionsOf(r) {
		out = append(out, c.argumentName())
	}
	return out
}

// renamedCall is an allowed call. A rule refuses one of the call's values, but only in an argument with
// another name.
type renamedCall struct {
	name    string // name of the argument in the call
	known   bool   // a recorded call of the tool has an argument with this name, or an allow names the argument
	call    *policy.Call
	allowed *policy.Rule // the rule that allows the call
}

func (l *linter) tryOtherNames(i int, r *policy.Source, c condition) bool {
	var found []renamedCall
	for _, base := range l.findOpenings(i) {
		allow, tool := &l.sources[base.rule], base.call.Names[0]
		seen := l.options.Arguments[tool]
		for _, name := range slices.Concat(seen, namesIn(allow), nameFamily(c.argumentName())) {
			known := slices.Contains(seen, name)
			if strings.EqualFold(name, c.argumentName()) || !areAkin(c.argumentName(), name) ||
				!known && textclass.EffectsOf(textclass.LetterWords(tool))&textclass.Opens == 0 && !slices.Contains(namesIn(allow), name) ||
				slices.ContainsFunc(found, func(n renamedCall) bool { return n.name == name && (n.known || !known) }) {
				continue
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
	if slices.ContainsFunc(found, func(n renamedCall) bool { return n.known }) {
		found = slices.DeleteFunc(found, func(n renamedCall) bool { return !n.known })
	}
	if len(found) == 0 {
		return false
	}
	var others []string
	for _, n := range found {
		others = append(others, policytext.DottedKey("args", replaceLast(c.path, n.name)...))
	}
	f := check.Finding{Code: OtherArgumentName,
		Message: fmt.Sprintf("this rule refuses a value in %s that is allowed in %s", policytext.DottedKey(c.where, c.path...), joinNames(others)),
		Fix:     fmt.Sprintf("add conditions to %s, or add the same rule for %s", l.describeRule(found[0].allowed.Pos), joinNames(others))}
	if !found[0].known {
		f.Severity = check.Note
		f.Message += ", if the tool has such an argument"
	}
	l.addWitness(&f, found[0].call)
	l.addFinding(r, c.pos, f)
	return true
}

// leavesOpen reports whether an allow may accept a refused value in the argument that is called name.
// named is true if the allow has a condition on this argument. The result open is false if the allow
// only has a condition on another argument with the same meaning, because then its author has already
// restricted such arguments.
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

// findRenamedArgument looks for a value that rule i refuses in the argument of c, while an allowed call
// has the same value in the argument that is called name. It builds the call from base. It returns nil
// if it finds no such call.
func (l *linter) findRenamedArgument(i int, c *condition, name string, base *policy.Call) *renamedCall {
	path := replaceLast(c.path, name)
	for _, value := range l.refusedValues(i, c, base) {
		refused, other := withArgument(base, c.path, value), withArgument(base, path, value)
		if refused == nil || other == nil {
			continue
		}
		if d := l.policy.Decide(refused); d.Rule == nil || d.Rule.Index != i {
			continue
		}
		if d := l.policy.Decide(other); d.Action == policy.Allow {
			return &renamedCall{name: name, call: other, allowed: d.Rule}
		}
	}
	return nil
}

// replaceLast returns a copy of path with another last element, the parameter last.
func replaceLast(path []string, last string) []string {
	out := slices.Clone(path)
	out[len(out)-1] = last
	return out
}

// findOpenAllows finds allows without conditions on arguments, if their tools have arguments such as a
// path or a command. Such arguments should have a condition.
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
			Fix: `add a condition, such as args.path = "~/projects/**"`}
		if len(known) > 0 {
			f.Message += ", and takes " + joinNames(known)
		}
		l.addFinding(r, policy.Position{}, f)
	})
}
