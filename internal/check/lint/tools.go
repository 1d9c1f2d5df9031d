package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/text/spelling"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// checkTools compares the names in rules with the declared tools of servers.
func checkTools(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		servers, misspelt := l.serversOf(r.Servers), false
		for _, g := range r.Servers {
			if near := nearestName(g, slices.Sorted(maps.Keys(l.options.Servers))); len(l.serversOf([]string{g})) == 0 && near != "" {
				misspelt = true
				l.addFinding(r, policy.Position{}, check.Finding{Code: UnknownTool, Message: fmt.Sprintf("no server in the record is called %q", g),
					Why: "The rule matches no call of a server that exists; a misspelt deny denies nothing.", Fix: fmt.Sprintf("write server = %q, if that is meant", near)})
			}
		}
		if misspelt || r.Subject != policy.ToolSubject {
			return
		}
		var declared []string
		for _, s := range servers {
			declared = append(declared, l.options.Servers[s]...)
		}
		for _, g := range slices.Concat(r.Names, r.Not.Names) {
			if len(declared) > 0 && !matchesAny([]string{g}, declared) {
				l.reportUnknownTool(r, g, servers, declared)
			}
		}
	})
}

// reportUnknownTool reports a name that matches no tool of these servers.
func (l *linter) reportUnknownTool(r *policy.Source, name string, servers, declared []string) {
	f := check.Finding{Code: UnknownTool, Message: fmt.Sprintf("no tool of %s is called %q", joinNames(quoteNames(servers)), name)}
	switch near := nearestName(name, declared); {
	case near != "":
		f.Fix = fmt.Sprintf("write %q, if that is meant", near)
	case len(r.Names) > 1:
		f.Severity, f.Fix = check.Note, "take it out of the list, unless a server that is not in the record has the tool"
	default:
		f.Severity, f.Fix = check.Note, "remove the rule, unless a server that is not in the record has the tool"
	}
	l.addFinding(r, policy.Position{}, f)
}

// serversOf returns the known servers that at least one glob matches. It returns all known servers if
// globs is nil.
func (l *linter) serversOf(globs []string) []string {
	var out []string
	for _, s := range slices.Sorted(maps.Keys(l.options.Servers)) {
		if globs == nil || matchesAny(globs, []string{s}) {
			out = append(out, s)
		}
	}
	return out
}

// matchesAny reports whether at least one glob matches at least one name.
func matchesAny(globs, names []string) bool {
	return slices.ContainsFunc(globs, func(pattern string) bool {
		g, err := glob.Compile(pattern)
		return err == nil && slices.ContainsFunc(names, g.Match)
	})
}

func quoteNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return out
}

// nearestName returns a correction for a word: the most similar name, or "" if no name is similar
// enough. If the word ends in a star, it returns the beginning of a name with a star.
func nearestName(word string, names []string) string {
	type near struct {
		name string
		far  int
	}
	var all []near
	stem, open := strings.CutSuffix(word, "*")
	stem = strings.TrimRight(stem, "*")
	if open && strings.ContainsAny(stem, "*?") || len(stem) < 2 {
		return ""
	}
	plain := foldName(strings.NewReplacer("*", "", "?", "").Replace(stem))
	for _, n := range names {
		far, name := spelling.EditDistance(plain, foldName(n)), n
		switch cut := min(len(stem), len(n)); {
		case open:
			far, name = spelling.EditDistance(plain, foldName(n[:cut])), n[:cut]+"*"
		case wordsIn(n, word), wordsIn(word, n):
			far = min(far, 1) // read_file matches read_text_file, and files_read_file matches read_file
		}
		if far <= max(1, len(plain)/4) {
			all = append(all, near{name, far})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b near) int {
		return cmp.Or(a.far-b.far, len(a.name)-len(b.name), strings.Compare(a.name, b.name))
	}).name
}

// foldName returns a name in one spelling: lower case, with underscores as separators.
func foldName(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(name))
}

// wordsIn reports whether the second text (short) has at least two words, and the first text (long)
// contains these words in the same order.
func wordsIn(long, short string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(foldName(s), func(r rune) bool { return r == '_' })
	}
	want := words(short)
	if len(want) < 2 {
		return false
	}
	for _, w := range words(long) {
		if len(want) > 0 && want[0] == w {
			want = want[1:]
		}
	}
	return len(want) == 0
}
