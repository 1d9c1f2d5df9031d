// Package format writes the text of a policy in a canonical form. The meaning stays the same, and
// every comment stays beside its statement. The package does no I/O.
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

// errMeaning means that the formatted text would have another meaning, so the text is not changed.
var errMeaning = errors.New("formatting would change what the file says; it is left as it is")

// Format returns the text in canonical form (docs/policy-ci.md). It returns an error if src is no
// TOML or cannot be formatted safely.
func Format(src []byte) ([]byte, error) {
	doc, err := policytext.ReadDocument(src)
	if err != nil {
		return nil, err
	}
	out := printer{eol: policytext.LineEnd(src)}
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

// item is a TOML statement with its comments.
type item struct {
	policytext.Statement
	lead  []string // lines above the statement: comments, and "" for a blank line
	trail string   // the comment on the line of the statement; "" for none
	raw   []byte   // the statement without its comments
}

// section is a header with the pairs below it. The first section may have no header.
type section struct {
	items []item
	rule  bool // the header is [[rule]], so the pairs are sorted
	inner bool // the header is [rule.NAME]: this is a table of the rule before it
}

// sectionsOf splits a document into sections. tail has the lines after the last statement.
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

// splitGap splits the text between two statements. trail is the rest of the line with the first
// statement; lines are the lines below it. If afterStatement is false, there is no first statement,
// and trail is "".
func splitGap(text []byte, afterStatement bool) (trail string, lines []string) {
	all := bytes.Split(text, []byte("\n"))
	for i := range all {
		all[i] = bytes.TrimSpace(all[i])
	}
	if afterStatement {
		trail, all = string(all[0]), all[1:]
	}
	// If the last element is empty, it is only the indentation of the next statement.
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

// sortItems sorts the pairs of a rule by key. Pairs with the same key stay in order.
func (s *section) sortItems() {
	if s.rule {
		order := policy.KeyOrder()
		slices.SortStableFunc(s.items[1:], func(a, b item) int { return keyRank(order, &a) - keyRank(order, &b) })
	}
}
