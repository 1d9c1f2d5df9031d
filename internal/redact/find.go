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

// Find gives the first secret in text at or after from: what the record would not keep.
func Find(text string, from int) (Span, bool) {
	return spanOf(findSecret(unsafe.Slice(unsafe.StringData(text), len(text)), from))
}

// FindUnnamed is Find of what its own form or its place gives away: it passes over the values of
// names, which may hold one another down to the end of a text.
func FindUnnamed(text string, from int) (Span, bool) {
	return spanOf(search(unsafe.Slice(unsafe.StringData(text), len(text)), from, false))
}

func spanOf(at span, found bool) (Span, bool) {
	return Span{at.from, at.to, at.kind, at.kind == "value", at.kind == placedKind || at.kind == "basic"}, found
}
