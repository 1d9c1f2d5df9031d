package sql

// kind is the lexical class of a token.
type kind uint8

const (
	word   kind = iota // a bare keyword or identifier
	quoted             // an identifier in quotes
	text               // a string
	number
	param // $1, :name, @name, @@name
	mark  // one character of punctuation or of an operator, or one of := and ::
)

// token is a piece of the text, given by its position.
type token struct {
	kind       kind
	start, end int32
	// match is the distance, in tokens, from a parenthesis to its partner; zero for every other
	// token.
	match int32
}

// maxDepth is the largest nesting of parentheses. It also limits every recursion in this package.
const maxDepth = 100

// pairParens matches the parentheses of one statement. It returns a flaw if they are not balanced
// or are nested too deep.
func pairParens(src string, toks []token) flaw {
	var open []int
	for i := range toks {
		if toks[i].kind != mark {
			continue
		}
		switch src[toks[i].start] {
		case '(':
			if len(open) == maxDepth {
				return doubtful
			}
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return broken
			}
			o := open[len(open)-1]
			open = open[:len(open)-1]
			toks[o].match, toks[i].match = int32(i-o), int32(o-i)
		}
	}
	if len(open) > 0 {
		return broken
	}
	return sound
}
