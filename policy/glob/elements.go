package glob

import "unicode/utf8"

// Kind is the kind of one element of a pattern.
type Kind uint8

// The kinds of elements. The kinds that match one character come first.
const (
	Literal Kind = iota // the character itself
	One                 // any one character: ?
	Star                // any run of characters but "/": *
	Deep                // any run of characters: ** or more stars
)

// Element is one step of a pattern. Analyses build their automata from elements.
type Element struct {
	Kind Kind
	Rune rune // the character; only of a Literal
}

// ParseElements returns the elements of a valid pattern, from left to right.
func ParseElements(pattern string) []Element {
	elements := make([]Element, 0, len(pattern))
	for i := 0; i < len(pattern); {
		r, size := utf8.DecodeRuneInString(pattern[i:])
		e := Element{Kind: Literal, Rune: r}
		switch n := countStars(pattern[i:]); {
		case n > 1:
			e, size = Element{Kind: Deep}, n
		case n == 1:
			e = Element{Kind: Star}
		case r == '?':
			e = Element{Kind: One}
		}
		elements = append(elements, e)
		i += size
	}
	return elements
}
