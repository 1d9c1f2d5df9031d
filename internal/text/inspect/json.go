package inspect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxPlaces is the maximum number of findings in a document.
const maxPlaces = 1 << 14

// SearchDocument is SearchText for a stored file or message. If the text is JSON, or has JSON
// values on lines of their own, it also searches the decoded strings and names. A finding in such a
// string covers the whole string with its quotes.
func SearchDocument(text string, wanted Kinds) []Found {
	found := SearchText(text, wanted)
	if !strings.Contains(text, `\`) {
		return found
	}
	const mark = "\ufeff" // a byte order mark
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
	return dropRepeats(found, text)
}

// dropRepeats removes a finding in escaped text if the same kind was also found in the unescaped form
// of the string that contains it. The findings are sorted by place.
func dropRepeats(found []Found, text string) []Found {
	tokens := map[Kind]int{} // by kind: the end of the last string with a finding of this kind
	return slices.DeleteFunc(found, func(f Found) bool {
		if text[f.Start] == '"' {
			tokens[f.Kind] = max(tokens[f.Kind], f.End)
			return false
		}
		return f.End < tokens[f.Kind] && strings.Contains(text[f.Start:f.End], `\`)
	})
}

// eachValue visits the JSON objects and arrays in a text. A value must begin a line or follow
// another value, and its lines must contain only values. No byte is read more than twice: if a
// value has no end, eachValue searches it only for values of one line.
func eachValue(text string, from int, visit func(start, end int)) {
	c := jsonscan.Cursor{Src: text, At: from}
	tried := 0 // end of the last text that was tried and is no value
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
				if !whole && IsCutOff(text[start:], c.At-start) {
					visit(start, len(text))
					return
				}
				tried, c.Depth = c.At, 0
			}
		}
		c.At = line
	}
}

// IsCutOff reports whether value looks like a JSON object or array whose end is missing. value[:at]
// is the part that a JSON reader accepted; it must have a member. The rest may only have blanks and
// a string without an end.
func IsCutOff(value string, at int) bool {
	at += len(value[at:]) - len(strings.TrimLeft(value[at:], " \t\r\n"))
	if at < len(value) && (value[at] != '"' || hasEnd(value, at)) {
		return false
	}
	return strings.Contains(value[:at], `":`) || strings.Contains(value[:at], `" :`)
}

// hasEnd reports whether the JSON string that begins at text[at] has a closing quote.
func hasEnd(text string, at int) bool {
	c := jsonscan.Cursor{Src: text, At: at}
	_, ok := c.ReadQuoted()
	return ok
}

// CutEscape returns the length of a JSON string whose end is missing, without the incomplete escape
// at its end, if there is one. The text begins with the quote of the string, because a backslash
// before the string belongs to no escape of the string.
func CutEscape(text string) int {
	const longest = `\ud83d\ude00`
	end := len(text)
	for last := strings.LastIndexByte(text, '\\'); last >= 0 && end-last < len(longest); last = strings.LastIndexByte(text[:end], '\\') {
		c := jsonscan.Cursor{Src: `"` + text[last:end] + `"`}
		if last > 0 && text[last-1] == '\\' {
			return end
		}
		if _, ok := c.ReadString(); ok {
			return end
		}
		end = last
	}
	return end
}

// inStrings adds the findings in the decoded strings of text[from:until].
func inStrings(found []Found, text string, from, until int, wanted Kinds) []Found {
	for at := from; at < until; {
		n := strings.IndexByte(text[at:until], '"')
		if n < 0 {
			break
		}
		c := jsonscan.Cursor{Src: text, At: at + n}
		start := c.At
		said, ok := c.ReadString()
		if !ok && until == len(text) && !hasEnd(text, start) { // the end of the string was cut off
			rest := jsonscan.Cursor{Src: text[start:start+CutEscape(text[start:])] + `"`}
			said, ok = rest.ReadString()
			c.At = len(text) + 1 // treat the string as if its closing quote were there
		}
		if !ok {
			break
		}
		at = c.At
		if len(said) == at-start-len(`""`) { // the string has no escapes, so it was searched already
			continue
		}
		for _, f := range SearchText(said, wanted) {
			found = append(found, Found{Kind: f.Kind, What: f.What, Start: start, End: min(at, len(text)), Of: f.Of})
		}
		if len(found) > maxPlaces {
			found = append(found, Found{Kind: Unscreened, What: "behind too many findings", Start: start, End: len(text)})
			break
		}
	}
	return found
}
