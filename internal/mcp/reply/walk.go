package reply

import (
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// token is a string or a number of a message.
type token struct {
	start, end int    // offsets in the message, with the quotes; end is 0 for a zero token
	said       string // the decoded text
	escaped    bool   // its written form has escapes
	number     bool
	places     places // places of the text's parts
}

// walker visits the members and elements of an admitted value.
type walker struct {
	c    jsonscan.Cursor
	base int // offset of Src in the message
	path []string
	// see gets a name, which is zero in an array, and its value, which is zero if it is neither a
	// string nor a number. It returns the name's form in the pointers of nested values; false
	// ends the walk.
	see func(name, value token) (segment string, ok bool)
	// pass reports whether a text or a number needs no search; rest is the JSON that begins with
	// its value.
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
	if leaf && value.end == 0 && name.end == 0 { // true, false, null
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

// readToken reads a string or a number; for another word it returns a zero token.
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

// formatPointer returns a place in the notation of RFC 6901.
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

// maxSegment is the maximum length, in bytes, of a name in a pointer.
const maxSegment = 64

var segments = strings.NewReplacer("~", "~0", "/", "~1")
