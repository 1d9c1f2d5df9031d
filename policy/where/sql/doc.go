// Package sql decides whether a text of SQL only reads.
//
// It has a lexer of its own, because the question is not what a text says but
// what each server could take it for: where strings and comments end depends on
// the product and on settings that the text does not show. A dialect is
// therefore a set of lexical readings, and a text is read-only when every
// reading of it is. Over the tokens stands an allow-list: the statements that
// read, the words that may stand before a parenthesis, the functions without
// effect. Whatever is on no list is a Maybe.
//
// It is no grammar. A statement that a server would refuse may be a Yes, since a
// refused statement changes nothing; the reverse is what the lists are for.
package sql
