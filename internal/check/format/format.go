// Package format sets the text of a policy in one way. It moves bytes and
// changes no meaning: what a policy says after it is what it said before, with
// every comment beside what it stood beside. Pure.
package format

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// errMeaning says that the formatter would have changed what a text says, and
// therefore did nothing.
var errMeaning = errors.New("formatting would change what the file says; it is left as it is")

// Format gives the text in the canonical form (docs/policy-ci.md). The error
// says that src is no TOML, or that nothing can be done to it safely.
func Format(src []byte) ([]byte, error) {
	doc, err := policytext.ReadDocument(src)
	if err != nil {
		return nil, err
	}
	out := setter{eol: policytext.LineEnd(src)}
	sections, tail := sectionsOf(doc)
	for i := range sections {
		out.writeSection(&sections[i], i == 0)
	}
	out.writeTail(tail, len(sections) == 0)
	var before, after map[string]any
	if err := toml.Unmarshal(src, &before); err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(out.text, &after); err != nil || !reflect.DeepEqual(before, after) {
		return nil, errMeaning
	}
	return out.text, nil
}

// item is a statement with the comments that belong to it.
type item struct {
	policytext.Statement
	lead  []string // lines above it: comments, and "" for blank ones
	trail string   // the comment behind it
	raw   []byte   // its bytes
}

// section is a header with the pairs below it; the first may have no header.
type section struct {
	items []item
	rule  bool // [[rule]]: its pairs have an order
	inner bool // a table of the rule above
}

// sectionsOf cuts a document at its headers; tail are the lines after the last
// statement.
func sectionsOf(doc policytext.Document) (sections []section, tail []string) {
	at := 0
	for i, st := range doc.Statements {
		trail, lead := splitGap(doc.Src[at:st.Start], i > 0)
		if i > 0 {
			last := &sections[len(sections)-1]
			last.items[len(last.items)-1].trail = trail
		}
		at = st.End
		it := item{Statement: st, lead: lead, raw: doc.Src[st.Start:st.End]}
		if i == 0 || st.Header {
			ofRule := st.Header && st.Key[0] == "rule"
			sections = append(sections, section{rule: ofRule && len(st.Key) == 1, inner: ofRule && len(st.Key) > 1})
		}
		last := &sections[len(sections)-1]
		last.items = append(last.items, it)
	}
	trail, tail := splitGap(doc.Src[at:], len(sections) > 0)
	if len(sections) > 0 {
		last := &sections[len(sections)-1]
		last.items[len(last.items)-1].trail = trail
	}
	return sections, tail
}

// splitGap reads what stands between two statements: the rest of the line, if one
// stands before it, and the lines after that.
func splitGap(text []byte, behind bool) (trail string, lines []string) {
	all := bytes.Split(text, []byte("\n"))
	for i := range all {
		all[i] = bytes.TrimSpace(all[i])
	}
	if behind {
		trail, all = string(all[0]), all[1:]
	}
	// The last piece is the indentation of what follows.
	for i, line := range all {
		if i+1 < len(all) || len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	return trail, lines
}

func keyRank(order []string, it *item) int {
	if i := slices.Index(order, it.Key[0]); i >= 0 {
		return i
	}
	return len(order)
}

// sortItems puts the pairs of a rule in order. Those of one key stay as they are.
func (s *section) sortItems() {
	if s.rule {
		order := policy.KeyOrder()
		slices.SortStableFunc(s.items[1:], func(a, b item) int { return keyRank(order, &a) - keyRank(order, &b) })
	}
}
