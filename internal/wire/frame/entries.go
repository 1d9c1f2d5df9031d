package frame

import (
	"bytes"
	"slices"
)

// lists are the members of results whose entries are independent of each other.
var lists = []string{"tools", "prompts", "resources", "resourceTemplates"}

// removeBadEntries returns an answer without the list entries that are nested too
// deep, name a member twice or have a control character in a name. So one bad entry
// does not remove the whole list. It returns nil when no entry is bad. It reads the
// line once, at any depth.
func removeBadEntries(line []byte, l Limits) []byte {
	var out []byte
	depth, from := 0, 0
	var names [3]string // of the enclosing members
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			end := skipString(line, i)
			if depth == 1 || depth == 2 {
				if rest := bytes.TrimLeft(line[end:], " \t"); len(rest) > 0 && rest[0] == ':' {
					names[depth] = string(line[i+1 : end-1])
				}
			}
			i = end - 1
		case '{', '[':
			if depth++; line[i] == '{' || depth != 3 || names[1] != "result" || !slices.Contains(lists, names[2]) {
				continue
			}
			entries, end := findEntries(line, i+1)
			if kept := keepGoodEntries(line, entries, l); len(kept) < len(entries) {
				out = append(out, line[from:entries[0].from]...)
				for n, e := range kept {
					if n > 0 {
						out = append(out, line[e.after:e.from]...)
					}
					out = append(out, line[e.from:e.to]...)
				}
				from = entries[len(entries)-1].to
			}
			i, depth = end, depth-1
		case '}', ']':
			depth--
		}
	}
	if from == 0 {
		return nil
	}
	return append(out, line[from:]...)
}

// entry is the position of a list entry (from, to) and the end of the entry before it
// (after).
type entry struct{ after, from, to int }

// findEntries returns the entries of the list whose first entry may be at i, and the
// list's end.
func findEntries(line []byte, i int) (entries []entry, end int) {
	depth, one := 0, entry{after: i, from: -1}
	for ; i < len(line); i++ {
		c := line[i]
		if c == ' ' || c == '\t' {
			continue
		}
		if depth == 0 && (c == ',' || c == ']') {
			if one.from >= 0 {
				entries = append(entries, one)
			}
			if c == ']' {
				break
			}
			one = entry{after: one.to, from: -1}
			continue
		}
		if one.from < 0 {
			one.from = i
		}
		switch c {
		case '"':
			i = skipString(line, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		one.to = i + 1
	}
	return entries, i
}

// keepGoodEntries returns the entries that can stay in the list.
func keepGoodEntries(line []byte, entries []entry, l Limits) (kept []entry) {
	const inList = 3 // the envelope, the result and the list
	for _, e := range entries {
		s := scanner{b: line[e.from:e.to], depth: max(l.MaxDepth, l.MaxResult)}
		r := s.finishScan(s.scanValue(0, inList))
		if r == nil || r.Code != CodeDepth && r.Code != CodeDuplicate && r.Code != CodeControlName {
			kept = append(kept, e) // other faults do not concern the entry alone
		}
	}
	return kept
}

// skipString returns the index after the string that begins at i.
func skipString(line []byte, i int) int {
	for i++; i < len(line) && line[i] != '"'; i++ {
		if line[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(line))
}
