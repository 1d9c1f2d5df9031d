package redact

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// string appends the string written as raw between its quotes. What is counted
// and hashed of a long one is raw, and only its beginning is unescaped.
func (w *walker) string(raw []byte, level secrecy, field string) {
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		head := 6 * (MaxText + w.r.look()) // enough: an escape is six bytes at most
		w.r.scratch = escape.Undo(w.r.scratch[:0], raw[:min(len(raw), head)])
		text = w.r.scratch
	}
	w.dst = append(w.dst, '"')
	if level != harmless && len(raw) > 0 && w.r.mode != Full {
		w.dst = w.r.mark(w.dst, "member", raw, field)
	} else {
		w.dst = w.r.AppendText(w.dst, text, raw)
	}
	w.dst = append(w.dst, '"')
}

// raw reads the string at the cursor and returns what stands between its quotes.
func (w *walker) raw() ([]byte, error) {
	inside, ok := w.Quoted()
	if !ok {
		return nil, errNotJSON
	}
	return jsonscan.Value(inside).Bytes(), nil
}

func (w *walker) literal(level secrecy, field string) error {
	word := jsonscan.Value(w.Word()).Bytes()
	switch string(word) {
	case "true", "false", "null":
		w.dst = append(w.dst, word...)
		return nil
	}
	if !jsonscan.IsNumber(word) {
		return errNotJSON
	}
	switch {
	case w.r.known.Contains(word):
		w.string(word, harmless, field)
	case level == secret && w.r.mode != Full:
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
