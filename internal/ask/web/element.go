package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
)

// Element is a part of a view. It is sent as a tree of names and texts, and the page makes elements
// and text nodes of it: no text ever becomes markup. All texts are made harmless when they are sent.
type Element struct {
	tag        string
	attributes map[string]string
	children   []any // *Element or string
}

// NewElement returns an element with children, each of them a string or an *Element; a nil *Element
// and an empty string are left out. tag is one of those that view.js knows.
func NewElement(tag string, children ...any) *Element {
	return (&Element{tag: tag}).Add(children...)
}

// Add adds children as NewElement takes them.
func (e *Element) Add(children ...any) *Element {
	for _, child := range children {
		switch is := child.(type) {
		case *Element:
			if is != nil {
				e.children = append(e.children, is)
			}
		case string:
			if is != "" {
				e.children = append(e.children, is)
			}
		}
	}
	return e
}

// Set sets an attribute, one of those that view.js knows.
func (e *Element) Set(name, value string) *Element {
	if e.attributes == nil {
		e.attributes = map[string]string{}
	}
	e.attributes[name] = value
	return e
}

// maxElementText is how many bytes of one text are sent.
const maxElementText = 4096

// harmlessText returns a text as the page may show it. A text that ends with an ellipsis was cut.
func harmlessText(s string) string {
	s, wasCut := strings.CutSuffix(s, "…")
	if len(s) > maxElementText {
		cut := maxElementText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s, wasCut = s[:cut], true
	}
	if wasCut {
		return term.VisibleText(s) + "…"
	}
	return term.VisibleText(s)
}

// MarshalJSON returns the tree: [tag, attributes, child, ...].
func (e *Element) MarshalJSON() ([]byte, error) { return e.appendJSON(nil), nil }

// appendJSON writes the whole tree at once: encoding/json would read the text of a child again for
// each of its parents.
func (e *Element) appendJSON(dst []byte) []byte {
	dst = append(appendText(append(dst, '['), e.tag), ",{"...)
	for i, name := range slices.Sorted(maps.Keys(e.attributes)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(appendText(dst, name), ':'), e.attributes[name])
	}
	dst = append(dst, '}')
	for _, child := range e.children {
		dst = append(dst, ',')
		switch is := child.(type) {
		case *Element:
			dst = is.appendJSON(dst)
		case string:
			dst = appendText(dst, is)
		}
	}
	return append(dst, ']')
}

// appendText writes a text as the page may show it.
func appendText(dst []byte, s string) []byte {
	quoted, err := json.Marshal(harmlessText(s))
	if err != nil { // a string always can be written
		quoted = []byte(`""`)
	}
	return append(dst, quoted...)
}

// Walk calls each with the element and all below it, and with every text as it is sent.
func (e *Element) Walk(each func(tag, text string, attributes map[string]string)) {
	each(e.tag, "", e.attributes)
	for _, child := range e.children {
		switch is := child.(type) {
		case *Element:
			is.Walk(each)
		case string:
			each("", harmlessText(is), nil)
		}
	}
}

// Names of elements and attributes that the page makes. view.js has the same.
var (
	viewTags = []string{
		"a", "button", "code", "dd", "details", "div", "dl", "dt", "form", "h2", "h3", "input", "label", "li", "ol", "option", "p",
		"section", "select", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "time", "tr", "ul",
		"svg", "g", "rect", "path", "circle", "line", "title",
	}
	viewAttributes = []string{
		"aria-current", "aria-hidden", "aria-label", "class", "colspan", "d", "datetime", "for", "height", "href", "id", "name", "open",
		"placeholder", "preserveAspectRatio", "r", "role", "scope", "selected", "tabindex", "type", "value", "viewBox", "width", "x", "y", "cx", "cy",
	}
)

// isKnown reports whether the page makes this element with its attributes.
func (e *Element) isKnown() (known bool) {
	known = true
	e.Walk(func(tag, _ string, attributes map[string]string) {
		known = known && (tag == "" || slices.Contains(viewTags, tag))
		for name := range attributes {
			known = known && slices.Contains(viewAttributes, name)
		}
	})
	return known
}
