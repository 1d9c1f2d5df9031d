package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
)

// shape selects the rules by which a value is written.
type shape uint8

const (
	dataShape    shape = iota // numbers in one form for each value; arrays keep their order
	entryShape                // a whole entry of a list
	schemaShape               // a JSON Schema
	schemasShape              // a schema, or an array of schemas
	namedShape                // an object of schemas
	setShape                  // an array in which order and repeats mean nothing, if it has only texts
)

// rewriteEntry returns the name and the canonical form of an entry. It works directly on the bytes,
// because a tree of maps needs many times the memory and a list may have thousands of entries. It
// does not fold or normalize texts, because this could hide one text behind another.
func rewriteEntry(kind EntryKind, src []byte) (name string, text []byte, err error) {
	if !utf8.Valid(src) || !json.Valid(src) {
		if _, err = parseTree(src); err == nil {
			err = errors.New("it is not JSON")
		}
		return "", nil, err
	}
	w := writers.Get().(*writer) //nolint:forcetypeassert // the pool has nothing else
	defer writers.Put(w)
	w.kind, w.src, w.at, w.name, w.out, w.parts = kind, src, 0, "", w.out[:0], w.parts[:0]
	if _, err = w.writeValue(entryShape, 0); err == nil {
		name, text = w.name, bytes.Clone(w.out)
	}
	w.src = nil
	return name, text, err
}

// writers is a pool, because a list may have thousands of entries.
var writers = sync.Pool{New: func() any { return &writer{} }}

// writer writes its input in canonical form. The input must be valid JSON.
type writer struct {
	kind  EntryKind
	src   []byte
	at    int
	out   []byte
	name  string // the name of the entry
	parts []part // members and elements of the objects and arrays that are still open
	spare []byte // buffer that orderParts reuses
}

// part is one member or element that was written to out.
type part struct {
	key      []byte // name of a member, or text of a text element; nil for any other element
	from, to int    // offsets in writer.out
}

