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
	at, found := findSecret(unsafe.Slice(unsafe.StringData(text), len(text)), from)
	return Span{at.from, at.to, at.kind, at.kind == "value", at.kind == placedKind || at.kind == "basic"}, found
}
