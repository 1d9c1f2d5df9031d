package redact

import (
	"bytes"
	"errors"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

var errNotJSON = errors.New("not JSON")

// maxDepth bounds the walk; what is deeper is written as text.
const maxDepth = 256

// walker copies one JSON value with its secrets replaced, strings in ASCII and
// no blanks. It is given wire bytes that were admitted elsewhere and trusts
// nothing of that.
type walker struct {
	jsonscan.Cursor
	r    *Redactor
	src  []byte // what Src views
	dst  []byte
	full int  // len(dst) from which members are left out
	cut  bool // some were

	command []byte // what a member beside a list of arguments says to start

	contents bool // a member so far holds what is written to a file
	place    bool // a path here or further out leads to a place of secrets
	read     int  // bytes of objects that were looked through for paths
}

// AppendJSON appends src, or the text of src as a string when it is not JSON, and
// reports whether the arguments were cut.
func (r *Redactor) AppendJSON(dst, src []byte) ([]byte, bool) {
	w := walker{Cursor: jsonscan.Cursor{Src: string(jsonscan.ValueOf(src))}, r: r, src: src, dst: dst, full: len(dst) + MaxBlock}
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

// takeByte reads c, after blanks.
func (w *walker) takeByte(c byte) bool {
	w.SkipBlanks()
	return w.TakeByte(c)
}

// copyValue copies the value of the member called field, which is how secret.
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

// copyArray copies a list. The word after a flag such as "--token" is its value.
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

// plainString gives the string at the cursor without its quotes, as far as it has no escapes.
func (w *walker) plainString() []byte {
	if w.At == len(w.src) || w.src[w.At] != '"' {
		return nil
	}
	text := w.src[w.At+1:]
	return text[:max(0, bytes.IndexAny(text, `"\\`))]
}

// flagSecrecy judges the element after one that is a command-line flag.
func flagSecrecy(element []byte) secrecy {
	if !bytes.HasPrefix(element, []byte(`"-`)) || bytes.IndexByte(element, '=') >= 0 {
		return harmless
	}
	if nameSecrecy(bytes.Trim(element, `"`)) == secret {
		return secret
	}
	return harmless
}

// cutAtFull takes back the element or member written since mark when the block is
// full, and reports whether it is.
func (w *walker) cutAtFull(mark int, wasCut bool) bool {
	if wasCut || !w.cut && len(w.dst) > w.full {
		w.dst, w.cut = w.dst[:mark], true
	}
	return w.cut
}

// leaveContainer moves behind the end of the object or array the cursor is in. What is
// left out is not searched for secrets: that takes long, and nobody reads it.
func (w *walker) leaveContainer() error {
	if !w.LeaveContainer() {
		return errNotJSON
	}
	return nil
}

// copyObject copies an object, once more if what is written in it is secret.
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

// copyMembers copies members. {"name": "API_KEY", "value": ...} names its value too.
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
