package client

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlReader builds one tree of tables, dotted keys and inline tables. The parser returns only
// syntax and places. It does not notice duplicate keys, so parseTOML first decodes the whole text.
type tomlReader struct {
	src    []byte
	base   int // length of the byte order mark; the parser's offsets do not count it
	parser unstable.Parser
	root   *node
	table  *node // the table of the following pairs

	known map[tomlName]int // index of a member in its table, by the name
}

type tomlName struct {
	in   *node
	name string
}

// parseTOML reads a complete file.
func parseTOML(src []byte) (*node, error) {
	t := &tomlReader{src: src, base: bomLength(src), root: &node{kind: objectKind}, known: map[tomlName]int{}}
	text := src[t.base:]
	var sink map[string]any
	if err := toml.Unmarshal(text, &sink); err != nil {
		return nil, t.syntaxError(err)
	}
	t.table = t.root
	t.parser.Reset(text)
	for t.parser.NextExpression() {
		t.readExpression(t.parser.Expression())
	}
	if err := t.parser.Error(); err != nil {
		return nil, t.syntaxError(err)
	}
	return t.root, nil
}

func (t *tomlReader) syntaxError(err error) *EditError {
	at, what := t.base, err.Error()
	if failure, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := failure.Position()
		what = failure.Error()
		for ; line > 1; line-- {
			at += bytes.IndexByte(t.src[at:], '\n') + 1
		}
		at += column - 1
	}
	return newEditError(t.src, at, nextRepair, "%s", strings.TrimPrefix(what, "toml: "))
}

func (t *tomlReader) tokenSpan(n *unstable.Node) span {
	start := t.base + int(n.Raw.Offset)
	return span{start, start + int(n.Raw.Length)}
}

func (t *tomlReader) readExpression(n *unstable.Node) {
	switch n.Kind {
	case unstable.KeyValue:
		t.readPair(t.table, n, true)
	case unstable.Table:
		t.table = t.descendKey(t.root, t.keyParts(n))
	case unstable.ArrayTable:
		parts := t.keyParts(n)
		last := parts[len(parts)-1]
		m := t.findOrAddMember(t.descendKey(t.root, parts[:len(parts)-1]), last, listKind)
		t.table = &node{kind: objectKind, start: last.start}
		m.value.items = append(m.value.items, t.table)
	}
}

// tomlPart is one name of a dotted key.
type tomlPart struct {
	span
	name string
}

func (t *tomlReader) keyParts(n *unstable.Node) []tomlPart {
	var parts []tomlPart
	for it := n.Key(); it.Next(); {
		parts = append(parts, tomlPart{t.tokenSpan(it.Node()), string(it.Node().Data)})
	}
	return parts
}

// findOrAddMember returns the member with this name. If there is none, it adds one whose value has
// kind k.
func (t *tomlReader) findOrAddMember(in *node, part tomlPart, k kind) *member {
	i, known := t.known[tomlName{in, part.name}]
	if !known {
		v := &node{kind: k, start: part.start}
		i = t.addMember(in, member{name: part.name, start: part.start, last: part.start, end: part.end, escaped: t.isEscaped(part.span), value: v})
	} else {
		in.members[i].again = append(in.members[i].again, part.span)
		in.members[i].escaped = in.members[i].escaped || t.isEscaped(part.span)
	}
	return &in.members[i]
}

func (t *tomlReader) addMember(in *node, m member) int {
	in.members = append(in.members, m)
	t.known[tomlName{in, m.name}] = len(in.members) - 1
	return len(in.members) - 1
}

// descendKey follows a dotted key and adds missing tables. For an array of tables it takes the last
// table.
func (t *tomlReader) descendKey(in *node, parts []tomlPart) *node {
	for _, part := range parts {
		v := t.findOrAddMember(in, part, objectKind).value
		if v.kind == listKind && len(v.items) > 0 {
			v = v.items[len(v.items)-1]
		}
		in = v
	}
	return in
}

// readPair reads key = value into a table. block means that the pair is alone on its line.
func (t *tomlReader) readPair(in *node, n *unstable.Node, block bool) {
	parts := t.keyParts(n)
	place, last := t.tokenSpan(n), parts[len(parts)-1]
	holder := t.descendKey(in, parts[:len(parts)-1])
	at := t.skipBlanks(last.end) + 1 // the place after the equals sign
	t.addMember(holder, member{
		name: last.name, start: place.start, last: last.start, end: last.end,
		block: block, escaped: t.isEscaped(last.span), value: t.readValue(n.Value(), span{t.skipBlanks(at), place.end}),
	})
}

// isEscaped reports whether a key has escapes: it is in double quotes and has a backslash. In
// single quotes a backslash is ordinary text.
func (t *tomlReader) isEscaped(key span) bool {
	raw := t.src[key.start:key.end]
	return raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0
}

func (t *tomlReader) skipBlanks(at int) int {
	for t.src[at] == ' ' || t.src[at] == '\t' {
		at++
	}
	return at
}

// readValue converts a value. In a list the parser knows the places of strings only, so lists of
// other values are not edited.
func (t *tomlReader) readValue(n *unstable.Node, place span) *node {
	v := &node{start: place.start, end: place.end}
	switch n.Kind {
	case unstable.String:
		v.kind, v.text = stringKind, string(n.Data)
	case unstable.Array:
		v.kind = listKind
		for it := n.Children(); it.Next(); {
			v.items = append(v.items, t.readValue(it.Node(), t.tokenSpan(it.Node())))
		}
	case unstable.InlineTable:
		v.kind = objectKind
		for it := n.Children(); it.Next(); {
			t.readPair(v, it.Node(), false)
		}
	}
	return v
}
