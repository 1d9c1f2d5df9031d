// Package sql decides whether an SQL text only reads.
//
// The package has its own lexer, because it must know all ways in which a server could read the
// text. The ends of strings and comments depend on the product and on settings that the text does
// not show. So a dialect is a set of lexical readings, and a text is read-only if it is read-only
// in every reading. The package compares the tokens with allow-lists: the statements that read, the
// words that may precede a parenthesis, the functions without effect. For a token that is on no
// list the answer is Maybe.
//
// The package is not a grammar. The answer may be Yes for a statement that a server would refuse,
// because a refused statement changes nothing. The lists prevent the opposite: a Yes for a
// statement that writes.
package sql
