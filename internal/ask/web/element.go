package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
)

// Element is a part of a view. The server sends it as a tree of names and texts, and the page makes
// elements and text nodes from the tree. So a text never becomes markup. All texts are made
// harmless when they are sent.
type Element struct {
	tag        string
	attributes map[string]string
	children   []any // each is an *Element or a string
}

// NewElement returns an element with children. Each child is a string or an *Element; empty strings
// and nil elements are left out. tag must be an element that view.js knows.
func NewElement(tag string, children ...any) *Element {
	return (&Element{tag: tag}).Add(children...)
}

// Add adds children, which NewElement describes.
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

// Set sets an attribute. name must be an attribute that view.js knows.
func (e *Element) Set(name, value string) *Element {
	if e.attributes == nil {
		e.attributes = map[string]string{}
	}
	e.attributes[name] = value
	return e
}

// maxElementText is the maximum number of bytes of one text.
const maxElementText = 4096

// harmlessText returns a text made harmless. A text that is too long is cut and ends with an
// ellipsis.
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

// MarshalJSON returns the element as a JSON list: [tag, attributes, child, ...].
func (e *Element) MarshalJSON() ([]byte, error) { return e.appendJSON(nil), nil }

// appendJSON writes the whole tree at once, because encoding/json would read the texts of a child
// again for each of its parents.
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

// appendText writes a text as a JSON string, made harmless.
func appendText(dst []byte, s string) []byte {
	quoted, err := json.Marshal(harmlessText(s))
	if err != nil { // cannot happen, because a string can always be encoded
		quoted = []byte(`""`)
	}
	return append(dst, quoted...)
}

// Walk calls the function in the parameter each for the element and for everything inside it. The
// texts are in the form in which they are sent.
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

// Elements and attributes that the page can make. view.js has the same lists.
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

// isKnown reports whether the page can make this element with its attributes.
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
