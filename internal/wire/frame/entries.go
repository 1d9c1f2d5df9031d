package frame

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// lists are the members of results whose entries are independent of each other.
var lists = []string{"tools", "prompts", "resources", "resourceTemplates"}

// removeBadEntries returns an answer without the list entries that are nested too
// deep, name a member twice or have a control character in a name. So one bad entry
// does not remove the whole list. It returns nil when no entry is bad.
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

// keepGoodEntries returns the edit that leaves only the good entries of a list, with
// the blanks before each; none when all are good.
func keepGoodEntries(line []byte, list jsonscan.Value, l Limits) []Edit {
	var good []byte
	first, last, bad := 0, 0, false // offsets in line of the beginning and the end of the entries so far
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

// isGoodEntry reports whether an entry can stay in its list. Only these three faults
// remove an entry: any other fault concerns the whole line.
func isGoodEntry(entry []byte, l Limits) bool {
	const inList = 3 // the envelope, the result and the list
	s := scanner{b: entry, depth: max(l.MaxDepth, l.MaxResult)}
	r := s.finishScan(s.scanValue(0, inList))
	return r == nil || r.Code != CodeDepth && r.Code != CodeDuplicate && r.Code != CodeControlName
}
