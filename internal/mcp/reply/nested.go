package reply

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// rawSpan returns the place of a part of the token's text, as offsets in the message. start and end
// are offsets in the text.
func (t *token) rawSpan(message []byte, start, end int) (from, to int) {
	inside := t.start + len(`"`)
	if !t.escaped {
		return inside + start, inside + end
	}
	if t.places.inside == "" {
		t.places.inside = string(jsonscan.ValueOf(message[inside : t.end-len(`"`)]))
	}
	from, to = t.places.findPart(start, end)
	return inside + from, inside + to
}

// places maps a part of a JSON string's text to the part of the written string. If findPart is
// called for the parts in ascending order, the string is read only once.
type places struct {
	inside   string // the written string without its quotes
	said, at int    // where the last part begins: said is its offset in the text, and at is its offset in the field inside
}

// findPart returns where a part of the text is written. If the part ends inside a character, the
// result has the whole character.
func (p *places) findPart(start, end int) (from, to int) {
	if start < p.said {
		p.said, p.at = 0, 0
	}
	from = -1
	for said, at := p.said, p.at; at < len(p.inside); {
		rest := p.inside[at:min(len(p.inside), at+end-said+utf8.UTFMax)]
		n, size := strings.IndexByte(rest, '\\'), 0
		if n == 0 {
			n, size = escapeLength(p.inside[at:])
		} else {
			if n < 0 {
				n = len(rest)
			}
			size = n
		}
		plain := p.inside[at] != '\\'
		if from < 0 && said+size > start {
			from = at
			if plain {
				for from += start - said; from > at && !utf8.RuneStart(p.inside[from]); from-- {
				}
			}
			p.said, p.at = said+from-at, from
		}
		if said+size >= end {
			if to = at + n; plain {
				for to = at + end - said; to < at+n && !utf8.RuneStart(p.inside[to]); to++ {
				}
			}
			return from, to
		}
		said, at = said+size, at+n
	}
	return max(from, 0), len(p.inside)
}

// escapeLength returns the length of the escape at the beginning of a text, and the length of the
// decoded character, both in bytes.
func escapeLength(text string) (n, size int) {
	r, n := escape.ReadEscape([]byte(text[:min(len(text), 12)]))
	switch size = utf8.RuneLen(r); {
	case n == 0:
		return 1, 1
	case size < 0:
		size = utf8.RuneLen(utf8.RuneError)
	}
	return n, size
}

// inspectNested also searches JSON that is inside a text. It decodes the strings of this JSON and
// passes each of them to the function in the parameter look. It adds the findings to the list
// found. An object or an array must begin a line or follow another one, because a server may send
// several, also in Markdown. A single JSON string must be the whole text. Other strings belong to
// source code, and readers see their escapes as they are written. An object or an array with at
// least one member may be cut off by the end of the text.
func inspectNested(text string, found []inspect.Found, level int, look func(string) []inspect.Found) []inspect.Found {
	if level >= maxLevels || strings.IndexByte(text, '\\') < 0 {
		return found
	}
	c := jsonscan.Cursor{Src: text}
	outer := found // findings that were visible without decoding
	visit := func(from, end int) {
		inside := text[from+1 : end]
		if strings.IndexByte(inside, '\\') < 0 {
			return
		}
		b, sound := escape.DecodeString(nil, inside)
		if !sound {
			return
		}
		said := string(b)
		where := places{inside: inside}
		for _, f := range inspectNested(said, look(said), level+1, look) {
			start, end := where.findPart(f.Start, f.End)
			start, end = from+1+start, from+1+end
			if f.Start, f.End = start, end; !isCovered(outer, f) {
				found = append(found, f)
			}
		}
	}
	for c.SkipBlanks(); c.At < len(text); c.SkipBlanks() {
		from := c.At
		if strings.IndexByte(`{["`, c.Peek()) < 0 {
			n := strings.IndexByte(text[from:], '\n')
			if n < 0 {
				break
			}
			c.At += n + 1
			continue
		}
		before := len(found)
		ok := visitStrings(&c, func(from int) { visit(from, c.At-1) })
		end := c.At
		if c.SkipBlanks(); !ok && inspect.IsCutOff(text[from:], c.At-from) {
			if c.At < len(text) {
				visit(c.At, c.At+inspect.CutEscape(text[c.At:]))
			}
			break
		}
		if !ok || text[from] == '"' && (c.At < len(text) || strings.TrimSpace(text[:from]) != "") {
			found = found[:before]
		}
		c.At = max(end, from+1)
	}
	return found
}

// isCovered reports whether the list found has a finding of the same kind that covers f.
func isCovered(found []inspect.Found, f inspect.Found) bool {
	return slices.ContainsFunc(found, func(o inspect.Found) bool { return o.Kind == f.Kind && o.Start <= f.Start && f.End <= o.End })
}

// visitStrings calls visit for every string in the value at the cursor. It moves the cursor past
// the value. from is the offset of the string.
func visitStrings(c *jsonscan.Cursor, visit func(from int)) bool {
	one := func() bool { return visitStrings(c, visit) }
	switch c.Peek() {
	case '"':
		from := c.At
		if _, ok := c.ReadQuoted(); !ok {
			return false
		}
		visit(from)
		return true
	case '{':
		more, ok := c.EnterContainer('{')
		for more {
			if c.Peek() != '"' || !one() || !c.TakeColon() || !one() {
				return false
			}
			more, ok = c.NextItem('}')
		}
		return ok
	case '[':
		return c.VisitElements(one)
	}
	return c.SkipValue()
}
