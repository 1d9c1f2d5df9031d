package widen

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy/glob"
)

// foldersOf returns the folders that globs open completely. The result bare is true if a glob also
// matches the folder itself.
func foldersOf(globs []string) (dirs []string, bare bool) {
	for _, g := range globs {
		if dir, below := strings.CutSuffix(g, "/**"); below && isFolder(dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, g := range globs {
		for _, dir := range dirs {
			bare = bare || g == dir
		}
	}
	return dirs, bare
}

func isFolder(dir string) bool {
	if strings.ContainsAny(dir, "*?") {
		return false
	}
	drive := len(dir) > 1 && dir[1] == ':'
	return strings.HasPrefix(dir, "/") || dir == "~" || strings.HasPrefix(dir, "~/") || dir == "${cwd}" || strings.HasPrefix(dir, "${cwd}/") || drive
}

// addAliases adds the other names of the same tools. A built-in tool of an agent also has the name
// of its class, and rules match both names.
func addAliases(names []string) []string {
	all := slices.Clone(names)
	for _, class := range builtin.ListClasses() {
		for _, client := range builtin.ListClients() {
			own := builtin.ToolNames(client, class.Name)
			if meetAny(names, []string{class.Name}) {
				all = append(all, own...)
			} else if meetAny(names, own) {
				all = append(all, class.Name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// meetAny reports whether one text may match both a glob in the first list and a glob in the second
// list.
func meetAny(some, others []string) bool {
	for _, a := range some {
		for _, b := range others {
			if meet(a, b) {
				return true
			}
		}
	}
	return false
}

// meet reports whether some text may match both globs. If this is not certain, it returns true.
func meet(a, b string) bool {
	switch starA, starB := strings.ContainsAny(a, "*?"), strings.ContainsAny(b, "*?"); {
	case !starA && !starB:
		return a == b
	case !starA:
		return matches(b, a)
	case !starB:
		return matches(a, b)
	}
	headA, headB := a[:strings.IndexAny(a, "*?")], b[:strings.IndexAny(b, "*?")]
	return strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)
}

func matches(pattern, text string) bool {
	g, err := glob.Compile(pattern)
	return err != nil || g.Match(text)
}

// coverAll reports whether the globs in outer match every text that a glob in inner matches. If
// this is not certain, it returns false.
func coverAll(outer, inner []string) bool {
	for _, in := range inner {
		if !slices.ContainsFunc(outer, func(out string) bool { return covers(out, in) }) {
			return false
		}
	}
	return true
}

func covers(outer, inner string) bool {
	if outer == inner || outer == "**" {
		return true
	}
	if !strings.ContainsAny(inner, "*?") {
		return matchesSurely(outer, inner)
	}
	head, deep := strings.CutSuffix(outer, "**")
	return deep && !strings.ContainsAny(head, "*?") && strings.HasPrefix(inner, head)
}

func matchesSurely(pattern, text string) bool {
	g, err := glob.Compile(pattern)
	return err == nil && g.Match(text)
}

// sampleName returns a name that a glob matches and that looks like a tool's name.
func sampleName(pattern string) string {
	name := strings.ReplaceAll(pattern, "*", "")
	if name == "" || strings.HasSuffix(name, "_") {
		name += "file"
	}
	if matches(pattern, name) {
		return name
	}
	return sample(pattern)
}

// sample returns a text that a glob matches.
func sample(pattern string) string {
	return strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(pattern)
}
