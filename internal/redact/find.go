package redact

import "unsafe"

// Span is a secret in a text: its bytes from Start to before End.
type Span struct {
	Start, End int
	Kind       string // "github", "pem"; one word
	// Named: only the name before it says that it is one, or the place where it stands;
	// its own form does not.
	Named bool
}

// Find gives the first secret in text at or after from: what the record would not keep.
func Find(text string, from int) (Span, bool) {
	at, found := findSecret(unsafe.Slice(unsafe.StringData(text), len(text)), from)
	return Span{at.from, at.to, at.kind, at.kind == "value" || at.kind == "password"}, found
}
