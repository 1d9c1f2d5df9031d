package redact

import (
	"bytes"

	"github.com/clawai/clawai/internal/escape"
)

// string appends the string written as raw between its quotes. What is counted
// and hashed of a long one is raw, and only its beginning is unescaped.
func (w *walker) string(raw []byte, how secrecy, field string) {
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		const head = 6 * (MaxText + maxLook) // enough: an escape is six bytes at most
		w.r.scratch = escape.Undo(w.r.scratch[:0], raw[:min(len(raw), head)])
		text = w.r.scratch
	}
	w.dst = append(w.dst, '"')
	if how != harmless && len(raw) > 0 && w.r.mode != Full {
		w.dst = w.r.mark(w.dst, "member", raw, field)
	} else {
		w.dst = w.r.AppendText(w.dst, text, raw)
	}
	w.dst = append(w.dst, '"')
}

// raw reads the string at the cursor and returns what stands between its quotes.
func (w *walker) raw() ([]byte, error) {
	from := w.at + 1
	for i := from; ; i++ {
		n := bytes.IndexByte(w.src[i:], '"')
		if n < 0 {
			return nil, errNotJSON
		}
		i += n
		slashes := i
		for slashes > from && w.src[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			w.at = i + 1
			return w.src[from:i], nil
		}
	}
}

func (w *walker) literal(how secrecy, field string) error {
	from := w.at
	for w.at < len(w.src) && bytes.IndexByte([]byte(" \t\r\n,]}"), w.src[w.at]) < 0 {
		w.at++
	}
	word := w.src[from:w.at]
	switch string(word) {
	case "true", "false", "null":
		w.dst = append(w.dst, word...)
		return nil
	}
	if !IsNumber(word) {
		return errNotJSON
	}
	switch {
	case how == secret && w.r.mode != Full:
		w.dst = append(w.dst, '"')
		w.dst = w.r.mark(w.dst, "number", word, field)
		w.dst = append(w.dst, '"')
	case len(word) > MaxText:
		w.string(word, harmless, field)
	default:
		w.dst = append(w.dst, word...)
	}
	return nil
}

// IsNumber holds for the grammar of RFC 8259 section 6.
func IsNumber(s []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := i
	if !digits() || s[whole] == '0' && i > whole+1 {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}
