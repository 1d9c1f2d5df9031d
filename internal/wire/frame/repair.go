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

// Pending knows the requests that a line may answer. Both give the id as the request has it,
// nil for none.
type Pending interface {
	Waiting(id []byte) []byte // the one request that waits and has the LooseID of this token
	Only() []byte             // the one request that waits, where there is one
}

// RepairLine reads a line that was refused as the answer that it is once it is repaired. Only
// answers are: a request is what its sender wrote, and is never guessed at. The result is
// admitted by Parse like any other; words say what was done, for the record. ok is false
// where no repair of docs/frames.md is enough.
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
		l.MaxBytes = max(l.MaxBytes, len(line)) // what came was within them
		err := f.Parse(line, l)
		if err == nil {
			return f, words, f.Kind == Response
		}
		r, _ = errors.AsType[*Refusal](err)
	}
}

// validText gives a copy of line in which U+FFFD stands for half of a surrogate pair and for
// each byte that is no UTF-8. Both can stand in strings only.
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

// IsUnnamed reports an answer that does not say which request it is for: its id is null, or it
// has none, or what programs write for none. What has no version is a log in JSON.
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

// withKnownID gives an answer under the id of the request that it can only be for: its own id is
// written in another way, or it is an error without one. nil: there is no such request.
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
	case len(ids) == 0 && failed:
		if id := p.Only(); id != nil {
			open := slices.Index(line, '{') + 1
			return slices.Concat(line[:open], []byte(`"id":`), id, []byte{','}, line[open:])
		}
	case len(ids) == 1 && LooseID(ids[0].Bytes()) == "" && failed:
		if id := p.Only(); id != nil {
			return SplicePart(line, ids[0].Bytes(), id)
		}
	case len(ids) == 1:
		if id := p.Waiting(ids[0].Bytes()); id != nil {
			return SplicePart(line, ids[0].Bytes(), id)
		}
	}
	return nil
}

// withWholeCode gives an error whose code is a whole number that is written with a fraction, or as a
// text, with the number in its place; nil for any other.
func withWholeCode(line []byte) []byte {
	code := jsonscan.ValueOf(line).Member("error").Member("code")
	if whole := LooseID(code.Bytes()); validInt([]byte(whole)) && whole != string(code) {
		return SplicePart(line, code.Bytes(), []byte(whole))
	}
	return nil
}

// LooseID gives a request's id as a server may give it back that keeps it as something else: a text
// or a number, a fraction, leading zeros, blanks, another case. Ids of one LooseID can be the same
// to a server. It is "" for what names no request.
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

// noID are texts that programs write where they have no id.
var noID = []string{"null", "none", "nil", "undefined"}

// SplitArray gives the elements of an array of messages as they stand in it; nil for all
// else, and for more of them than a batch may have.
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
