package policytext

import "slices"

// Edit replaces the bytes from Start to End with Text.
type Edit struct {
	Start, End int
	Text       string
}

// ApplyEdits returns the text after the edits. Edits must not overlap.
func ApplyEdits(src []byte, edits ...Edit) []byte {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	out := make([]byte, 0, len(src)+32)
	at := 0
	for _, e := range edits {
		out = append(append(out, src[at:e.Start]...), e.Text...)
		at = e.End
	}
	return append(out, src[at:]...)
}

// RemoveEdits returns the edits that remove the leaf from its rule.
func (l *Leaf) RemoveEdits() []Edit {
	edits := make([]Edit, len(l.cut))
	for i, c := range l.cut {
		edits[i] = Edit{Start: c.start, End: c.end}
	}
	return edits
}

// SetValue returns the edit that replaces the leaf's value. value is TOML.
func (l *Leaf) SetValue(value string) Edit { return Edit{l.Value.Start, l.Value.End, value} }
