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

// shape says which rules a value is written by.
type shape uint8

const (
	dataShape    shape = iota // numbers by what they are worth, arrays in their order
	entryShape                // a whole entry of a list
	schemaShape               // a JSON schema
	schemasShape              // a schema, or an array of them
	namedShape                // an object of schemas
	setShape                  // an array; of nothing but texts, their order and repetition mean nothing
)

// rewriteEntry gives the canonical form of an entry and its name, straight from its bytes: a
// tree of maps would be many times as large, and a list has thousands. Texts are neither
// folded nor normalised, which would hide one behind another.
func rewriteEntry(kind EntryKind, src []byte) (name string, text []byte, err error) {
	if !utf8.Valid(src) || !json.Valid(src) {
		if _, err = parseTree(src); err == nil {
			err = errors.New("it is no JSON")
		}
		return "", nil, err
	}
	w := writers.Get().(*writer) //nolint:forcetypeassert // it has nothing else
	defer writers.Put(w)
	w.kind, w.src, w.at, w.name, w.out, w.parts = kind, src, 0, "", w.out[:0], w.parts[:0]
	if _, err = w.writeValue(entryShape, 0); err == nil {
		name, text = w.name, bytes.Clone(w.out)
	}
	w.src = nil
	return name, text, err
}

// writers are used again: a list has thousands of entries.
var writers = sync.Pool{New: func() any { return &writer{} }}

// writer writes what it reads in canonical form. What it reads is known to be JSON.
type writer struct {
	kind  EntryKind
	src   []byte
	at    int
	out   []byte
	name  string // of the entry
	parts []part // of the objects and arrays that are open
	spare []byte
}

// part is a member or an element, as it stands in what is written.
type part struct {
	key      []byte // the name of a member, the text of an element; nil for another element
	from, to int
}

func (w *writer) skipBlanks() {
	for w.at < len(w.src) && isBlank(w.src[w.at]) {
		w.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// takeByte steps over a byte if it is next.
func (w *writer) takeByte(c byte) bool {
	w.skipBlanks()
	taken := w.src[w.at] == c
	if taken {
		w.at++
	}
	return taken
}

// writeValue writes one value. text is what it says, nil if it is no text.
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

// writeText writes a text, in as few escapes as can be.
func (w *writer) writeText() []byte {
	start, plain := w.at, true
	for w.at++; w.src[w.at] != '"'; w.at++ {
		switch w.src[w.at] {
		case '\\':
			plain = false
			w.at++
		case 0xe2: // U+2028 and U+2029 are written as escapes
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
	_ = json.Unmarshal(raw, &text) // rewrite has read it
	w.out = append(w.out, encodeTree(text)...)
	return []byte(text)
}

// writeWord writes a number by its worth, and true, false and null.
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

// writeObject writes members by code point. One that stands twice is an error.
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
		return errors.New("a member stands twice")
	}
	w.out = append(w.out, '}')
	w.parts = w.parts[:first]
	return nil
}

func (w *writer) writeArray(how shape, depth int) error {
	of := dataShape
	if how == schemasShape {
		of = schemaShape
	}
	first, start, texts := len(w.parts), len(w.out), true
	w.out = append(w.out, '[')
	w.at++
	for !w.takeByte(']') {
		p := w.beginPart(start)
		var err error
		if p.key, err = w.writeValue(of, depth+1); err != nil {
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

// beginPart begins a part, of what begins at start.
func (w *writer) beginPart(start int) part {
	w.skipBlanks()
	if len(w.out) > start+1 {
		w.out = append(w.out, ',')
	}
	return part{from: len(w.out)}
}

// orderParts puts the parts from the first on in the order of their keys, each key once. twice
// tells that one was there again.
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

// shapeOf gives the shape of a member's value.
func (w *writer) shapeOf(how shape, name []byte) shape {
	switch how {
	case entryShape:
		if is := members[w.kind][string(name)]; is == asSchema || is == asOutput {
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

// isPlain reports whether no text of a canonical form has anything that one of the exact
// kinds is made of: it is printable ASCII without brackets and bars. Most are, and the look
// at them would be what a long list costs.
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
