package format

import (
	"bytes"
	"strings"

	"github.com/clawai/clawai/policy/policytext"
)

// printer appends formatted sections to text.
type printer struct {
	text []byte
	eol  string // line ending of the file
}

func (o *printer) writeLine(s string) {
	o.text = append(append(o.text, s...), o.eol...)
}

// writeLines writes lines. Of several blank lines in a row, it writes only one.
func (o *printer) writeLines(lines []string) {
	for i, line := range lines {
		if line != "" || i > 0 && lines[i-1] != "" {
			o.writeLine(line)
		}
	}
}

func (o *printer) writeSection(s *section, first bool) {
	head := s.items[0]
	if first {
		// A blank line may be between the comments at the top of the file and the first rule.
		o.writeLines(trimBlank(head.lead))
		if n := len(head.lead); n > 0 && head.lead[n-1] == "" && len(trimBlank(head.lead)) > 0 {
			o.writeLine("")
		}
	} else {
		o.writeBetween(head.lead, s.inner)
	}
	o.writeStatement(&head)
	s.sortItems()
	for i := range s.items[1:] {
		it := &s.items[i+1]
		for _, line := range it.lead {
			if line != "" {
				o.writeLine(line)
			}
		}
		o.writeStatement(it)
	}
}

// writeBetween writes the lines between two sections. Comments directly after the first section
// stay with it if a blank line follows them. All other comments go to the second section.
// writeBetween puts a blank line between the sections. Between a rule and its table (inner), it
// adds no blank line if there was none.
func (o *printer) writeBetween(lead []string, inner bool) {
	var above []string
	if blank := indexBlank(lead); blank > 0 {
		above, lead = lead[:blank], lead[blank:]
	}
	o.writeLines(above)
	apart := len(lead) > 0 && lead[0] == "" || len(above) > 0
	if !inner || apart {
		o.writeLine("")
	}
	body := trimBlank(lead)
	o.writeLines(body)
	if n := len(lead); len(body) > 0 && lead[n-1] == "" {
		o.writeLine("")
	}
}

// writeTail writes the comments at the end of the file. The parameter alone is true if the file has
// only comments.
func (o *printer) writeTail(lines []string, alone bool) {
	body := trimBlank(lines)
	if len(body) == 0 {
		return
	}
	if !alone && lines[0] == "" {
		o.writeLine("")
	}
	o.writeLines(body)
}

func indexBlank(lines []string) int {
	for i, line := range lines {
		if line == "" {
			return i
		}
	}
	return -1
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (o *printer) writeStatement(it *item) {
	var s string
	switch {
	case it.Header && it.List:
		s = "[[" + policytext.DottedKey(it.Key[0], it.Key[1:]...) + "]]"
	case it.Header:
		s = "[" + policytext.DottedKey(it.Key[0], it.Key[1:]...) + "]"
	default:
		s = policytext.DottedKey(it.Key[0], it.Key[1:]...) + " = " + o.formatValue(it.Value, it.raw, it.Start)
	}
	if it.trail != "" {
		s += "  " + it.trail
	}
	o.writeLine(s)
}

// formatValue returns a value in canonical form. The parameter raw is the statement with the value,
// and the parameter base is the offset in the file at which the statement begins. These values stay
// unchanged: a string or an inline table on several lines, and a list on several lines that has
// comments.
func (o *printer) formatValue(v policytext.Value, raw []byte, base int) string {
	text := raw[v.Start-base : v.End-base]
	switch v.Kind {
	case policytext.StringValue:
		if bytes.ContainsAny(text, "\r\n") {
			return string(text)
		}
		return quoteString(v.Text)
	case policytext.ListValue:
		if bytes.ContainsRune(text, '\n') {
			return o.formatColumn(v, text, raw, base)
		}
		var items []string
		for _, e := range v.Elements {
			items = append(items, o.formatValue(e, raw, base))
		}
		return policytext.FormatList(items)
	case policytext.TableValue:
		if bytes.ContainsRune(text, '\n') {
			return string(text)
		}
		var pairs []policytext.Pair
		for _, p := range v.Pairs {
			pairs = append(pairs, policytext.Pair{Key: policytext.DottedKey(p.Key[0], p.Key[1:]...), Value: o.formatValue(p.Value, raw, base)})
		}
		return policytext.InlineTable(pairs)
	}
	return v.Text
}

// formatColumn formats a list on several lines, with one element per line. The list stays unchanged
// if it has comments, or if an element is a list, a table, or on several lines.
func (o *printer) formatColumn(v policytext.Value, text, raw []byte, base int) string {
	at := v.Start
	for _, e := range v.Elements {
		if e.Kind == policytext.ListValue || e.Kind == policytext.TableValue || bytes.ContainsRune(raw[at-base:e.Start-base], '#') ||
			bytes.ContainsRune(raw[e.Start-base:e.End-base], '\n') {
			return string(text)
		}
		at = e.End
	}
	if bytes.ContainsRune(raw[at-base:v.End-base], '#') {
		return string(text)
	}
	var b strings.Builder
	b.WriteString("[" + o.eol)
	for _, e := range v.Elements {
		b.WriteString("  " + o.formatValue(e, raw, base) + "," + o.eol)
	}
	b.WriteString("]")
	return b.String()
}

// quoteString returns a string as TOML. It uses single quotes if the string has a backslash or a
// double quote, and if single quotes are possible.
func quoteString(s string) string {
	if literal, plain := policytext.LiteralString(s); plain && strings.ContainsAny(s, `\"`) {
		return literal
	}
	return policytext.Quote(s)
}
