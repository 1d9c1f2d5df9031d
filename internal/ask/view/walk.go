package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxName is the maximum length in bytes of a member's name in a path. maxBare is the maximum
// length of a name without quotes.
const (
	maxName = 4096
	maxBare = 64
)

// leaf is one value, for the search for dangers and changes. Its texts are not harmless.
type leaf struct {
	path   string // the same as Arg.Path
	key    string // name of the nearest object member around the value
	text   string // the decoded string, or the token of another value
	string bool
}

// walker visits the values of valid JSON in wire order.
type walker struct {
	jsonscan.Cursor
	make   *builder
	args   []Arg
	leaves []leaf
	odd    []string // names of members that have quotes in a path
	top    []string // names of the members of the outermost object
	err    error
}

// walkJSON visits every value of the JSON text src and makes its Arg.
func walkJSON(src []byte, m *builder) (walker, error) {
	w := walker{Cursor: jsonscan.Cursor{Src: string(jsonscan.ValueOf(src))}, make: m}
	w.SkipBlanks()
	if w.At == len(src) {
		return w, nil
	}
	if !json.Valid(src) {
		return w, ErrUnreadable
	}
	if !w.walkValue("", "") && w.err == nil {
		w.err = ErrTooMany // the JSON is valid, but nested too deep for a person to read
	}
	return w, w.err
}

func (w *walker) walkValue(path, key string) bool {
	switch v := jsonscan.Value(w.Src[w.At:]); v.Kind() {
	case jsonscan.Object:
		return w.walkObject(path)
	case jsonscan.Array:
		return w.walkArray(path, key)
	case jsonscan.String:
		text, ok := w.readText()
		w.addLeaf(leaf{path, key, text, true}, v.Kind())
		return ok
	default:
		w.addLeaf(leaf{path, key, w.ReadWord(), false}, v.Kind())
		return true
	}
}

func (w *walker) addLeaf(l leaf, kind jsonscan.ValueKind) {
	w.addValue(l.path, kind.String(), l.text)
	w.leaves = append(w.leaves, l)
}

func (w *walker) walkObject(path string) bool {
	more, ok := w.EnterContainer('{')
	if !more && path != "" {
		w.addValue(path, "object", "{}")
	}
	for more {
		key, named := w.readText()
		if path == "" {
			w.top = append(w.top, key)
		}
		if member := w.joinPath(path, key); !named || !w.TakeColon() || w.err != nil || !w.walkValue(member, key) {
			return false
		}
		more, ok = w.NextItem('}')
	}
	return ok
}

func (w *walker) walkArray(path, key string) bool {
	more, ok := w.EnterContainer('[')
	if !more {
		w.addValue(path, "array", "[]")
	}
	for i := 0; more; i++ {
		if !w.walkValue(fmt.Sprintf("%s[%d]", path, i), key) || w.err != nil {
			return false
		}
		more, ok = w.NextItem(']')
	}
	return ok
}

// readText reads a string.
func (w *walker) readText() (string, bool) {
	inside, ok := w.ReadQuoted()
	if !ok || strings.IndexByte(inside, '\\') < 0 {
		return strings.Clone(inside), ok
	}
	return unescapeJSON([]byte(inside)), ok
}

func (w *walker) addValue(path, kind, text string) {
	if w.err != nil {
		return
	}
	a, err := w.make.makeValue(path, kind, text)
	w.args, w.err = append(w.args, a), err
}

// joinPath returns the path of a member. A name that is too long for a path also becomes a value,
// so that the person can read the whole name.
func (w *walker) joinPath(path, key string) string {
	if len(key) > maxName {
		w.err = ErrTooMany
		return ""
	}
	shown := key
	if !isBare(key) {
		shown = term.VisibleValue(key)
		w.odd = append(w.odd, key)
	}
	if isFolded(key) {
		w.addValue(strings.TrimSpace(path+" (name)"), "name", key)
	}
	if path == "" {
		return shown
	}
	return path + "." + shown
}

// unescapeJSON decodes the escapes of a valid JSON string. A lone surrogate becomes three bytes
// that are not UTF-8, so the person sees these bytes.
func unescapeJSON(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		r, n := escape.ReadEscape(raw[i:])
		switch {
		case n == 0:
			out = append(out, raw[i])
			n = 1
		case utf16.IsSurrogate(r):
			out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		default:
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return string(out)
}

const bareLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// isBare reports whether a member name can be shown without quotes.
func isBare(key string) bool {
	return key != "" && len(key) <= maxBare && strings.Trim(key, bareLetters) == ""
}
