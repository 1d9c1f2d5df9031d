package redact

import "unsafe"

// Span is a secret in a text: the bytes from Start to before End.
type Span struct {
	Start, End int
	Kind       string // "github", "pem"; one word
	// Named means that only the name before the value marks it as a secret; its own form does
	// not.
	Named bool
	// Placed means that its place marks it as a secret: a password in an address or of an option.
	Placed bool
}

// FindSecret returns the first secret at or after the offset from that this package would replace.
func FindSecret(text string, from int) (Span, bool) {
	return spanOf(findSecret(bytesOf(text), from))
}

// FindUnnamed returns Reading.FindUnnamed for a text that is read only once.
func FindUnnamed(text string, from int) (Span, bool) {
	r := Read(text)
	return r.FindUnnamed(from)
}

// Reading searches one text for secrets. It caches what it learns about the text and serves one
// goroutine at a time.
type Reading struct {
	inner reading
	empty bool // there is no secret in the whole text
}

// Read returns a Reading of a text.
func Read(text string) Reading { return Reading{inner: reading{s: bytesOf(text)}} }

// Find returns the first secret at or after the offset from. Another secret may begin inside this
// one and end after it.
func (r *Reading) Find(from int) (Span, bool) {
	if from == 0 && r.empty {
		return Span{}, false
	}
	return spanOf(r.inner.search(from, len(r.inner.s), true))
}

// FindUnnamed returns the first secret that its own form or its place reveals. It skips the
// values of names, because such values may be nested to the end of the text.
func (r *Reading) FindUnnamed(from int) (Span, bool) {
	at, found := r.inner.search(from, len(r.inner.s), false)
	// Find would read the same bytes and find nothing either, unless this search has left out the
	// value of a name, or has used up some of the bytes that may be read.
	r.empty = from == 0 && !found && !r.inner.named && r.inner.commands+r.inner.blocks == 0
	return spanOf(at, found)
}

// Unread returns the first place, in what was searched so far, where a secret may begin that is
// too long to read; is reports whether there is one.
func (r *Reading) Unread() (at int, is bool) { return r.inner.unread - 1, r.inner.unread > 0 }

// ReadBytes returns a Reading of a text that does not change while it is read.
func ReadBytes(text []byte) Reading { return Reading{inner: reading{s: text}} }

// NamesSecret reports whether a name, such as a column's, is that of a secret.
func NamesSecret(name string) bool { return nameSecrecy([]byte(name)) == secret }

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

func spanOf(at span, found bool) (Span, bool) {
	return Span{at.from, at.to, at.kind, at.kind == "value", at.kind == placedKind || at.kind == "basic"}, found
}
