package policytext

import (
	"fmt"
	"strconv"
	"strings"
)

// Pair is a key and its value, both in TOML.
type Pair struct{ Key, Value string }

// StringPair returns a pair of a key and a string.
func StringPair(key, text string) Pair { return Pair{key, Quote(text)} }

// WriteRule returns a [[rule]] with one pair on each line.
func WriteRule(pairs ...Pair) string {
	var b strings.Builder
	b.WriteString("[[rule]]\n")
	for _, p := range pairs {
		b.WriteString(p.Key + " = " + p.Value + "\n")
	}
	return b.String()
}

// Quote returns a basic string on one line. It escapes characters that a reader could not see.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// QuoteAll returns the texts, each quoted by Quote.
func QuoteAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = Quote(s)
	}
	return out
}

// LiteralString returns a string in single quotes. It returns false if a character would need an
// escape.
func LiteralString(s string) (string, bool) {
	hidden := func(r rune) bool { return r == '\'' || !strconv.IsPrint(r) }
	return "'" + s + "'", !strings.ContainsFunc(s, hidden)
}

// FormatList returns a TOML list of the values on one line.
func FormatList(values []string) string { return "[" + strings.Join(values, ", ") + "]" }

// OneOrList returns a single value as it is, and several values as a list.
func OneOrList(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return FormatList(values)
}

// InlineTable returns an inline table.
func InlineTable(pairs []Pair) string {
	if len(pairs) == 0 {
		return "{}"
	}
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = p.Key + " = " + p.Value
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// DottedKey returns a dotted key. It quotes only the names that need quotes.
func DottedKey(first string, below ...string) string {
	key := keyPart(first)
	for _, name := range below {
		key += "." + keyPart(name)
	}
	return key
}

func keyPart(name string) string {
	if name != "" && strings.Trim(name, bareCharacters) == "" {
		return name
	}
	return Quote(name)
}

const bareCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
