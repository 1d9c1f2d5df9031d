package policytext

import (
	"bytes"
	"slices"
	"strings"
)

// InsertAbove inserts a text above the rule whose header is on the given line (from 1), and above
// the comment lines directly above the rule. Every byte of src stays. The new text gets src's line
// ends and indentation. The new text must consist of whole lines without multi-line strings.
// InsertAbove returns false if src has no such rule.
func InsertAbove(src []byte, line int, text string) ([]byte, bool) {
	doc, err := ReadDocument(src)
	if err != nil {
		return nil, false
	}
	rules := doc.Rules()
	at := slices.IndexFunc(rules, func(r Rule) bool { return 1+bytes.Count(src[:r.Start], []byte("\n")) == line })
	if at < 0 {
		return nil, false
	}
	r := &rules[at]
	return slices.Insert(slices.Clone(src), doc.commentStart(r), []byte(layoutOf(src, r).applyLayout(text))...), true
}

// InsertBelow inserts a text below the last rule, or at the end of src if there is no rule. Every
// byte of src stays. The new text gets src's line ends. The new text must consist of whole lines
// without multi-line strings.
func InsertBelow(src []byte, text string) []byte {
	doc, err := ReadDocument(src)
	if err != nil {
		return AppendText(src, text)
	}
	rules := doc.Rules()
	if len(rules) == 0 {
		return AppendText(src, text)
	}
	last := rules[len(rules)-1]
	end := bytes.IndexByte(src[last.End:], '\n')
	if end < 0 {
		return AppendText(src, text)
	}
	at := last.End + end + 1
	eol := LineEnd(src)
	return slices.Insert(slices.Clone(src), at, []byte(eol+strings.ReplaceAll(text, "\n", eol))...)
}

// InsertBelowExtension inserts a text below the [[extends]] with the given index (from 0), and
// below the rules with the key "above" that follow this [[extends]]. The new text must consist of
// whole lines without multi-line strings. InsertBelowExtension returns false if src has no such
// [[extends]].
func InsertBelowExtension(src []byte, index int, text string) ([]byte, bool) {
	doc, err := ReadDocument(src)
	if err != nil {
		return nil, false
	}
	end, limit := -1, len(src)
	inside := false
	for _, st := range doc.Statements {
		if st.Header {
			inside = false
			if st.List && len(st.Key) == 1 && st.Key[0] == "extends" {
				index--
				inside = index == -1
				if index == -2 {
					limit = st.Start
				}
			}
		}
		if inside {
			end = st.End
		}
	}
	if end < 0 {
		return nil, false
	}
	for _, r := range doc.Rules() {
		if r.Start > end && r.Start < limit && r.hasKey("above") {
			end = r.End
		}
	}
	eol := LineEnd(src)
	text = eol + strings.ReplaceAll(text, "\n", eol)
	at := bytes.IndexByte(src[end:], '\n')
	if at < 0 {
		return append(append(slices.Clone(src), eol...), text...), true
	}
	return slices.Insert(slices.Clone(src), end+at+1, []byte(text)...), true
}

// SetExtensionKey returns the edits that replace the value of a key in the [[extends]] on the given
// line (from 1). It returns no edits if there is no such key.
func (d *Document) SetExtensionKey(line int, key, value string) (edits []Edit) {
	inside := false
	for _, st := range d.Statements {
		if st.Header {
			inside = st.Key[0] == "extends" && 1+bytes.Count(d.Src[:st.Start], []byte("\n")) == line
		} else if inside && st.Key[0] == key {
			edits = append(edits, Edit{Start: st.Value.Start, End: st.Value.End, Text: value})
		}
	}
	return edits
}

func (r *Rule) hasKey(name string) bool {
	return slices.ContainsFunc(r.Statements, func(st Statement) bool { return !st.Header && st.Key[0] == name })
}

// PutAbove adds the key "above" to every rule of a text, unless the rule already has it. The key
// stands below the other keys of the rule.
func PutAbove(text, value string) (string, error) {
	src := []byte(text)
	doc, err := ReadDocument(src)
	if err != nil {
		return "", err
	}
	var edits []Edit
	for _, r := range doc.Rules() {
		if r.hasKey("above") {
			continue
		}
		at := r.Statements[0]
		for _, st := range r.Statements[1:] {
			if st.Header {
				break // a header of a table in the rule: the rule's own keys end here
			}
			at = st
		}
		edits = append(edits, Edit{Start: at.End, End: at.End, Text: "\nabove = " + Quote(value)})
	}
	return string(ApplyEdits(src, edits...)), nil
}

// commentStart returns the offset of the first line that belongs to a rule. Comment lines directly
// above the rule belong to it; a comment on the line of the previous statement does not.
func (d *Document) commentStart(r *Rule) int {
	end := 0
	if i := slices.IndexFunc(d.Statements, func(st Statement) bool { return st.Start == r.Start }); i > 0 {
		end = d.Statements[i-1].End
		end += bytes.IndexByte(d.Src[end:], '\n') + 1
	}
	at := lineStart(d.Src, r.Start)
	for at > end {
		before := lineStart(d.Src, at-1)
		if !bytes.HasPrefix(bytes.TrimLeft(d.Src[before:at], " \t"), []byte("#")) {
			break
		}
		at = before
	}
	return at
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// layout tells how a file indents its rules.
type layout struct {
	header, keys string // the blanks before [[rule]], and the blanks before its keys
	eol          string
}

func layoutOf(src []byte, r *Rule) layout {
	indent := func(st Statement) string { return string(src[lineStart(src, st.Start):st.Start]) }
	l := layout{header: indent(r.Statements[0]), eol: LineEnd(src[r.Start:])}
	if len(r.Statements) > 1 && !r.Statements[1].Header {
		l.keys = indent(r.Statements[1])
	}
	return l
}

// applyLayout returns a text in the layout l, with an empty line at its end.
func (l layout) applyLayout(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line[0] == '#' || line[0] == '[' {
			b.WriteString(l.header)
		} else {
			b.WriteString(l.keys)
		}
		b.WriteString(strings.TrimRight(line, "\r\n"))
		b.WriteString(l.eol)
	}
	b.WriteString(l.eol)
	return b.String()
}

