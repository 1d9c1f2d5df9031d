package pin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// minForeign is the minimum length in bytes of a tool name that is searched for in texts.
const minForeign = 6

// CompareServer returns a server's changes since the lock was written. If a new text names a tool
// of another server, CompareServer adds a change, because the text may tell the model how to use
// that tool.
func (l Lock) CompareServer(name string, is *SelfDescription) []Difference {
	was := l[name]
	all := CompareServers(&was, is)
	foreign := l.foreignTools(name, is)
	for i := range all {
		d := &all[i]
		if d.Class != Added && !slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Class == Text || c.Class == Widened }) {
			continue
		}
		tree := map[string]any{"instructions": is.Instructions}
		if d.Kind != Itself {
			tree = is.entries[d.Kind][d.Name].parseMembers()
		}
		d.Changes = append(d.Changes, findMentions(tree, foreign)...)
		d.Class = GravestClass(d.Changes)
	}
	return all
}

// foreignTools maps the names of other servers' tools to these servers. It leaves out names that
// may be everyday words, and the names of this server's own tools.
func (l Lock) foreignTools(name string, is *SelfDescription) map[string]string {
	all := map[string]string{}
	for _, other := range slices.Sorted(maps.Keys(l)) {
		if other == name {
			continue
		}
		for tool := range l[other].entries[Tool] {
			if _, own := is.FindEntry(Tool, tool); !own && len(tool) >= minForeign && strings.ContainsAny(tool, "-_./") {
				all[tool] = other
			}
		}
	}
	return all
}

func findMentions(tree map[string]any, foreign map[string]string) (found []Change) {
	if len(foreign) == 0 {
		return nil
	}
	visitTexts("", tree, func(at, text string) {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
		}) {
			word = strings.Trim(word, "-_./")
			if whose, ok := foreign[word]; ok {
				found = append(found, Change{Class: Refused, At: at, What: fmt.Sprintf("it names %q, a tool of %q", word, whose)})
				return
			}
		}
	})
	return found
}
