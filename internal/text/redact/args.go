package redact

import (
	"bytes"
	"errors"
	"math"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

var errNotJSON = errors.New("not JSON")

// maxDepth is the maximum depth of nested values. A deeper value is written as a string.
const maxDepth = 256

// walker copies one JSON value and replaces the secrets in it. The copy is ASCII without blanks.
// The input should be valid JSON; if it is not, walker returns an error.
type walker struct {
	jsonscan.Cursor
	r    *Redactor
	src  []byte // the JSON text
	dst  []byte
	full int  // maximum length of dst; after that, members are left out
	cut  bool // members were left out

	command []byte // value of the last member with a name such as "command"; the value is a program, and another member lists its arguments

	contents bool // an earlier member of this object holds the content of a file
	place    bool // a path in this object or in an outer object is a secret place
	read     int  // bytes of objects that were searched for paths so far
}

// AppendJSON appends the JSON text src with its secrets replaced. If src is not JSON, it appends
// src as a string. It reports whether members were left out.
func (r *Redactor) AppendJSON(dst, src []byte) ([]byte, bool) {
	w := walker{Cursor: jsonscan.Cursor{Src: string(jsonscan.ValueOf(src))}, r: r, src: src, dst: dst, full: len(dst) + MaxBlock}
	if r.whole {
		w.full = math.MaxInt
	}
	err := w.copyValue(harmless, "", 0)
	if errors.Is(err, errDeep) {
		w = walker{Cursor: jsonscan.Cursor{Src: w.Src}, r: r, src: src, dst: dst, full: w.full, place: true}
		err = w.copyValue(harmless, "", 0)
	}
	w.SkipBlanks()
	if err == nil && w.At == len(src) {
		return w.dst, w.cut
	}
	dst = append(dst, '"')
	dst = r.AppendText(dst, src, src)
	return append(dst, '"'), len(src) > MaxText
}

// takeByte skips blanks. If the next byte is c, it reads c and returns true.
func (w *walker) takeByte(c byte) bool {
	w.SkipBlanks()
	return w.TakeByte(c)
}

// copyValue copies the value of the member with the name field. level is the secrecy of the value.
func (w *walker) copyValue(level secrecy, field string, depth int) error {
	w.SkipBlanks()
	if w.At == len(w.src) || depth > maxDepth {
		return errNotJSON
	}
	switch w.src[w.At] {
	case '{':
		return w.copyObject(level, depth)
	case '[':
		return w.copyArray(level, field, depth)
	case '"':
		raw, err := w.readRaw()
		if err != nil {
			return err
		}
		w.appendText(raw, level, field)
		return nil
	}
	return w.copyLiteral(level, field)
}

// copyArray copies a list. An element after a flag such as "--token" is the value of the flag.
func (w *walker) copyArray(level secrecy, field string, depth int) error {
	w.At++
	w.dst = append(w.dst, '[')
	if w.takeByte(']') {
		w.dst = append(w.dst, ']')
		return nil
	}
	start, last := w.At, []byte(nil)
	for next := level; ; {
		w.SkipBlanks()
		mark, from, cut := len(w.dst), w.At, w.cut
		element := w.plainString()
		if len(element) > 1 && (element[0] == '-' || len(last) > 1 && last[0] == '-') {
			next = max(next, listedSecrecy(element, last, w.src[start:w.At], w.command))
		}
		last = element
		if w.dst[mark-1] != '[' {
			w.dst = append(w.dst, ',')
		}
		if err := w.copyValue(next, field, depth+1); err != nil {
			return err
		}
		next = max(level, flagSecrecy(w.src[from:w.At]))
		if w.cutAtFull(mark, cut) {
			w.dst = append(w.dst, ']')
			return w.leaveContainer()
		}
		if w.takeByte(']') {
			w.dst = append(w.dst, ']')
			return nil
		}
		if !w.takeByte(',') {
			return errNotJSON
		}
	}
}

// plainString returns the string at the cursor, without quotes, up to its first escape.
func (w *walker) plainString() []byte {
	if w.At == len(w.src) || w.src[w.At] != '"' {
		return nil
	}
	text := w.src[w.At+1:]
	return text[:max(0, bytes.IndexAny(text, `"\\`))]
}

// flagSecrecy returns the secrecy of the next element of a list. The parameter element is the
// element before it, which may be a command-line flag.
func flagSecrecy(element []byte) secrecy {
	if !bytes.HasPrefix(element, []byte(`"-`)) || bytes.IndexByte(element, '=') >= 0 {
		return harmless
	}
	if nameSecrecy(bytes.Trim(element, `"`)) == secret {
		return secret
	}
	return harmless
}

// cutAtFull reports whether dst is full. If it is, cutAtFull removes what was written since mark:
// an element or a member.
func (w *walker) cutAtFull(mark int, wasCut bool) bool {
	if wasCut || !w.cut && len(w.dst) > w.full {
		w.dst, w.cut = w.dst[:mark], true
	}
	return w.cut
}

// leaveContainer moves to the end of the current object or array. It does not search the skipped
// part for secrets, because that takes long and the part is not written.
func (w *walker) leaveContainer() error {
	if !w.LeaveContainer() {
		return errNotJSON
	}
	return nil
}

// copyObject copies an object. If the object holds the content of a file, and a path in the object
// is a secret place, copyObject copies the object again and treats the content as a secret.
func (w *walker) copyObject(level secrecy, depth int) error {
	start, mark, cut := w.At, len(w.dst), w.cut
	if err := w.copyMembers(level, depth); err != nil || !w.contents || w.place || w.r.mode == Full {
		return err
	}
	if w.read += w.At - start; w.read > often*len(w.src) {
		return errDeep
	}
	if !hasSecretPath(jsonscan.Value(w.Src[start:w.At])) {
		return nil
	}
	w.At, w.dst, w.cut, w.place = start, w.dst[:mark], cut, true
	err := w.copyMembers(level, depth)
	w.place = false
	return err
}

// copyMembers copies the members of an object. In {"name": "API_KEY", "value": ...} the text of
// "name" decides whether "value" is a secret.
func (w *walker) copyMembers(level secrecy, depth int) error {
	w.At++
	w.dst = append(w.dst, '{')
	if w.takeByte('}') {
		w.dst = append(w.dst, '}')
		return nil
	}
	named := level
	for {
		w.SkipBlanks()
		mark, cut := len(w.dst), w.cut
		if w.dst[mark-1] != '{' {
			w.dst = append(w.dst, ',')
		}
		if err := w.copyMember(level, &named, depth); err != nil {
			return err
		}
		if w.cutAtFull(mark, cut) {
			w.dst = append(w.dst, '}')
			return w.leaveContainer()
		}
		if w.takeByte('}') {
			w.dst = append(w.dst, '}')
			return nil
		}
		if !w.takeByte(',') {
			return errNotJSON
		}
	}
}

func (w *walker) copyMember(level secrecy, named *secrecy, depth int) error {
	if w.At == len(w.src) || w.src[w.At] != '"' {
		return errNotJSON
	}
	name, err := w.readRaw()
	if err != nil {
		return err
	}
	w.appendText(name, harmless, "")
	if bytes.IndexByte(name, '\\') >= 0 {
		name = escape.UndoEscapes(nil, name)
	}
	w.dst = append(w.dst, ':')
	switch s := memberSecrecy(name); {
	case s != written:
		level = max(level, s)
	case w.place:
		level = max(level, secret)
	default:
		w.contents = true
	}
	naming := false
	switch string(name) {
	case "name", "key", "header", "field":
		naming = true
	case "value":
		level = max(level, *named)
	case "command", "cmd", "program", "executable", "file":
		defer func(at int) { w.command = bytes.Trim(w.src[at:w.At], " \t\r\n:\"") }(w.At)
	}
	field := ""
	if w.r.mode == Hashed {
		field = string(name)
	}
	if !w.takeByte(':') {
		return errNotJSON
	}
	w.SkipBlanks()
	from := w.At
	if err := w.copyValue(level, field, depth+1); err != nil {
		return err
	}
	if naming && w.At-from > 2 && w.src[from] == '"' {
		*named = max(*named, nameSecrecy(w.src[from+1:w.At-1]))
	}
	return nil
}
