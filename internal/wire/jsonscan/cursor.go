// Package jsonscan reads JSON where it stands (RFC 8259): a Cursor goes over a text
// that may be anything and says when it is in doubt; a Value is a part of a message
// that internal/wire/frame has admitted. Neither copies anything but strings that hold escapes.
package jsonscan

import (
	"math/bits"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
)

// MaxDepth is how deep a Cursor goes into arrays and objects.
const MaxDepth = 1000

// Cursor is a place in a JSON text. Its methods move it on and report false at what is
// no JSON, or nests deeper than MaxDepth; then what was read is in doubt as a whole.
//
// They check what structure and names are made of, and the escapes of a string where it
// is read. They let pass what readers of texts do, but internal/wire/frame does not: raw control
// characters in strings, line ends between tokens, numbers such as 01 or 1.2.3, NaN.
type Cursor struct {
	Src   string
	At    int // offset in Src
	Depth int // how many arrays and objects At is inside

	// Room is where texts are unescaped to, one behind the other, if not nil: they are
	// sound for as long as nobody takes the room back.
	Room *[]byte
}

// SkipBlanks passes over white space.
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

// Peek is the next byte, 0 at the end.
func (c *Cursor) Peek() byte {
	if c.At < len(c.Src) {
		return c.Src[c.At]
	}
	return 0
}

// TakeByte passes over b, if it comes next.
func (c *Cursor) TakeByte(b byte) bool {
	if c.Peek() != b {
		return false
	}
	c.At++
	return true
}

// EnterContainer steps into the object or array that open begins; more says that something is
// in it.
func (c *Cursor) EnterContainer(open byte) (more, ok bool) {
	if c.Depth++; c.Depth > MaxDepth || !c.TakeByte(open) {
		return false, false
	}
	c.SkipBlanks()
	if c.TakeByte(open + 2) { // } after {, ] after [
		c.Depth--
		return false, true
	}
	return true, true
}

// NextItem passes over what stands behind a member or an element; more says that another
// one comes.
func (c *Cursor) NextItem(end byte) (more, ok bool) {
	c.SkipBlanks()
	if c.TakeByte(',') {
		c.SkipBlanks()
		return true, true
	}
	c.Depth--
	return false, c.TakeByte(end)
}

// VisitMembers visits the members of an object, each at its value, which visit passes over.
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

// VisitElements visits the elements of an array, which visit passes over.
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

// ReadName reads the name of a member, up to its value.
func (c *Cursor) ReadName() (string, bool) {
	name, ok := c.ReadString()
	return name, ok && c.TakeColon()
}

// TakeColon passes over what stands between a name and its value.
func (c *Cursor) TakeColon() bool {
	c.SkipBlanks()
	ok := c.TakeByte(':')
	c.SkipBlanks()
	return ok
}

// ReadString reads a string.
func (c *Cursor) ReadString() (string, bool) {
	inside, plain, ok := c.readQuoted()
	if !ok || plain || strings.IndexByte(inside, '\\') < 0 {
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

// ReadQuoted reads a string as it is written between its quotes.
func (c *Cursor) ReadQuoted() (inside string, ok bool) {
	inside, _, ok = c.readQuoted()
	return inside, ok
}

func (c *Cursor) readQuoted() (inside string, plain, ok bool) {
	if c.Peek() != '"' {
		return "", false, false
	}
	from := c.At + 1
	end, plain := closingQuote(c.Src, from)
	if end < 0 {
		return "", false, false
	}
	c.At = end + 1
	return c.Src[from:end], plain, true
}

// closingQuote gives the offset of the quote that ends the string whose inside begins at from, -1
// when there is none; plain says that surely no escape stands before it.
func closingQuote(src string, from int) (end int, plain bool) {
	at := from
	if at+8 <= len(src) { // most names end within a word
		w := firstEight(src[at:])
		quote, slash := w^each*'"', w^each*'\\'
		switch m := ((quote-each)&^quote | (slash-each)&^slash) & high; {
		case m == 0:
			at += 8
		case src[at+bits.TrailingZeros64(m)/8] == '"':
			return at + bits.TrailingZeros64(m)/8, true
		}
	}
	for {
		n := strings.IndexByte(src[at:], '"')
		if n < 0 {
			return -1, false
		}
		end := at + n
		back := end
		for back > at && src[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 { // else the last backslash escapes it
			return end, false
		}
		at = end + 1
	}
}

const each, high = 0x0101010101010101, 0x8080808080808080

func firstEight(s string) uint64 {
	s = s[:8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// ReadWord reads a number, true, false or null, or what stands where one should.
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

// SkipValue passes over one value.
func (c *Cursor) SkipValue() bool {
	switch c.Peek() {
	case '"':
		_, ok := c.ReadQuoted()
		return ok
	case '{':
		more, ok := c.EnterContainer('{')
		for more {
			if _, found := c.ReadName(); !found || !c.SkipValue() {
				return false
			}
			more, ok = c.NextItem('}')
		}
		return ok
	case '[':
		more, ok := c.EnterContainer('[')
		for more {
			if !c.SkipValue() {
				return false
			}
			more, ok = c.NextItem(']')
		}
		return ok
	}
	return isScalar(c.ReadWord())
}

// LeaveContainer moves behind the end of the array or object that At is directly in. What it
// passes over is not checked.
func (c *Cursor) LeaveContainer() bool {
	open := 1
	for at := c.At; at < len(c.Src); at++ {
		switch c.Src[at] {
		case '"':
			if at, _ = closingQuote(c.Src, at+1); at < 0 {
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

// isScalar reports whether some reader of texts takes a word for a value.
func isScalar(word string) bool {
	switch word {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	digits := strings.TrimPrefix(word, "-")
	return digits != "" && '0' <= digits[0] && digits[0] <= '9'
}
