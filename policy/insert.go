package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// errMoved says that a text is not the one a rule was read from.
var errMoved = errors.New("the policy has changed since it was read; nothing is written")

// InsertAbove puts a rule's text above rule r of the policy src, and above the
// comment lines that stand directly on r. Every byte of src stays; the text
// takes on its line ends and indentation. The text holds whole lines and no
// string over several of them, as Narrow writes it.
//
// The error says that r does not stand in src, or that the outcome is no policy.
func InsertAbove(src []byte, r Rule, text string) ([]byte, error) {
	at, style, found := findRule(src, r)
	if !found {
		return nil, errMoved
	}
	text = style.apply(text)
	out := make([]byte, 0, len(src)+len(text))
	out = append(append(append(out, src[:at]...), text...), src[at:]...)
	if _, errs := parseSource(r.Pos.File, out); len(errs) > 0 {
		return nil, fmt.Errorf("the policy would not load with the new rule: %w", errs)
	}
	return out, nil
}

// layout is how a rule of a file is set.
type layout struct {
	header, keys string // blanks before [[rule]] and before its keys
	eol          string
}

// findRule finds where the lines that belong to a rule begin. It reads the
// text as TOML, because a string may hold lines that look like comments.
func findRule(src []byte, r Rule) (at int, style layout, found bool) {
	d := newDocument(r.Pos.File, src)
	d.parser.KeepComments = true
	index, blockStart, blockEnd := -1, 0, -2 // lines of the last comments, from 0
	for {
		e, ok := d.next()
		if !ok {
			return 0, style, false
		}
		line := d.position(e.start).Line - 1
		switch {
		case e.form == commentForm:
			if blockEnd != line-1 {
				blockStart = line
			}
			blockEnd = line
		case e.form == tableArrayForm && len(e.key) == 1:
			index++
		}
		if index < r.Index {
			continue
		}
		if blockEnd != line-1 {
			blockStart = line
		}
		style.header = string(src[d.lines[line]:e.start])
		style.keys, style.eol = d.below(e.end)
		return d.lines[blockStart], style, d.position(e.start) == r.Pos
	}
}

// below gives the blanks before the next pair, and the line end after offset.
func (d *document) below(offset int) (blanks, eol string) {
	eol = "\n"
	if i := bytes.IndexByte(d.src[offset:], '\n'); i > 0 && d.src[offset+i-1] == '\r' {
		eol = "\r\n"
	}
	for {
		e, ok := d.next()
		if !ok || e.form != commentForm && e.form != pairForm {
			return "", eol
		}
		if e.form == pairForm {
			return string(d.src[d.lines[d.position(e.start).Line-1]:e.start]), eol
		}
	}
}

// apply sets a text as the file is set, with an empty line after it.
func (l layout) apply(text string) string {
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
