package client

import (
	"slices"
	"strings"
)

// removeMembers returns the edits that remove the given members from an object. One edit removes
// members that are next to each other.
func (f *file) removeMembers(in *node, gone []*member) ([]edit, error) {
	var edits []edit
	isGone := func(i int) bool {
		return i < len(in.members) && slices.ContainsFunc(gone, func(m *member) bool { return m.start == in.members[i].start })
	}
	for i := 0; i < len(in.members); i++ {
		first := i
		for isGone(i) {
			i++
		}
		if i == first {
			continue
		}
		e, err := f.removeRun(in, first, i)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// removeRun returns the edit that removes the members with the indexes from first to next-1.
func (f *file) removeRun(in *node, first, next int) (edit, error) {
	mark := ","
	if in.members[first].block {
		mark = ""
	}
	ends := make([]int, next) // ends[i] is the end of member i; 0 for each i below first
	for i := first; i < next; i++ {
		end, known := f.valueEnd(in.members[i].value)
		if !known {
			return edit{}, f.commentError(in.members[i].value)
		}
		ends[i] = end
	}
	from, to := in.members[first].start, ends[next-1]
	for i := first; i < next-1; i++ {
		if err := f.checkSeparator(ends[i], in.members[i+1].start, mark); err != nil {
			return edit{}, err
		}
	}
	switch {
	case next < len(in.members) && in.members[next].start > to:
		return edit{from, in.members[next].start, ""}, f.checkSeparator(to, in.members[next].start, mark)
	case mark == "":
		return f.removeLastLines(from, to)
	case first > 0:
		before, known := f.valueEnd(in.members[first-1].value)
		if !known {
			return edit{}, f.commentError(in.members[first].value)
		}
		return edit{before, to, ""}, f.checkSeparator(before, from, mark)
	}
	return edit{from, to, ""}, nil
}

// removeLastLines returns the edit that removes the lines of the last members of an object.
func (f *file) removeLastLines(from, to int) (edit, error) {
	start, end := lineStart(f.src, from), lineEnd(f.src, to)
	if !f.isBlank(start, from) {
		return edit{}, newEditError(f.src, from, "edit the entry by hand", "a member of clawai is on the line of another")
	}
	if err := f.checkSeparator(to, end, ""); err != nil {
		return edit{}, err
	}
	if end < len(f.src) {
		end += len(lineBreak(f.src, end))
	}
	return edit{start, end, ""}, nil
}

// checkSeparator returns an error if the range has any text except the parameter mark and blanks.
// For example, a comment must not be removed together with a member.
func (f *file) checkSeparator(from, to int, mark string) error {
	if strings.TrimSpace(string(f.src[from:to])) == mark {
		return nil
	}
	return newEditError(f.src, from, "move it, then run the command again", "there is something among the words of clawai")
}

// valueEnd returns the end of a value. ok is false if the end is unknown.
func (f *file) valueEnd(n *node) (int, bool) {
	flow := n.kind == objectKind || n.kind == listKind && !n.block
	switch {
	case f.row.Format != YAML:
		return n.end, n.end > n.start
	case n.kind == objectKind && len(n.members) > 0 && n.members[0].block:
		return f.valueEnd(n.members[len(n.members)-1].value)
	case n.kind == listKind && n.block:
		return f.valueEnd(n.items[len(n.items)-1])
	case flow && n.kind == objectKind:
		return 0, false
	}
	return n.end, true
}