func (w *writer) skipBlanks() {
	for w.at < len(w.src) && isBlank(w.src[w.at]) {
		w.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// takeByte skips blanks. If c is the next byte, it also skips c and returns true.
func (w *writer) takeByte(c byte) bool {
	w.skipBlanks()
	taken := w.src[w.at] == c
	if taken {
		w.at++
	}
	return taken
}

// writeValue writes one value. text is the text of a string, and nil for any other value.
func (w *writer) writeValue(how shape, depth int) (text []byte, err error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	w.skipBlanks()
	switch w.src[w.at] {
	case '{':
		return nil, w.writeObject(how, depth)
	case '[':
		return nil, w.writeArray(how, depth)
	case '"':
		return w.writeText(), nil
	}
	w.writeWord()
	return nil, nil
}

// writeText writes a string with as few escapes as possible, and returns its text.
func (w *writer) writeText() []byte {
	start, plain := w.at, true
	for w.at++; w.src[w.at] != '"'; w.at++ {
		switch w.src[w.at] {
		case '\\':
			plain = false
			w.at++
		case 0xe2: // maybe U+2028 or U+2029, which are written as escapes
			plain = plain && w.src[w.at+1] != 0x80
		}
	}
	w.at++
	raw := w.src[start:w.at]
	if plain {
		w.out = append(w.out, raw...)
		return raw[1 : len(raw)-1]
	}
	var text string
	_ = json.Unmarshal(raw, &text) // no error is possible, because rewriteEntry has checked this text
	w.out = append(w.out, encodeTree(text)...)
	return []byte(text)
}

// writeWord writes a number in its normal form, or true, false or null.
func (w *writer) writeWord() {
	start, whole := w.at, true
	for ; w.at < len(w.src); w.at++ {
		c := w.src[w.at]
		if c == ',' || c == ']' || c == '}' || isBlank(c) {
			break
		}
		whole = whole && '0' <= c && c <= '9'
	}
	raw := w.src[start:w.at]
	if c := raw[0]; c == '-' || '0' <= c && c <= '9' && !(whole && len(raw) <= maxZeros) {
		raw = []byte(normalizeNumber(json.Number(raw)))
	}
	w.out = append(w.out, raw...)
}

// writeObject writes an object with its members sorted by code point. It returns an error if a
// member occurs twice.
func (w *writer) writeObject(how shape, depth int) error {
	first, start := len(w.parts), len(w.out)
	w.out = append(w.out, '{')
	w.at++
	for !w.takeByte('}') {
		p := w.beginPart(start)
		p.key = w.writeText()
		w.takeByte(':')
		w.out = append(w.out, ':')
		text, err := w.writeValue(w.shapeOf(how, p.key), depth+1)
		if err != nil {
			return err
		}
		if how == entryShape && string(p.key) == w.kind.keyMember() {
			w.name = string(text)
		}
		p.to = len(w.out)
		w.parts = append(w.parts, p)
		w.takeByte(',')
	}
	if w.orderParts(first, start) {
		return errors.New("a member is there twice")
	}
	w.out = append(w.out, '}')
	w.parts = w.parts[:first]
	return nil
}

func (w *writer) writeArray(how shape, depth int) error {
	elementShape := dataShape
	if how == schemasShape {
		elementShape = schemaShape
	}
	first, start, texts := len(w.parts), len(w.out), true
	w.out = append(w.out, '[')
	w.at++
	for !w.takeByte(']') {
		p := w.beginPart(start)
		var err error
		if p.key, err = w.writeValue(elementShape, depth+1); err != nil {
			return err
		}
		p.to = len(w.out)
		w.parts, texts = append(w.parts, p), texts && p.key != nil
		w.takeByte(',')
	}
	if how == setShape && texts {
		w.orderParts(first, start)
	}
	w.out = append(w.out, ']')
	w.parts = w.parts[:first]
	return nil
}

// beginPart begins the next part of an object or array. The parameter start is the offset in the
// field out at which the object or array begins.
func (w *writer) beginPart(start int) part {
	w.skipBlanks()
	if len(w.out) > start+1 {
		w.out = append(w.out, ',')
	}
	return part{from: len(w.out)}
}

// orderParts sorts the parts w.parts[first:] by their keys and removes repeats. twice reports
// whether there were repeats.
func (w *writer) orderParts(first, start int) (twice bool) {
	all, byKey := w.parts[first:], func(a, b part) int { return bytes.Compare(a.key, b.key) }
	sorted := slices.IsSortedFunc(all, byKey)
	if !sorted {
		slices.SortStableFunc(all, byKey)
	}
	once := slices.CompactFunc(all, func(a, b part) bool { return byKey(a, b) == 0 })
	if twice = len(once) < len(all); sorted && !twice {
		return false
	}
	w.spare = append(w.spare[:0], w.out[start+1:]...)
	w.out = w.out[:start+1]
	for i, p := range once {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.spare[p.from-start-1:p.to-start-1]...)
	}
	return twice
}

// shapeOf returns the shape for the value of a member.
func (w *writer) shapeOf(how shape, name []byte) shape {
	switch how {
	case entryShape:
		if rated := members[w.kind][string(name)]; rated == asSchema || rated == asOutput {
			return schemaShape
		}
	case schemaShape, schemasShape:
		switch k := keywords[string(name)]; {
		case k.set:
			return setShape
		case k.holds == one, k.holds == list:
			return schemasShape
		case k.holds == named:
			return namedShape
		}
	case namedShape:
		return schemaShape
	}
	return dataShape
}

// isPlain reports whether no text in a canonical form can have a finding of the kinds in exact.
// This is so if the form has only printable ASCII without brackets and bars. The check is fast and
// most entries are plain, so a long list needs few searches.
func isPlain(text []byte) bool {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case !inside:
		case c == '\\':
			if i++; text[i] != 'n' && text[i] != '"' && text[i] != '\\' {
				return false
			}
		case c < ' ' || c > 'z' || c == '<' || c == '>' || c == '[' || c == ']':
			return false
		}
	}
	return true
}
