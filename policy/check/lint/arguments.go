package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check/report"
)

// families are names that servers give to arguments of the same meaning.
var families = [][]string{
	{"path", "file", "filename", "filepath", "file_path", "paths", "files", "uri", "source", "destination", "dir", "directory", "folder"},
	{"command", "cmd", "script", "shell", "code"},
	{"sql", "query", "statement"},
	{"url", "uri", "href", "link"},
}

// family is the names of the same meaning as one; nil when it is of none.
func family(name string) []string {
	for _, f := range families {
		if slices.Contains(f, strings.ToLower(name)) {
			return f
		}
	}
	return nil
}

// otherNames tries what a deny refuses under the other names that an argument of
// the kind goes by: those that the tool was seen to take, and the usual ones.
func otherNames(l *linter) {
	l.each(func(i int, r *policy.Source) {
		if opens(r) || r.Subject != policy.ToolSubject {
			return
		}
		for _, a := range r.Args {
			if len(a.Path) == 1 && family(a.Path[0]) != nil {
				if l.otherName(i, r, a) {
					return
				}
			}
		}
	})
}

func (l *linter) otherName(i int, r *policy.Source, a policy.ArgSource) bool {
	value, ok := l.refused(i, a)
	if !ok {
		return false
	}
	for _, tool := range l.toolsOf(r) {
		seen := l.options.Arguments[tool]
		for _, name := range append(slices.Clone(seen), family(a.Path[0])...) {
			known := slices.Contains(seen, name)
			if !known && !isPowerful(tool) {
				continue // a guess about a tool that has nothing to take
			}
			if name == a.Path[0] || family(name) == nil || !slices.Contains(family(a.Path[0]), strings.ToLower(name)) {
				continue
			}
			c := &policy.Call{Server: l.reach[i].Witness.Server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}}
			was, now := l.policy.Decide(with(c, a.Path, value)), l.policy.Decide(with(c, []string{name}, value))
			if was.Rule == nil || was.Rule.Index != i || now.Action != policy.Allow {
				continue
			}
			f := Finding{Code: OtherArgumentName,
				Message: fmt.Sprintf("what this rule refuses in %s is allowed in args.%s", argName(a.Path), name),
				Fix:     fmt.Sprintf("add the same rule for args.%s, or let the allow below name the arguments it means", name)}
			if !known {
				f.Severity = report.Note
				f.Message += ", should the tool take it there"
			}
			l.show(&f, with(c, []string{name}, value))
			l.add(r, a.Pos, f)
			return true
		}
	}
	return false
}

// refused is a value that a rule refuses in an argument.
func (l *linter) refused(i int, a policy.ArgSource) (string, bool) {
	base := l.reach[i].Witness
	if base == nil || l.reach[i].Perhaps {
		return "", false
	}
	for _, g := range a.Globs {
		value := strings.NewReplacer("**/", "/x/", "**", "x", "*", "x", "?", "x").Replace(g)
		c := with(base, a.Path, value)
		if c == nil {
			continue
		}
		if d := l.policy.Decide(c); d.Rule != nil && d.Rule.Index == i {
			return value, true
		}
	}
	return "", false
}

// toolsOf lists tools that a rule is about: those that were seen, and those
// that other rules name in full.
func (l *linter) toolsOf(r *policy.Source) []string {
	var names []string
	for tool := range l.options.Arguments {
		names = append(names, tool)
	}
	for _, s := range l.serversOf(r.Server) {
		names = append(names, l.options.Servers[s]...)
	}
	l.each(func(i int, other *policy.Source) {
		if other.Subject == policy.ToolSubject && opens(other) && l.reach[i].Witness != nil {
			names = append(names, l.reach[i].Witness.Names[0])
		}
	})
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !matchesAny(r.Name, []string{n}) })
}

// powerful are words in the names of tools whose arguments matter.
var powerful = []string{"read", "write", "edit", "file", "path", "dir", "exec", "run", "shell", "command", "bash", "sql", "query", "fetch", "url", "http", "download", "upload", "delete", "remove", "move"}

func isPowerful(tool string) bool {
	words := strings.FieldsFunc(strings.ToLower(tool), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(powerful, w) })
}

// open finds allows that look at no argument of a tool that has ones to look at.
func open(l *linter) {
	l.each(func(_ int, r *policy.Source) {
		if !opens(r) || r.Subject != policy.ToolSubject || len(r.Args)+len(r.Where) > 0 {
			return
		}
		var known []string
		for tool, names := range l.options.Arguments {
			if matchesAny(r.Name, []string{tool}) {
				for _, n := range names {
					if family(n) != nil {
						known = append(known, n)
					}
				}
			}
		}
		slices.Sort(known)
		known = slices.Compact(known)
		all := strings.Trim(r.Name, "*") == ""
		if len(known) == 0 && !isPowerful(r.Name) && !all {
			return
		}
		f := Finding{Code: OpenArguments, Message: fmt.Sprintf("tool = %q is allowed with any arguments", r.Name),
			Fix: `say what they may be: args.path = "~/projects/**", for example`}
		if len(known) > 0 {
			f.Message += ", and takes " + listed(known)
		}
		l.add(r, policy.Position{}, f)
	})
}
