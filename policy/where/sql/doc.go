// Package sql decides whether an SQL text only reads.
//
// It has its own lexer, because the question is how each server could read the text:
// where strings and comments end depends on the product and on settings that the text
// does not show. A dialect is therefore a set of lexical readings, and a text is
// read-only when every reading of it is. The tokens are checked against allow-lists:
// the statements that read, the words that may precede a parenthesis, the functions
// without effect. Anything that is on no list is a Maybe.
//
// The package is not a grammar. A statement that a server would refuse may be a Yes,
// because a refused statement changes nothing. The lists prevent the opposite: a Yes
// for a statement that writes.
package sql
