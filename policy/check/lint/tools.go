package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check/report"
	"github.com/clawai/clawai/policy/glob"
)

// tools compares the names in rules with the tools that servers declare.
func tools(l *linter) {
	l.each(func(_ int, r *policy.Source) {
		if r.Subject != policy.ToolSubject {
			return
		}
		servers := l.serversOf(r.Server)
		var declared []string
		for _, s := range servers {
			declared = append(declared, l.options.Servers[s]...)
		}
		if len(declared) == 0 || matchesAny(r.Name, declared) {
			return
		}
		f := Finding{Code: UnknownTool, Message: fmt.Sprintf("no tool of %s is called %q", listed(quoted(servers)), r.Name)}
		if near := nearest(r.Name, declared); near != "" {
			f.Fix = fmt.Sprintf("write %q, if that is meant", near)
		} else {
			f.Severity = report.Note
			f.Fix = "remove the rule, unless a server that is not in the record has the tool"
		}
		l.add(r, policy.Position{}, f)
	})
}

// serversOf lists the known servers that a rule is about.
func (l *linter) serversOf(pattern string) []string {
	var out []string
	for _, s := range slices.Sorted(maps.Keys(l.options.Servers)) {
		if pattern == "" || matchesAny(pattern, []string{s}) {
			out = append(out, s)
		}
	}
	return out
}

func matchesAny(pattern string, names []string) bool {
	g, err := glob.Compile(pattern)
	return err == nil && slices.ContainsFunc(names, g.Match)
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return out
}

// nearest is the name that is most like a word without being too different; ""
// when none is.
func nearest(word string, names []string) string {
	type near struct {
		name string
		far  int
	}
	var all []near
	plain := strings.NewReplacer("-", "_", ".", "_", "/", "_", "*", "", "?", "").Replace(strings.ToLower(word))
	for _, n := range names {
		folded := strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(n))
		if far := distance(plain, folded); far <= max(1, len(plain)/4) {
			all = append(all, near{n, far})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b near) int { return cmp.Or(a.far-b.far, strings.Compare(a.name, b.name)) }).name
}

// distance is how many letters must be put in, taken out or changed to make one
// word of another.
func distance(a, b string) int {
	const longest = 256 // names in a record are others' text
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}
