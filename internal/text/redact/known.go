package redact

import (
	"bytes"
	"encoding/base64"
	"io"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Shortest is the minimum length of a known value in bytes. Ordinary words may contain a shorter
// value and would be hidden.
const Shortest = 8

// Known finds secret values that are known: in plain form, in base64 (also inside longer encoded
// data), URL-encoded, and in JSON escapes. It does not find a value that is split, reversed or
// encoded twice. A Known does not change after NewKnown. A nil Known has no values.
type Known struct {
	plain   [][]byte // the values, and the long lines of each value with several lines
	encoded [][]byte // base64 of the values, for each of three offsets inside longer encoded data
	longest int      // length in bytes of the longest form of a value
}

// NewKnown returns a Known with those values that have at least 8 bytes.
func NewKnown(values [][]byte) *Known {
	k := &Known{}
	for _, v := range values {
		k.addValue(v)
		if lines := bytes.Split(v, []byte("\n")); len(lines) > 1 {
			for _, line := range lines {
				if line = bytes.TrimSpace(line); len(line) >= 2*Shortest {
					k.addValue(line)
				}
			}
		}
	}
	if len(k.plain) == 0 {
		return nil
	}
	return k
}

func (k *Known) addValue(v []byte) {
	if len(v) < Shortest {
		return
	}
	k.plain = append(k.plain, v)
	k.longest = max(k.longest, 6*len(v)) // the longest form writes every byte as \uXXXX
	for shift := range 3 {
		text := append(make([]byte, shift), v...)
		whole := base64.StdEncoding.EncodeToString(text)
		from := (shift*8 + 5) / 6 // index of the first digit that has only bits of the value
		to := len(text) * 8 / 6   // index after the last digit that has no bits of later bytes
		k.encoded = append(k.encoded, []byte(whole[from:to]))
		k.longest = max(k.longest, len(whole))
	}
}

// ContainsKnown reports whether a text contains a known value.
func (k *Known) ContainsKnown(text []byte) bool {
	_, _, found := k.FindKnown(text, 0)
	return found
}

// FindKnown returns the place of the first known value in a text, at or after the given offset.
func (k *Known) FindKnown(text []byte, from int) (start, end int, found bool) {
	if k == nil {
		return 0, 0, false
	}
	take := func(at, to int) {
		if !found || at < start || at == start && to > end {
			start, end, found = at, to, true
		}
	}
	rest := text[from:]
	for _, v := range k.plain {
		if i := bytes.Index(rest, v); i >= 0 {
			take(from+i, from+i+len(v))
		}
	}
	if at, to, ok := k.findEscaped(text, from); ok {
		take(at, to)
	}
	for _, v := range k.encoded {
		if i := indexBase64(rest, v); i >= 0 {
			take(from+i, from+i+len(v))
		}
	}
	return start, end, found
}

// findEscaped finds a value in escaped form: bytes as %XX, a blank as +, or characters as JSON
// escapes.
func (k *Known) findEscaped(text []byte, from int) (start, end int, found bool) {
	for at := from; at < len(text) && !found; at++ {
		i := bytes.IndexAny(text[at:], `%+\`)
		if i < 0 {
			break
		}
		at += i
		var is [utf8.UTFMax]byte
		size, n := decodeEscape(text[at:], &is)
		if n == 0 {
			continue
		}
		for _, v := range k.plain {
			// The first escape of a value may be at this place. The bytes of the value before it
			// are then plain.
			for j := range v[:min(len(v), at-from+1)] {
				if v[j] != is[0] || !bytes.HasPrefix(v[j:], is[:size]) || !bytes.Equal(text[at-j:at], v[:j]) {
					continue
				}
				if n := matchEscaped(text[at-j:], v); n > 0 && (!found || at-j < start) {
					start, end, found = at-j, at-j+n, true
				}
			}
		}
	}
	return start, end, found
}

// decodeEscape decodes the escape at the start of text into the given array. The escape is a +, %XX
// or a JSON escape. The result size is the number of decoded bytes. The result n is the number of
// bytes read; 0 if there is no escape.
func decodeEscape(text []byte, is *[utf8.UTFMax]byte) (size, n int) {
	switch {
	case text[0] == '+':
		is[0] = ' '
		return 1, 1
	case text[0] == '%' && len(text) >= 3 && hexDigit(text[1]) >= 0 && hexDigit(text[2]) >= 0:
		is[0] = byte(hexDigit(text[1])<<4 | hexDigit(text[2]))
		return 1, 3
	case text[0] == '\\':
		r, n := escape.ReadEscape(text)
		if n > 0 {
			return utf8.EncodeRune(is[:], r), n
		}
	}
	return 0, 0
}

// matchEscaped returns the number of bytes at the start of text that spell v, with or without
// escapes; 0 if they do not.
func matchEscaped(text, v []byte) (n int) {
	for len(v) > 0 {
		if n == len(text) {
			return 0
		}
		var is [utf8.UTFMax]byte
		switch size, read := decodeEscape(text[n:], &is); {
		case read > 0 && bytes.HasPrefix(v, is[:size]):
			n, v = n+read, v[size:]
		case text[n] == v[0]:
			n, v = n+1, v[1:]
		default:
			return 0
		}
	}
	return n
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// indexBase64 is bytes.Index for base64. text may use the standard or the URL alphabet.
func indexBase64(text, v []byte) int {
	i := bytes.Index(text, v)
	if bytes.IndexByte(v, '+') < 0 && bytes.IndexByte(v, '/') < 0 {
		return i
	}
	if i >= 0 { // the value may be earlier in the text, in the URL alphabet
		text = text[:i+len(v)-1]
	}
	url := bytes.ReplaceAll(bytes.ReplaceAll(v, []byte("+"), []byte("-")), []byte("/"), []byte("_"))
	if j := bytes.Index(text, url); j >= 0 {
		return j
	}
	return i
}

const knownMark = redactedMark + "vault]"

// MaskText returns s with a marker in place of each known value.
func (k *Known) MaskText(s string) string {
	if k == nil {
		return s
	}
	out, rest := k.replaceKnown(nil, []byte(s), true)
	return string(append(out, rest...))
}

// MaskJSON returns JSON with markers in place of known values in strings and names. A number that
// contains a known value is also replaced.
func (k *Known) MaskJSON(src []byte) []byte {
	if !k.ContainsKnown(src) {
		return src
	}
	var out []byte
	at := 0
	for c := (jsonscan.Cursor{Src: string(src)}); c.At < len(src); {
		start, masked := c.At, ""
		switch inside, ok := c.ReadQuoted(); {
		case ok:
			text := string(escape.UndoEscapes(nil, []byte(inside)))
			if masked = k.MaskText(text); masked == text {
				continue
			}
		case k.ContainsKnown([]byte(c.ReadWord())):
			masked = knownMark
		default:
			c.At = max(c.At, start+1)
			continue
		}
		out = append(append(out, src[at:start]...), escape.QuoteText(masked)...)
		at = c.At
	}
	return append(out, src[at:]...)
}

// replaceKnown appends text to dst, with markers in place of known values. The result rest is the
// end of text in which a value may begin, so the caller must add more text; it is empty if last is
// true.
func (k *Known) replaceKnown(dst, text []byte, last bool) (out, rest []byte) {
	at := 0
	for {
		start, end, found := k.FindKnown(text, at)
		if !found {
			break
		}
		dst = append(append(dst, text[at:start]...), knownMark...)
		at = end
	}
	keep := len(text)
	if !last {
		keep = max(at, len(text)-k.longest+1)
	}
	return append(dst, text[at:keep]...), text[keep:]
}

// CopyMasked copies a stream, with markers in place of known values. It writes each complete line
// at once. It does not find a value that spans two lines.
func (k *Known) CopyMasked(to io.Writer, from io.Reader) error {
	buf, pending := make([]byte, 32<<10), []byte(nil)
	for {
		n, err := from.Read(buf)
		pending = append(pending, buf[:n]...)
		whole := bytes.LastIndexByte(pending, '\n') + 1
		out, _ := k.replaceKnown(nil, pending[:whole], true)
		rest := pending[whole:]
		if len(rest) > len(buf) || err != nil { // do not wait for a line end any longer
			var more []byte
			more, rest = k.replaceKnown(nil, rest, err != nil)
			out = append(out, more...)
		}
		pending = append(pending[:0], rest...)
		if len(out) > 0 {
			if _, failed := to.Write(out); failed != nil {
				_, _ = io.Copy(io.Discard, from) // go on reading, because the writer of the stream must not block
				return failed
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
