package frame

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Pending describes the requests that a line may answer. The ids are tokens in the form of the
// requests.
type Pending struct {
	Only []byte // the only request that a line without an id can answer; nil if there is none
	// Waiting returns the id of the only waiting request that has the same LooseID as the given
	// token. It returns nil if no request matches or several do. If Waiting is nil, no request
	// matches.
	Waiting func(id []byte) []byte
}

// RepairLine repairs a refused line and reads it as an answer. It repairs only answers: a request
// must be exactly what its sender wrote. The repaired line passes Parse like any other line. words
// are the repairs, for the record. ok is false if the repairs of docs/frames.md do not suffice.
func RepairLine(line []byte, l Limits, r *Refusal, p Pending) (f Frame, words []string, ok bool) {
	line = bytes.TrimLeft(line, " \t")
	for {
		word := ""
		switch r.Code {
		case CodeUTF8, CodeSurrogate:
			line, word = validText(line), "text"
		case CodeID:
			line, word = withKnownID(line, p), "id"
		case CodeBOM:
			line, word = bytes.TrimPrefix(line, []byte("\uFEFF")), "mark"
		case CodeErr:
			line, word = withWholeCode(line), "code"
		case CodeDepth, CodeDuplicate, CodeControlName:
			line, word = removeBadEntries(line, l), "entry"
		}
		if word == "" || line == nil || slices.Contains(words, word) {
			return Frame{}, nil, false
		}
		words = append(words, word)
		l.MaxBytes = max(l.MaxBytes, len(line)) // a repair may make the line longer, but the received line was within the limit
		err := f.Parse(line, l)
		if err == nil {
			return f, words, f.Kind == Response
		}
		r, _ = errors.AsType[*Refusal](err)
	}
}

// validText returns a copy of line. It replaces each half of a surrogate pair, and each byte that
// is not UTF-8, by U+FFFD. Both faults occur only in strings.
func validText(line []byte) []byte {
	b := make([]byte, 0, len(line)+16)
	for i := 0; i < len(line); {
		n := 1
		switch {
		case line[i] == '\\':
			r, size := escape.ReadEscape(line[i:])
			if n = max(size, 1); utf16.IsSurrogate(r) {
				b, i = append(b, `\ufffd`...), i+n
				continue
			}
		case line[i] >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(line[i:])
			if n = size; r == utf8.RuneError && size == 1 {
				b, i = append(b, "\uFFFD"...), i+1
				continue
			}
		}
		b, i = append(b, line[i:i+n]...), i+n
	}
	return b
}

// IsUnnamed reports whether a line is an answer that does not name its request. Then its id is
// missing or null, or a text that programs write for a missing id. A line without the member
// jsonrpc is no answer: it is a log in JSON.
func IsUnnamed(line []byte) bool {
	versions, ids, outcomes := 0, 0, 0
	for name, value := range jsonscan.ValueOf(line).Members() {
		switch name.Text() {
		case "jsonrpc":
			versions++
		case "id":
			if ids++; LooseID(value.Bytes()) != "" {
				return false
			}
		case "result", "error":
			outcomes++
		case "method":
			return false
		}
	}
	return versions == 1 && ids < 2 && outcomes == 1
}

// withKnownID repairs the id of an answer. It can repair an id that is written in another form, and
// add an id to an error that has none. It returns the answer with the id of its request, or nil if
// it cannot repair the id, for example because two requests are possible.
func withKnownID(line []byte, p Pending) []byte {
	ids, failed := []jsonscan.Value(nil), false
	for name, value := range jsonscan.ValueOf(line).Members() {
		switch name.Text() {
		case "id":
			ids = append(ids, value)
		case "error":
			failed = true
		}
	}
	switch {
	case len(ids) == 0 && failed && p.Only != nil:
		open := slices.Index(line, '{') + 1
		return slices.Concat(line[:open], []byte(`"id":`), p.Only, []byte{','}, line[open:])
	case len(ids) != 1:
		return nil
	}
	id := p.Only
	if LooseID(ids[0].Bytes()) != "" || !failed {
		if p.Waiting == nil {
			return nil
		}
		id = p.Waiting(ids[0].Bytes())
	}
	if id == nil {
		return nil
	}
	return SplicePart(line, ids[0].Bytes(), id)
}

// withWholeCode returns a JSON-RPC error response in which a code such as 1.0 or "1" is a plain
// integer. It returns nil if there is nothing to change.
func withWholeCode(line []byte) []byte {
	code := jsonscan.ValueOf(line).Member("error").Member("code")
	if whole := LooseID(code.Bytes()); validInt([]byte(whole)) && whole != string(code) {
		return SplicePart(line, code.Bytes(), []byte(whole))
	}
	return nil
}

// LooseID returns a normalized form of an id. It exists because a server may return an id in
// another form: as a text or a number, with a fraction, leading zeros, blanks or another case. A
// server may confuse two ids with the same LooseID. It returns "" for a token that cannot be a
// request's id.
func LooseID(token []byte) string {
	id := jsonscan.ValueOf(token)
	text := string(id)
	switch id.Kind() {
	case jsonscan.String:
		text = strings.ToLower(strings.TrimSpace(id.Text()))
	case jsonscan.Number:
		text = strings.ToLower(text)
	default:
		return ""
	}
	if slices.Contains(noID, text) {
		return ""
	}
	const exactFloat = 1<<53 - 1
	n, err := strconv.ParseFloat(text, 64)
	if strings.Trim(text, "0123456789+-.e") != "" || err != nil || n != math.Trunc(n) || math.Abs(n) > exactFloat {
		return text
	}
	return strconv.FormatInt(int64(n), 10)
}

// noID lists the texts that programs write for a missing id.
var noID = []string{"null", "none", "nil", "undefined"}

// SplitArray returns the elements of an array of messages as they are written. It returns nil for
// any other line, and for an array with more elements than a batch may have.
func SplitArray(line []byte) (elements [][]byte) {
	c := jsonscan.Cursor{Src: string(line)}
	c.SkipBlanks()
	from := 0
	whole := c.Peek() == '[' && c.VisitElements(func() bool {
		from = c.At
		if !c.SkipValue() || len(elements) == maxBatch {
			return false
		}
		elements = append(elements, line[from:c.At:c.At])
		return true
	})
	if c.SkipBlanks(); !whole || c.At != len(c.Src) {
		return nil
	}
	return elements
}