// AppendText appends a text to a policy, with the policy's line ends.
func AppendText(src []byte, text string) []byte {
	eol := LineEnd(src)
	out := slices.Clone(src)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	return append(out, strings.ReplaceAll(text, "\n", eol)...)
}

// LineEnd returns the line end of the first line of a text.
func LineEnd(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// ForServers adds a line server = … below the action of every rule that names no server. It removes
// rules that name only other servers, together with their comments.
func ForServers(src []byte, servers []string) ([]byte, error) {
	doc, err := ReadDocument(src)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	for _, r := range doc.Rules() {
		own := slices.IndexFunc(r.Statements, func(st Statement) bool { return !st.Header && st.Key[0] == "server" })
		if own >= 0 {
			if r.Statements[own].Value.mayNameServer(servers) {
				continue
			}
			_, rest, _ := bytes.Cut(src[r.End:], []byte("\n"))
			rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
			edits = append(edits, Edit{Start: doc.commentStart(&r), End: len(src) - len(rest)})
			continue
		}
		at, l := r.Statements[min(1, len(r.Statements)-1)], layoutOf(src, &r)
		line := "server = " + OneOrList(QuoteAll(servers))
		if at.Header && len(at.Key) > 1 { // the first header is that of a table in the rule, such as [rule.args]
			at = r.Statements[0]
		}
		edits = append(edits, Edit{Start: at.End, End: at.End, Text: l.eol + l.keys + line})
	}
	return ApplyEdits(src, edits...), nil
}

// mayNameServer reports whether the value, a glob or a list of globs, may match the name of one of
// the servers.
func (v Value) mayNameServer(servers []string) bool {
	if v.Kind == StringValue {
		return slices.Contains(servers, v.Text) || strings.ContainsAny(v.Text, `*?[{\`)
	}
	return v.Kind != ListValue || slices.ContainsFunc(v.Elements, func(e Value) bool { return e.mayNameServer(servers) })
}

// InsertForServers inserts a text, such as an [[extends]], at a place where the text's rules take
// effect for the servers. The place is above the first rule or [[extends]] that names one of the
// servers and does not deny. Without such a rule, the place is above the table whose header is at
// the offset, or else the end of src. A rule with the key "above" stays with its [[extends]]. Every
// byte of src stays. InsertForServers also returns the offset of the new text.
func InsertForServers(src []byte, servers []string, offset int, text string) (out []byte, at int) {
	doc, err := ReadDocument(src)
	if err != nil {
		return AppendText(src, text), len(src)
	}
	place := -1
	for _, r := range doc.tables("rule", "extends") {
		if r.Start == offset || r.opensServer(servers) {
			place = r.Start
			if r.hasKey("above") {
				place = doc.extensionAbove(r.Start)
			}
			break
		}
	}
	eol := LineEnd(src)
	text = strings.ReplaceAll(text, "\n", eol)
	if place < 0 {
		return AppendText(src, text), len(src) + len(eol)
	}
	at = doc.commentStart(&Rule{Start: place})
	return slices.Insert(slices.Clone(src), at, []byte(text+eol)...), at
}

// opensServer reports whether a rule or an [[extends]] names one of the servers and is not a deny.
func (r *Rule) opensServer(servers []string) (names bool) {
	for _, st := range r.Statements[1:] {
		switch {
		case st.Header:
			return names // a header of a table in the rule: the rule's own keys end here
		case st.Key[0] == "server":
			names = st.Value.mayNameServer(servers)
		case st.Key[0] == "action" && st.Value.Text == "deny", st.Key[0] == "on":
			return false
		}
	}
	return names
}

// extensionAbove returns the offset of the last [[extends]] that begins before the given offset; 0
// if there is none.
func (d *Document) extensionAbove(at int) (start int) {
	for _, r := range d.tables("extends") {
		if r.Start < at {
			start = r.Start
		}
	}
	return start
}

// InsertFirst inserts a text above the first rule or [[extends]], and above the comment lines
// directly above it. Without a rule and an [[extends]], it inserts the text at the end. Every byte
// of src stays. The new text gets src's line ends. The new text must consist of whole lines without
// multi-line strings.
func InsertFirst(src []byte, text string) []byte {
	doc, err := ReadDocument(src)
	if err != nil {
		return AppendText(src, text)
	}
	all := doc.tables("rule", "extends")
	if len(all) == 0 {
		return AppendText(src, text)
	}
	eol := LineEnd(src)
	return slices.Insert(slices.Clone(src), doc.commentStart(&all[0]), []byte(strings.ReplaceAll(text+"\n", "\n", eol))...)
}
