package redact

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// appendText appends a JSON string. raw is the text between its quotes. A long string is decoded
// only at its beginning; its length and its digest are those of raw.
func (w *walker) appendText(raw []byte, level secrecy, field string) {
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		head := len(raw)
		if !w.r.whole {
			head = min(head, 6*(MaxText+w.r.lookAhead())) // an escape has at most six bytes, so this part is long enough
		}
		w.r.scratch = escape.UndoEscapes(w.r.scratch[:0], raw[:head])
		text = w.r.scratch
	}
	w.dst = append(w.dst, '"')
	if level != harmless && len(raw) > 0 && w.r.mode != Full {
		w.dst = w.r.appendMarker(w.dst, "member", raw, field)
	} else {
		w.dst = w.r.AppendText(w.dst, text, raw)
	}
	w.dst = append(w.dst, '"')
}

// readRaw reads the string at the cursor and returns the text between its quotes.
func (w *walker) readRaw() ([]byte, error) {
	inside, ok := w.ReadQuoted()
	if !ok {
		return nil, errNotJSON
	}
	return jsonscan.Value(inside).Bytes(), nil
}

func (w *walker) copyLiteral(level secrecy, field string) error {
	word := jsonscan.Value(w.ReadWord()).Bytes()
	switch string(word) {
	case "true", "false", "null":
		w.dst = append(w.dst, word...)
		return nil
	}
	if !jsonscan.IsNumber(word) {
		return errNotJSON
	}
	switch {
	case w.r.known.ContainsKnown(word):
		w.appendText(word, harmless, field)
	case level == secret && w.r.mode != Full:
		w.dst = append(w.dst, '"')
		w.dst = w.r.appendMarker(w.dst, "number", word, field)
		w.dst = append(w.dst, '"')
	case len(word) > MaxText && !w.r.whole:
		w.appendText(word, harmless, field)
	default:
		w.dst = append(w.dst, word...)
	}
	return nil
}
