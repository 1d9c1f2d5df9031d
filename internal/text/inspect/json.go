package inspect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxPlaces bounds what is found in a document, of all kinds in all of its strings.
const maxPlaces = 1 << 14

// SearchDocument gives Text of a file or a message as it is stored: where it is JSON, or holds values of
// JSON each on lines of its own, also of what their strings and names say behind their escapes.
// What is found there is the string token, with its quotes.
func SearchDocument(text string, wanted Kinds) []Found {
	found := SearchText(text, wanted)
	if !strings.Contains(text, `\`) {
		return found
	}
	const mark = "\ufeff" // of byte order
	from := len(text) - len(strings.TrimPrefix(text, mark))
	if json.Valid([]byte(text[from:])) {
		found = inStrings(found, text, from, len(text), wanted)
	} else {
		eachValue(text, from, func(start, end int) {
			if len(found) <= maxPlaces {
				found = inStrings(found, text, start, end, wanted)
			}
		})
	}
	slices.SortStableFunc(found, byPlace)
	return found
}

// eachValue visits the objects and arrays that begin a line, or behind another, and stand on
// their lines alone. No byte is read more than twice: within one that is not closed, values of
// one line count.
func eachValue(text string, from int, visit func(start, end int)) {
	c := jsonscan.Cursor{Src: text, At: from}
	tried := 0 // how far the last value reaches that is none
	for c.SkipBlanks(); c.At < len(text); c.SkipBlanks() {
		start := c.At
		line := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			line = start + n
		}
		if c.Peek() == '{' || c.Peek() == '[' {
			if start < tried {
				if json.Valid([]byte(text[start:line])) {
					visit(start, line)
				}
			} else {
				whole := c.SkipValue()
				if rest := strings.TrimLeft(text[c.At:], " \t\r"); whole && (rest == "" || strings.IndexByte("\n{[", rest[0]) >= 0) {
					visit(start, c.At)
					continue
				}
				tried, c.Depth = c.At, 0
			}
		}
		c.At = line
	}
}

// inStrings adds what is found behind the escapes of the strings from one place to another.
func inStrings(found []Found, text string, from, until int, wanted Kinds) []Found {
	for at := from; at < until; {
		n := strings.IndexByte(text[at:until], '"')
		if n < 0 {
			break
		}
		c := jsonscan.Cursor{Src: text, At: at + n}
		start := c.At
		said, ok := c.ReadString()
		if !ok {
			break
		}
		at = c.At
		if len(said) == at-start-len(`""`) { // without escapes: seen above
			continue
		}
		for _, f := range SearchText(said, wanted) {
			found = append(found, Found{Kind: f.Kind, What: f.What, Start: start, End: at, Of: f.Of})
		}
		if len(found) > maxPlaces {
			found = append(found, Found{Kind: Unscreened, What: "behind too many findings", Start: start, End: len(text)})
			break
		}
	}
	return found
}
