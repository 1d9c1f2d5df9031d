package client

import (
	"bytes"
	"unicode/utf8"
)

// maxDepth is the maximum depth of nested values.
const maxDepth = 512

// reading tells what to do with a value: skip it, follow the key path into it, or keep it
// completely.
type reading uint8

const (
	skip reading = iota
	follow
	keep
)

// jsonReader reads JSON, JSON with comments, or JSON5. It goes through the bytes once and checks
// the whole file. It keeps only the values at the end of the key path, because such files can have
// many megabytes of other data.
type jsonReader struct {
	src    []byte
	at     int
	format Format
	depth  int
	err    *EditError
	beside string // key of a member that stands beside the container and is kept too; "" for none
}

// parseJSON reads a file. It returns nil if the file has only blanks and comments.
func parseJSON(src []byte, format Format, path []string) (*node, error) {
	return (&jsonReader{src: src, format: format}).readFile(path)
}

func (j *jsonReader) readFile(path []string) (*node, error) {
	src := j.src
	j.at = bomLength(src)
	j.skipSpace()
	if j.err == nil && j.at == len(src) {
		return nil, nil
	}
	root := j.readValue(path, follow)
	if j.err == nil {
		j.skipSpace()
	}
	if j.err == nil && j.at < len(src) {
		j.failRead(j.at, "%q comes after the end of the value", j.currentCharacter())
	}
	if j.err != nil {
		return nil, j.err
	}
	return root, nil
}

const nextRepair = "correct the file, then run the command again"

func (j *jsonReader) failRead(at int, what string, values ...any) {
	if j.err == nil {
		j.err = newEditError(j.src, at, nextRepair, what, values...)
	}
	j.at = len(j.src)
}

// currentCharacter returns the character at the current offset, for error messages.
func (j *jsonReader) currentCharacter() string {
	_, size := utf8.DecodeRune(j.src[j.at:])
	return string(j.src[j.at : j.at+size])
}

func (j *jsonReader) peekByte() byte {
	if j.at < len(j.src) {
		return j.src[j.at]
	}
	return 0
}

// skipSpace skips blanks and comments.
func (j *jsonReader) skipSpace() {
	for j.at < len(j.src) {
		switch c := j.src[j.at]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			j.at++
		case c == '/':
			j.skipComment()
		case j.format == JSON5 && j.wideSpace() > 0:
			j.at += j.wideSpace()
		default:
			return
		}
	}
}

func (j *jsonReader) skipComment() {
	rest := j.src[j.at:]
	switch {
	case len(rest) < 2 || rest[1] != '/' && rest[1] != '*':
		j.failRead(j.at, "a lone /")
	case j.format == JSON:
		j.failRead(j.at, "a comment, which this client's JSON does not allow")
	case rest[1] == '/':
		n := bytes.IndexAny(rest, "\r\n")
		if n < 0 {
			n = len(rest)
		}
		j.at += n
	default:
		n := bytes.Index(rest[2:], []byte("*/"))
		if n < 0 {
			j.failRead(j.at, "a comment that does not end")
			return
		}
		j.at += n + 4
	}
}

// readValue reads one value. path is the rest of the key path, from the value to the container.
func (j *jsonReader) readValue(path []string, mode reading) *node {
	if mode == follow && len(path) == 0 {
		mode = keep
	}
	start := j.at
	switch c := j.peekByte(); {
	case j.at == len(j.src):
		j.failRead(j.at, "the file ends inside a value")
		return nil
	case c == '{':
		return j.readObject(path, mode)
	case c == '[':
		return j.readList(mode)
	case c == '"' || c == '\'' && j.format == JSON5:
		j.skipString()
		return j.newScalar(start, stringKind, mode)
	case j.readLiteral("null"):
		return j.newScalar(start, nullKind, mode)
	case j.readLiteral("true") || j.readLiteral("false") || j.readNumber():
		return j.newScalar(start, otherKind, mode)
	default:
		j.failRead(start, "%q cannot start a value", j.currentCharacter())
		return nil
	}
}

