package reply

import (
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// token is a string or a number in a message.
type token struct {
	start, end int    // offsets in the message, with the quotes; end is 0 in a zero token
	said       string // the decoded text
	escaped    bool   // the written string has escapes
	number     bool
	places     places // where parts of the text are written
}

// walker visits the members and elements of a value.
type walker struct {
	c    jsonscan.Cursor
	base int // offset of c.Src in the message
	path []string
	// see gets a name and its value. The name is zero in an array. The value is zero if it is
	// neither a string nor a number. see returns the form of the name for the pointers of nested
	// values. If see returns false, the walk ends.
	see func(name, value token) (segment string, ok bool)
	// pass reports whether a text or a number need not be searched. rest is the JSON that begins
	// with the value.
	pass func(path []string, name, rest string) bool
}

func (w *walker) walkValue() bool {
	switch w.c.Peek() {
	case '{':
		more, ok := w.c.EnterContainer('{')
		for more {
			if !w.walkMember() {
				return false
			}
			more, ok = w.c.NextItem('}')
		}
		return ok
	case '[':
		n := 0
		return w.c.VisitElements(func() bool {
			n++
			return w.visitValue(token{}, strconv.Itoa(n-1))
		})
	}
	return w.c.SkipValue()
}

// walkMember visits the next member of an object.
func (w *walker) walkMember() bool {
	name, ok := w.readToken()
	if !ok || !w.c.TakeColon() {
		return false
	}
	if next := w.c.Peek(); next != '{' && next != '[' && w.pass(w.path, name.said, w.c.Src[w.c.At:]) {
		return w.c.SkipValue()
	}
	return w.visitValue(name, "")
}

func (w *walker) visitValue(name token, segment string) bool {
	var value token
	leaf := w.c.Peek() != '{' && w.c.Peek() != '['
	if leaf {
		var sound bool
		if value, sound = w.readToken(); !sound {
			return false
		}
	}
	if leaf && value.end == 0 && name.end == 0 { // true, false and null in an array are not visited
		return true
	}
	w.path = append(w.path, segment)
	seg, ok := w.see(name, value)
	if name.end > 0 {
		w.path[len(w.path)-1] = seg
	}
	if ok && !leaf {
		ok = w.walkValue()
	}
	w.path = w.path[:len(w.path)-1]
	return ok
}

// readToken reads a string or a number. For any other word it returns a zero token.
func (w *walker) readToken() (t token, ok bool) {
	from := w.c.At
	if w.c.Peek() == '"' {
		t.said, ok = w.c.ReadString()
		t.start, t.end = w.base+from, w.base+w.c.At
		t.escaped = len(t.said) != w.c.At-from-len(`""`)
		return t, ok
	}
	word := w.c.ReadWord()
	if word != "" && (word[0] == '-' || '0' <= word[0] && word[0] <= '9') {
		t = token{start: w.base + from, end: w.base + w.c.At, said: word, number: true}
	}
	return t, word != ""
}

// formatPointer returns a place as a JSON pointer (RFC 6901).
func formatPointer(root string, path []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, s := range path {
		b.WriteByte('/')
		if len(s) > maxSegment {
			s = "*"
		}
		_, _ = segments.WriteString(&b, s)
	}
	return b.String()
}

// maxSegment is the maximum length in bytes of a name in a pointer. A longer name becomes *.
const maxSegment = 64

var segments = strings.NewReplacer("~", "~0", "/", "~1")
