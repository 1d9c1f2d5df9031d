package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/where"
)

// Some servers parse JSON out of a text: the Python SDK's FastMCP does so (since 1.2, in
// pre_parse_json) wherever a tool's parameter is not a plain string, for models that send a list as
// "[...]". So the policy judges a text that holds a JSON array or object (RFC 8259) as a value, and
// also everything in that JSON. A server finds nothing in an empty list or a null, so these add no
// value.

// holdsJSON reports whether a text could be an array or an object.
func holdsJSON(s string) bool {
	if n := len(s); n < 2 || ' ' < s[n-1] && s[n-1] < utf8.RuneSelf && s[n-1] != ']' && s[n-1] != '}' {
		return false // most texts end here: their last byte cannot end an array or object
	}
	s = trimJSON(s)
	return len(s) > 1 && (s[0] == '[' && s[len(s)-1] == ']' || s[0] == '{' && s[len(s)-1] == '}')
}

// trimJSON removes the blanks around JSON: the blanks of RFC 8259, and more that programs trim
// before they parse.
func trimJSON(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// readEmbedded reads the array or object that a text holds. If the text does not hold valid JSON,
// readEmbedded adds no values. readEmbedded returns false if there are too many values or they nest
// too deeply.
func (sc *scanner) readEmbedded(text string, read func() bool) bool {
	outer, before := *sc, len(sc.values)
	sc.Src, sc.At = trimJSON(text), 0
	if sc.within == "" {
		sc.within = text
	}
	whole := read() && sc.At == len(sc.Src)
	if sc.Depth > jsonscan.MaxDepth || len(sc.values) > maxValues {
		return false
	}
	if !whole {
		sc.values = sc.values[:before]
	}
	sc.Cursor, sc.within = outer.Cursor, outer.within
	return true
}

// embeddedMember does for a text what readMember does for an object. A server that parses the text
// as JSON may find the members that conditions name there. A server that does not parse the text
// finds no members.
func (sc *scanner) embeddedMember(n *argNames) bool {
	text, ok := sc.ReadString()
	if !ok || !holdsJSON(text) {
		return ok
	}
	before := len(sc.values)
	if !sc.readEmbedded(text, func() bool { return sc.readMember(n.withoutConditions()) }) {
		return false
	}
	if len(sc.values) > before {
		for _, k := range n.flat {
			k.addAbsent(sc)
		}
	}
	return true
}

// textAsked is the cache key of matchesJSONText. It holds the address of the text and not the text,
// because the text may be long and each of the many values in the text asks the same question.
type textAsked struct {
	about *condition
	text  *byte
	size  int
}

// matchesJSONText reports whether a condition is about JSON texts and matches the text that holds a
// value. Then the condition matches the value too: the policy's author has decided about the whole
// text, so the values in the text need no separate rule.
func (v *view) matchesJSONText(c *condition, text string) bool {
	q := textAsked{c, unsafe.StringData(text), len(text)}
	v.left.Spend(askEffort)
	answer, known := v.spelled[q]
	if known {
		return answer
	}
	if c.typed != nil {
		answer = c.typed.spells && c.typed.askConstraint(where.Value{Kind: where.String, Text: text}, Allow, &v.left) == where.Yes
	}
	for _, p := range c.patterns {
		answer = answer || p.spells && p.asWritten.matchText(text, &v.left)
	}
	if v.spelled == nil {
		v.spelled = map[textAsked]bool{}
	}
	v.spelled[q] = answer
	return answer
}