func (j *jsonReader) newScalar(start int, k kind, mode reading) *node {
	if mode == skip || j.err != nil {
		return nil
	}
	n := &node{kind: k, start: start, end: j.at}
	switch {
	case mode != keep:
	case k == stringKind:
		n.text = decodeString(j.src[start:j.at])
	case k == otherKind:
		n.text = string(j.src[start:j.at])
	}
	return n
}

// openContainer reads an opening bracket. It returns nil if the value is skipped.
func (j *jsonReader) openContainer(k kind, mode reading) *node {
	start := j.at
	if j.depth++; j.depth > maxDepth {
		j.failRead(j.at, "values are nested deeper than %d", maxDepth)
	}
	j.at = min(j.at+1, len(j.src))
	if mode == skip {
		return nil
	}
	return &node{kind: k, start: start}
}

func (j *jsonReader) readObject(path []string, mode reading) *node {
	n := j.openContainer(objectKind, mode)
	for {
		if j.skipSpace(); j.readClosing('}', "an object") {
			return n.endAt(j.at)
		}
		start := j.at
		if !j.readKey() {
			return nil
		}
		end := j.at
		if j.skipSpace(); j.peekByte() != ':' {
			j.failRead(j.at, "a : is missing after a key")
			return nil
		}
		j.at++
		j.skipSpace()
		inside, rest := j.chooseMode(start, end, path, mode)
		v := j.readValue(rest, inside)
		if inside != skip {
			name := decodeString(j.src[start:end])
			escaped := bytes.IndexByte(j.src[start:end], '\\') >= 0
			n.members = append(n.members, member{name: name, start: start, last: start, end: end, escaped: escaped, value: v})
		}
		if !j.readComma('}', "an object") {
			return nil
		}
	}
}

// chooseMode tells how to read a member. The key of the member is between start and end.
func (j *jsonReader) chooseMode(start, end int, path []string, mode reading) (reading, []string) {
	if mode != follow {
		return mode, nil
	}
	if j.beside != "" && len(path) == 1 && isKey(j.src[start:end], j.beside) {
		return keep, nil
	}
	if path[0] == "*" || isKey(j.src[start:end], path[0]) {
		return follow, path[1:]
	}
	return skip, nil
}

// isKey reports whether a key in the file is equal to the parameter name. It decodes the key only
// if necessary.
func isKey(raw []byte, name string) bool {
	if raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == name
	}
	return decodeString(raw) == name
}

func (j *jsonReader) readList(mode reading) *node {
	n := j.openContainer(listKind, mode)
	if mode == follow { // a key path never leads through a list
		mode = skip
	}
	for {
		if j.skipSpace(); j.readClosing(']', "a list") {
			return n.endAt(j.at)
		}
		v := j.readValue(nil, mode)
		if mode != skip {
			n.items = append(n.items, v)
		}
		if !j.readComma(']', "a list") {
			return nil
		}
	}
}

// readClosing reads the closing bracket if it is the next character. container is a word for the
// error message.
func (j *jsonReader) readClosing(bracket byte, container string) bool {
	if j.at == len(j.src) {
		j.failRead(j.at, "the file ends inside %s", container)
		return false
	}
	if j.src[j.at] != bracket {
		return false
	}
	j.at++
	j.depth--
	return true
}

// readComma reads the comma after a member or an item. If the closing bracket follows, it reads
// nothing. It returns false after an error.
func (j *jsonReader) readComma(bracket byte, container string) bool {
	if j.err != nil {
		return false
	}
	j.skipSpace()
	switch {
	case j.at == len(j.src):
		j.failRead(j.at, "the file ends inside %s", container)
	case j.src[j.at] == bracket:
		return true
	case j.src[j.at] != ',':
		j.failRead(j.at, "a comma is missing before %q", j.currentCharacter())
	default:
		at := j.at
		j.at++
		if j.skipSpace(); j.peekByte() == bracket && j.format == JSON {
			j.failRead(at, "a comma before the closing bracket, which this client's JSON does not allow")
		}
	}
	return j.err == nil
}
