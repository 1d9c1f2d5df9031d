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

// Blanks passes over white space.
func (c *Cursor) Blanks() {
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

// Take passes over b, if it comes next.
func (c *Cursor) Take(b byte) bool {
	if c.Peek() != b {
		return false
	}
	c.At++
	return true
}

// Enter steps into the object or array that open begins; more says that something is
// in it.
func (c *Cursor) Enter(open byte) (more, ok bool) {
	if c.Depth++; c.Depth > MaxDepth || !c.Take(open) {
		return false, false
	}
	c.Blanks()
	if c.Take(open + 2) { // } after {, ] after [
		c.Depth--
		return false, true
	}
	return true, true
}

// After passes over what stands behind a member or an element; more says that another
// one comes.
func (c *Cursor) After(end byte) (more, ok bool) {
	c.Blanks()
	if c.Take(',') {
		c.Blanks()
		return true, true
	}
	c.Depth--
	return false, c.Take(end)
}

// Members visits the members of an object, each at its value, which visit passes over.
func (c *Cursor) Members(visit func(name string) bool) bool {
	more, ok := c.Enter('{')
	for more {
		name, found := c.Name()
		if !found || !visit(name) {
			return false
		}
		more, ok = c.After('}')
	}
	return ok
}

// Elements visits the elements of an array, which visit passes over.
func (c *Cursor) Elements(visit func() bool) bool {
	more, ok := c.Enter('[')
	for more {
		if !visit() {
			return false
		}
		more, ok = c.After(']')
	}
	return ok
}

// Name reads the name of a member, up to its value.
func (c *Cursor) Name() (string, bool) {
	name, ok := c.Text()
	return name, ok && c.Colon()
}

// Colon passes over what stands between a name and its value.
func (c *Cursor) Colon() bool {
	c.Blanks()
	ok := c.Take(':')
	c.Blanks()
	return ok
}

// Text reads a string.
func (c *Cursor) Text() (string, bool) {
	inside, plain, ok := c.quoted()
	if !ok || plain || strings.IndexByte(inside, '\\') < 0 {
		return inside, ok
	}
	var room []byte
	if c.Room != nil {
		room = *c.Room
	}
	from := len(room)
	room, ok = escape.Decode(room, inside)
	if c.Room != nil {
		*c.Room = room
	}
	return string(Of(room[from:])), ok
}

// Quoted reads a string as it is written between its quotes.
func (c *Cursor) Quoted() (inside string, ok bool) {
	inside, _, ok = c.quoted()
	return inside, ok
}

func (c *Cursor) quoted() (inside string, plain, ok bool) {
	if c.Peek() != '"' {
		return "", false, false
	}
	from := c.At + 1
	end, plain := closing(c.Src, from)
	if end < 0 {
		return "", false, false
	}
	c.At = end + 1
	return c.Src[from:end], plain, true
}

// closing is the offset of the quote that ends the string whose inside begins at from, -1
// when there is none; plain says that surely no escape stands before it.
func closing(src string, from int) (end int, plain bool) {
	at := from
	if at+8 <= len(src) { // most names end within a word
		w := first8(src[at:])
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

func first8(s string) uint64 {
	s = s[:8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Word reads a number, true, false or null, or what stands where one should.
func (c *Cursor) Word() string {
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

// Skip passes over one value.
func (c *Cursor) Skip() bool {
	switch c.Peek() {
	case '"':
		_, ok := c.Quoted()
		return ok
	case '{':
		more, ok := c.Enter('{')
		for more {
			if _, found := c.Name(); !found || !c.Skip() {
				return false
			}
			more, ok = c.After('}')
		}
		return ok
	case '[':
		more, ok := c.Enter('[')
		for more {
			if !c.Skip() {
				return false
			}
			more, ok = c.After(']')
		}
		return ok
	}
	return isScalar(c.Word())
}

// Leave moves behind the end of the array or object that At is directly in. What it
// passes over is not checked.
func (c *Cursor) Leave() bool {
	open := 1
	for at := c.At; at < len(c.Src); at++ {
		switch c.Src[at] {
		case '"':
			if at, _ = closing(c.Src, at+1); at < 0 {
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

// isScalar says whether some reader of texts takes a word for a value.
func isScalar(word string) bool {
	switch word {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	digits := strings.TrimPrefix(word, "-")
	return digits != "" && '0' <= digits[0] && digits[0] <= '9'
}
