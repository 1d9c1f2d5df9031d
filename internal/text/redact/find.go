package redact

import "unsafe"

// Span is a secret in a text: its bytes from Start to before End.
type Span struct {
	Start, End int
	Kind       string // "github", "pem"; one word
	// Named: only the name before it says that it is one; its own form does not.
	Named bool
	// Placed: the place where it stands says so: a password in an address, of an option.
	Placed bool
}

// FindSecret gives the first secret in text at or after from: what the record would not keep.
func FindSecret(text string, from int) (Span, bool) {
	return spanOf(findSecret(bytesOf(text), from))
}

// FindUnnamed gives Reading.FindUnnamed of a text that is looked at once.
func FindUnnamed(text string, from int) (Span, bool) {
	r := Read(text)
	return r.FindUnnamed(from)
}

// Reading looks for the secrets of one text. It keeps what it learnt of the text, and serves one at
// a time.
type Reading struct{ of reading }

// Read makes a reading of a text.
func Read(text string) Reading { return Reading{reading{s: bytesOf(text)}} }

// Find gives the first secret at or after from. Another may begin within it and end behind it.
func (r *Reading) Find(from int) (Span, bool) { return spanOf(r.of.search(from, len(r.of.s), true)) }

// FindUnnamed gives Find of what its own form or its place gives away: it passes over the values of
// names, which may hold one another down to the end of a text.
func (r *Reading) FindUnnamed(from int) (Span, bool) {
	return spanOf(r.of.search(from, len(r.of.s), false))
}

// Unread is the first place so far where a secret may begin that is too long to be looked for.
func (r *Reading) Unread() (at int, is bool) { return r.of.unread - 1, r.of.unread > 0 }

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

func spanOf(at span, found bool) (Span, bool) {
	return Span{at.from, at.to, at.kind, at.kind == "value", at.kind == placedKind || at.kind == "basic"}, found
}
