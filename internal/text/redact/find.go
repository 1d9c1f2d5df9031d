package redact

import "unsafe"

// Span is the place of a secret in a text: text[Start:End].
type Span struct {
	Start, End int
	Kind       string // one word for the kind of secret, such as "github" or "pem"
	// Named means that the secret was recognized only by the name before it; the value itself has
	// no form of a secret.
	Named bool
	// Placed means that the secret was recognized by its place: a password in an address, or the
	// value of an option.
	Placed bool
}

// FindSecret returns the first secret at or after the given offset.
func FindSecret(text string, from int) (Span, bool) {
	return spanOf(findSecret(bytesOf(text), from))
}

// FindUnnamed does the work of Reading.FindUnnamed for a text that is searched only once.
func FindUnnamed(text string, from int) (Span, bool) {
	r := Read(text)
	return r.FindUnnamed(from)
}

// Reading searches one text for secrets. It remembers facts about the text between calls. Only one
// goroutine may use it at a time.
type Reading struct {
	inner reading
	empty bool // the whole text has no secret
}

// Read returns a Reading of a text.
func Read(text string) Reading { return Reading{inner: reading{s: bytesOf(text)}} }

// Find returns the first secret at or after the given offset. Another secret may begin inside the
// returned one and end after it.
func (r *Reading) Find(from int) (Span, bool) {
	if from == 0 && r.empty {
		return Span{}, false
	}
	return spanOf(r.inner.search(from, len(r.inner.s), true))
}

// FindUnnamed returns the first secret that is recognized by its own form or place. It skips values
// that only a name marks as a secret, because such a value may contain others up to the end of the
// text.
func (r *Reading) FindUnnamed(from int) (Span, bool) {
	at, found := r.inner.search(from, len(r.inner.s), false)
	// If this search found nothing in the whole text, Find finds nothing either, with two
	// exceptions: this search has left out a value of a name, or it has read bytes that count
	// against a limit.
	r.empty = from == 0 && !found && !r.inner.named && r.inner.commands+r.inner.blocks == 0
	return spanOf(at, found)
}

// Unread returns the first place of the searched text at which a secret may begin, if the secret
// would be too long to read. The second result reports whether there is such a place.
func (r *Reading) Unread() (at int, is bool) { return r.inner.unread - 1, r.inner.unread > 0 }

// ReadBytes returns a Reading of a text. The text must not change while the Reading is used.
func ReadBytes(text []byte) Reading { return Reading{inner: reading{s: text}} }

// NamesSecret reports whether a name, such as the name of a column, is the name of a secret.
func NamesSecret(name string) bool { return nameSecrecy([]byte(name)) == secret }

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

func spanOf(at span, found bool) (Span, bool) {
	return Span{at.from, at.to, at.kind, at.kind == "value", at.kind == placedKind || at.kind == "basic"}, found
}
