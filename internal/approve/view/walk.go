package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/term"
)

// arguments lists every value in the JSON text src in the order of the wire.
func arguments(src []byte, left *int) ([]Arg, error) {
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, nil
	}
	if !json.Valid(src) {
		return nil, ErrUnreadable
	}
	w := walker{src: src, left: left}
	w.value("")
	return w.args, w.err
}

// walker walks text that is known to be valid JSON.
type walker struct {
	src  []byte
	at   int
	left *int
	args []Arg
	err  error
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

func (w *walker) value(path string) {
	switch w.next() {
	case '{':
		w.inside(path, '}')
	case '[':
		w.inside(path, ']')
	case '"':
		w.add(stringArg(path, w.string()))
	default:
		w.add(tokenArg(path, w.token()))
	}
}

// inside walks an object or array to its end.
func (w *walker) inside(path string, end byte) {
	w.at++
	if w.next() == end {
		w.at++
		if path != "" {
			w.add(tokenArg(path, map[byte]string{'}': "{}", ']': "[]"}[end]))
		}
		return
	}
	for i := 0; w.err == nil; i++ {
		w.next()
		member := fmt.Sprintf("%s[%d]", path, i)
		if end == '}' {
			member = join(path, w.string())
			w.next()
			w.at++ // the colon
		}
		w.value(member)
		if w.err != nil {
			return
		}
		c := w.next()
		w.at++
		if c == end {
			return
		}
	}
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

func (w *walker) add(a Arg) {
	if *w.left--; *w.left < 0 {
		w.err = ErrTooMany
		return
	}
	w.args = append(w.args, a)
}

// unescape undoes the escapes of a valid JSON string. A lone surrogate keeps
// its value, as three bytes that are no UTF-8, and so shows as such.
func unescape(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'u':
			r := hex4(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				if i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
					if both := utf16.DecodeRune(r, hex4(raw[i+3:])); both != utf8.RuneError {
						out = utf8.AppendRune(out, both)
						i += 6
						continue
					}
				}
				out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
				continue
			}
			out = utf8.AppendRune(out, r)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
		if c <= '9' {
			r = r&^0xf | rune(c-'0')
		}
	}
	return r
}

func join(path, key string) string {
	if !bare(key) {
		key = term.Value(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// bare says that a member name can be shown without quotes.
func bare(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return key != "" && len(key) <= 64 && strings.Trim(key, letters) == ""
}
