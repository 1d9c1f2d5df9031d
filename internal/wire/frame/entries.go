package frame

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// lists are the members of results with lists of independent entries.
var lists = []string{"tools", "prompts", "resources", "resourceTemplates"}

// removeBadEntries returns an answer without the bad entries in its lists. An entry is bad if it is
// nested too deep, has a member twice, or has a control character in a name. Because of this, one
// bad entry does not make the whole list unusable. It returns nil if no entry is bad.
func removeBadEntries(line []byte, l Limits) []byte {
	var edits []Edit
	for name, list := range jsonscan.ValueOf(line).Member("result").Members() {
		if slices.Contains(lists, name.Text()) {
			edits = append(edits, keepGoodEntries(line, list, l)...)
		}
	}
	if edits == nil {
		return nil
	}
	return SpliceAll(line, edits...)
}

// keepGoodEntries returns the edit that removes the bad entries of a list. It keeps the blanks
// before each good entry. It returns no edit if all entries are good.
func keepGoodEntries(line []byte, list jsonscan.Value, l Limits) []Edit {
	var good []byte
	first, last, bad := 0, 0, false // first and last are offsets in line: the beginning and the end of the entries so far
	for e := range list.Elements() {
		from := int(byteAddress(e.Bytes()) - byteAddress(line))
		before := line[last:from]
		if last == 0 {
			first, before = from, nil
		}
		last = from + len(e)
		if !isGoodEntry(e.Bytes(), l) {
			bad = true
			continue
		}
		if len(good) > 0 {
			good = append(good, before...)
		}
		good = append(good, e...)
	}
	if !bad {
		return nil
	}
	return []Edit{{Part: line[first:last], Token: good}}
}

// isGoodEntry reports whether an entry stays in its list. Only three faults remove an entry. Any
// other fault concerns the whole line.
func isGoodEntry(entry []byte, l Limits) bool {
	const inList = 3 // the levels around an entry: the envelope, the result and the list
	s := scanner{b: entry, depth: max(l.MaxDepth, l.MaxResult)}
	r := s.finishScan(s.scanValue(0, inList))
	return r == nil || r.Code != CodeDepth && r.Code != CodeDuplicate && r.Code != CodeControlName
}
