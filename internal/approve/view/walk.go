package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/escape"
	"github.com/clawai/clawai/internal/term"
)

// maxName is the length in bytes of a member name that is shown in a path;
// maxBare of one that is shown without quotes.
const (
	maxName = 4096
	maxBare = 64
)

// leaf is one value as those who look for dangers and changes need it. Nothing
// in it is harmless.
type leaf struct {
	path   string // as in its Arg, where odd names are in quotes
	key    string // the name of the nearest member it is in
	text   string // a string decoded, or the token
	string bool
}

// walker walks text that is known to be valid JSON, in the order of the wire.
type walker struct {
	src    []byte
	at     int
	make   *maker
	args   []Arg
	leaves []leaf
	odd    []string // member names that are in quotes in a path
	top    []string // the members of the outermost object
	err    error
}

// walk visits every value in the JSON text src.
func walk(src []byte, m *maker) (walker, error) {
	w := walker{src: src, make: m}
	if len(bytes.Trim(src, " \t\r\n")) == 0 {
		return w, nil
	}
	if !json.Valid(src) {
		return w, ErrUnreadable
	}
	w.value("", "")
	return w, w.err
}

// next skips blanks and gives the byte that follows them.
func (w *walker) next() byte {
	for {
		switch c := w.src[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
}

func (w *walker) value(path, key string) {
	switch w.next() {
	case '{':
		w.inside(path, key, '}')
	case '[':
		w.inside(path, key, ']')
	case '"':
		text := w.string()
		w.add(path, "string", text)
		w.leaves = append(w.leaves, leaf{path, key, text, true})
	default:
		token := w.token()
		w.add(path, kindOf(token), token)
		w.leaves = append(w.leaves, leaf{path, key, token, false})
	}
}

// kindOf is the type of a token that is no string.
func kindOf(token string) string {
	switch token[0] {
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// inside walks an object or array to its end.
func (w *walker) inside(path, key string, end byte) {
	w.at++
	if w.next() == end {
		w.at++
		if end == ']' {
			w.add(path, "array", "[]")
		} else if path != "" {
			w.add(path, "object", "{}")
		}
		return
	}
	for i := 0; w.err == nil; i++ {
		w.next()
		member := fmt.Sprintf("%s[%d]", path, i)
		if end == '}' {
			key = w.string()
			if path == "" {
				w.top = append(w.top, key)
			}
			member = w.join(path, key)
			w.next()
			w.at++ // the colon
		}
		w.value(member, key)
		if w.err != nil || w.next() == end {
			break
		}
		w.at++ // the comma
	}
	w.at++
}

// token gives a number, true, false or null as it is written.
func (w *walker) token() string {
	start := w.at
	for w.at < len(w.src) && bytes.IndexByte([]byte(" \t\r\n,]}"), w.src[w.at]) < 0 {
		w.at++
	}
	return string(w.src[start:w.at])
}

func (w *walker) string() string {
	w.at++
	start := w.at
	escaped := false
	for w.src[w.at] != '"' {
		if w.src[w.at] == '\\' {
			escaped = true
			w.at++
		}
		w.at++
	}
	raw := w.src[start:w.at]
	w.at++
	if !escaped {
		return string(raw)
	}
	return unescape(raw)
}

func (w *walker) add(path, kind, text string) {
	if w.err != nil {
		return
	}
	a, err := w.make.value(path, kind, text)
	w.args, w.err = append(w.args, a), err
}

// join is the path of a member. A name that would be folded in it is listed as
// a value of its own, so that all of it can be seen.
func (w *walker) join(path, key string) string {
	if len(key) > maxName {
		w.err = ErrTooMany
		return ""
	}
	shown := key
	if !bare(key) {
		shown = term.Value(key)
		w.odd = append(w.odd, key)
	}
	if folded(key) {
		w.add(strings.TrimSpace(path+" (name)"), "name", key)
	}
	if path == "" {
		return shown
	}
	return path + "." + shown
}

// unescape undoes the escapes of a valid JSON string. A lone surrogate keeps
// its value, as three bytes that are no UTF-8, and so shows as such.
func unescape(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		r, n := escape.Read(raw[i:])
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

// bare says that a member name can be shown without quotes.
func bare(key string) bool {
	return key != "" && len(key) <= maxBare && strings.Trim(key, bareLetters) == ""
}
