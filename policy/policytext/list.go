package policytext

import (
	"bytes"
	"slices"
)

// AppendElement adds a value, in TOML, at the end of a list: the value of the given key in the
// given table. The key may be a dotted key in the form of DottedKey. AppendElement also returns the
// offset of the key. It returns false if there is no such list.
func AppendElement(src []byte, table, key, value string) (out []byte, at int, found bool) {
	st := findPair(src, table, key)
	if st == nil || st.Value.Kind != ListValue {
		return nil, 0, false
	}
	list := st.Value.Elements
	if len(list) == 0 {
		return ApplyEdits(src, Edit{st.Value.Start, st.Value.End, "[" + value + "]"}), st.Start, true
	}
	last := list[len(list)-1]
	between := ", "
	if line := lineStart(src, last.Start); line > st.Value.Start && len(bytes.TrimLeft(src[line:last.Start], " \t")) == 0 {
		indent := LineEnd(src) + string(src[line:last.Start]) // each element has a line of its own
		if src[last.End] == ',' {                             // skip the comma: a comment may follow it
			end := lineEnd(src, last.End)
			return ApplyEdits(src, Edit{end, end, indent + value + ","}), st.Start, true
		}
		between = "," + indent
	}
	return ApplyEdits(src, Edit{last.End, last.End, between + value}), st.Start, true
}

// AddPair adds a pair at the end of a table. If the text has no such table, AddPair adds the table
// above the first header. It also returns the offset of the key.
func AddPair(src []byte, table string, p Pair) (out []byte, at int) {
	doc, _ := ReadDocument(src) // no error: policy.Parse has read the text
	eol := LineEnd(src)
	line := p.Key + " = " + p.Value
	header := slices.IndexFunc(doc.Statements, func(st Statement) bool { return st.Header })
	own := slices.IndexFunc(doc.Statements, func(st Statement) bool { return isHeaderOf(&st, table) })
	if own >= 0 {
		last := own
		for last+1 < len(doc.Statements) && !doc.Statements[last+1].Header {
			last++
		}
		end := lineEnd(src, doc.Statements[last].End)
		return ApplyEdits(src, Edit{end, end, eol + line}), end + len(eol)
	}
	text := "[" + table + "]" + eol + line + eol
	switch {
	case header == 0, len(doc.Statements) == 0:
		return append([]byte(text+eol), src...), len(table) + 2 + len(eol)
	case header < 0:
		header = len(doc.Statements)
	}
	end := lineEnd(src, doc.Statements[header-1].End)
	return ApplyEdits(src, Edit{end, end, eol + eol + text}), end + 2*len(eol) + len(table) + 2 + len(eol)
}

// lineEnd returns the offset at which the line with the given offset ends, in front of its line
// break.
func lineEnd(src []byte, at int) int {
	n := bytes.IndexByte(src[at:], '\n')
	if n < 0 {
		return len(src)
	}
	return at + len(bytes.TrimSuffix(src[at:at+n], []byte("\r")))
}

func findPair(src []byte, table, key string) *Statement {
	doc, _ := ReadDocument(src) // no error: policy.Parse has read the text
	inside := false
	for i := range doc.Statements {
		switch st := &doc.Statements[i]; {
		case st.Header:
			inside = isHeaderOf(st, table)
		case inside && slices.Equal(st.Key, []string{key}):
			return st
		}
	}
	return nil
}

func isHeaderOf(st *Statement, table string) bool {
	return st.Header && !st.List && DottedKey(st.Key[0], st.Key[1:]...) == table
}
