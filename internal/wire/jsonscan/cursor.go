// Package jsonscan reads JSON in place (RFC 8259). A Cursor moves over any text and reports text
// that is not JSON. A Value is a part of a message that internal/wire/frame has admitted. Both copy
// a string only if it has escapes.
package jsonscan

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
)

// MaxDepth is the maximum nesting depth of arrays and objects for a Cursor.
const MaxDepth = 1000

// Cursor is a position in a JSON text. Its methods move it forward. They return false at text that
// is not JSON or is nested deeper than MaxDepth. Then everything that was read before may be wrong
// too.
//
// The methods check the structure, the names, and the escapes of the strings that they decode. They
// accept some text that internal/wire/frame refuses, because other readers accept it: raw control
// characters in strings, line ends between tokens, numbers such as 01 or 1.2.3, and NaN.
type Cursor struct {
	Src   string
	At    int // offset in Src
	Depth int // number of arrays and objects around the position

	// Room is the buffer for decoded strings with escapes, or nil. Strings in Room are valid until
	// the buffer is reused.
	Room *[]byte
}

// SkipBlanks moves past white space.
func (c *Cursor) SkipBlanks() {
	for c.At < len(c.Src) {
		switch c.Src[c.At] {
		case ' ', '\t', '\r', '\n':
			c.At++
		default:
			return
		}
	}
}

// Peek returns the next byte without moving, or 0 at the end.
func (c *Cursor) Peek() byte {
	if c.At < len(c.Src) {
		return c.Src[c.At]
	}
	return 0
}

// TakeByte moves past b if it is the next byte.
func (c *Cursor) TakeByte(b byte) bool {
	if c.Peek() != b {
		return false
	}
	c.At++
	return true
}

// EnterContainer moves into an object or an array. The parameter open is the first byte of the
// object or array. more reports whether the object or array has an item.
func (c *Cursor) EnterContainer(open byte) (more, ok bool) {
	if c.Depth++; c.Depth > MaxDepth || !c.TakeByte(open) {
		return false, false
	}
	c.SkipBlanks()
	if c.TakeByte(open + 2) { // in ASCII, } is { plus 2, and ] is [ plus 2
		c.Depth--
		return false, true
	}
	return true, true
}

// NextItem moves past the comma or the closing byte after a member or an element. The parameter end
// is the closing byte. more reports whether another item follows.
func (c *Cursor) NextItem(end byte) (more, ok bool) {
	c.SkipBlanks()
	if c.TakeByte(',') {
		c.SkipBlanks()
		return true, true
	}
	c.Depth--
	return false, c.TakeByte(end)
}

// VisitMembers calls visit for each member of an object, when the cursor is at the member's value.
// visit must move the cursor past the value.
func (c *Cursor) VisitMembers(visit func(name string) bool) bool {
	more, ok := c.EnterContainer('{')
	for more {
		name, found := c.ReadName()
		if !found || !visit(name) {
			return false
		}
		more, ok = c.NextItem('}')
	}
	return ok
}

// VisitElements calls visit for each element of an array. visit must move the cursor past the
// element.
func (c *Cursor) VisitElements(visit func() bool) bool {
	more, ok := c.EnterContainer('[')
	for more {
		if !visit() {
			return false
		}
		more, ok = c.NextItem(']')
	}
	return ok
}

// ReadName reads the name of a member and moves to its value.
func (c *Cursor) ReadName() (string, bool) {
	name, ok := c.ReadString()
	return name, ok && c.TakeColon()
}

// TakeColon moves past the colon between a name and its value, and past the blanks around the
// colon.
func (c *Cursor) TakeColon() bool {
	c.SkipBlanks()
	ok := c.TakeByte(':')
	c.SkipBlanks()
	return ok
}

// ReadString reads a string and returns it decoded.
func (c *Cursor) ReadString() (string, bool) {
	inside, ok := c.ReadQuoted()
	if !ok || strings.IndexByte(inside, '\\') < 0 {
		return inside, ok
	}
	var room []byte
	if c.Room != nil {
		room = *c.Room
	}
	from := len(room)
	room, ok = escape.DecodeString(room, inside)
	if c.Room != nil {
		*c.Room = room
	}
	return string(ValueOf(room[from:])), ok
}

// ReadQuoted reads a string. It returns the text between the quotes without decoding it.
func (c *Cursor) ReadQuoted() (inside string, ok bool) {
	if c.Peek() != '"' {
		return "", false
	}
	from := c.At + 1
	end := closingQuote(c.Src, from)
	if end < 0 {
		return "", false
	}
	c.At = end + 1
	return c.Src[from:end], true
}

// closingQuote returns the offset of the quote that closes a string, or -1. The parameter from is
// the offset after the opening quote.
func closingQuote(src string, from int) int {
	for at := from; ; {
		n := strings.IndexByte(src[at:], '"')
		if n < 0 {
			return -1
		}
		end := at + n
		back := end
		for back > at && src[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 { // an odd number of backslashes would escape the quote
			return end
		}
		at = end + 1
	}
}

// ReadWord reads a number, true, false or null. It also reads any other word.
func (c *Cursor) ReadWord() string {
	start := c.At
	for c.At < len(c.Src) && isWord[c.Src[c.At]] {
		c.At++
	}
	return c.Src[start:c.At]
}

var isWord = func() (t [256]bool) {
	for _, b := range "0123456789+-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		t[b] = true
	}
	return t
}()

// SkipValue moves past one value.
func (c *Cursor) SkipValue() bool {
	switch c.Peek() {
	case '"':
		_, ok := c.ReadQuoted()
		return ok
	case '{':
		return c.VisitMembers(func(string) bool { return c.SkipValue() })
	case '[':
		return c.VisitElements(c.SkipValue)
	}
	return isScalar(c.ReadWord())
}

// LeaveContainer moves past the end of the innermost array or object around the position. It does
// not check the text that it skips.
func (c *Cursor) LeaveContainer() bool {
	open := 1
	for at := c.At; at < len(c.Src); at++ {
		switch c.Src[at] {
		case '"':
			if at = closingQuote(c.Src, at+1); at < 0 {
				return false
			}
		case '{', '[':
			open++
		case '}', ']':
			if open--; open == 0 {
				c.At = at + 1
				return true
			}
		}
	}
	return false
}

// isScalar reports whether at least one JSON reader accepts the word as a value.
func isScalar(word string) bool {
	switch word {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	digits := strings.TrimPrefix(word, "-")
	return digits != "" && isDigit(digits[0])
}
