package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/where"
)

// In Postgres a.f is f(a) where a has no field f (PostgreSQL docs, 8.16.5 and
// 4.2.4). Of rows of a table that is left to their owner: a text does not show what
// columns they have. Whatever else stands before the dot is a value, and the name
// behind it a function's, unless the value is known to have such a field.

// attribute judges the name at i where it follows a dot and is not called itself.
func (s *statement) attribute(i int) {
	if s.postgres == nil || !s.is(i-1, ".") || s.is(i+1, "(") {
		return
	}
	root := i - 2
	for root >= 2 && s.named(root) && s.is(root-1, ".") {
		root -= 2
	}
	switch {
	case root < 0 || !s.named(root):
		if !s.field(i) && !s.stored(i) {
			s.applied(i)
		}
	case s.is(i+1, ".") || !s.scanned(i-2):
		// part of a longer name, or a column of a table
		if known := s.postgres.function.class(s.name(i)); known == acts && s.name(i-2) != s.postgres.schema {
			s.lower(where.Maybe)
		}
	case !s.column(i-2, s.name(i)):
		s.applied(i)
	}
}

// applied judges the name at i as a function that is called without parentheses.
func (s *statement) applied(i int) {
	switch known(s.name(i), s.postgres.function, s.postgres.prefixes) {
	case reads:
	case acts:
		s.lower(where.No)
	default:
		s.lower(where.Maybe)
	}
}

// name is the identifier at i as Postgres takes it: in lower case unless it is
// quoted. One with a quote in it is left with both, and no function's.
func (s *statement) name(i int) string {
	if s.toks[i].kind == quoted {
		return bareName(s.text(i))
	}
	return lowerASCII(s.text(i))
}

// lowerASCII leaves other letters as they are, as Postgres does.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, s)
}

// field says that the name at i is a field of the rows that the call in
// parentheses before it gives: (f(…)).name.
func (s *statement) field(i int) bool {
	if !s.is(i-2, ")") {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	call := open + 2
	return s.is(call, "(") && call+int(s.toks[call].match) == i-3 && s.hasColumn(call-1, s.name(i))
}

// stored says that the name at i is a usual field of a column in parentheses, which may
// have its table: (address).city. Postgres takes a name that is no field for a function of
// the column, so that other names are judged as functions.
func (s *statement) stored(i int) bool {
	if !s.is(i-2, ")") || s.is(i+1, ".") || !usualField(s.name(i)) {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	if open > 0 && (s.named(open-1) && !s.opens(open-1) || s.is(open-1, "]")) {
		return false // a call
	}
	for at := open + 1; ; at += 2 {
		if !s.named(at) || valueWords()[s.word(at)] || s.scanned(at) {
			return false
		}
		if at+1 == i-2 {
			return true
		}
		if !s.is(at+1, ".") {
			return false
		}
	}
}

// usualField reports whether a name has only words that fields commonly have.
func usualField(name string) bool {
	for word := range strings.SplitSeq(name, "_") {
		if !usualFields()[word] {
			return false
		}
	}
	return true
}

// hasColumn says that the function at i is known to give rows with a column.
func (s *statement) hasColumn(i int, column string) bool {
	return strings.Contains(s.postgres.columns(s.word(i)), " "+column+" ")
}

// tooManyScans bounds the tokens that are looked at for what an alias stands for.
func (s *statement) tooManyScans() bool {
	s.scans += len(s.toks)
	return s.scans > s.maxScans()
}

func (s *statement) maxScans() int { return 4096 + 8*len(s.toks) }

// scanned says that the name at i may stand for a function in a FROM.
func (s *statement) scanned(i int) bool {
	if !s.hashed {
		s.hashed = true
		for call := range s.toks {
			if alias, name := s.from(call); alias > 0 {
				s.unnamed = s.unnamed || alias == name && s.renamed(name)
				s.aliases.add(s.text(alias))
				s.aliases.add(s.text(name))
			}
		}
	}
	return s.unnamed || longName(s.text(i)) || s.aliases.has(s.text(i))
}

// column says that every function in a FROM for which the name at i may stand gives
// a column of that name.
func (s *statement) column(i int, column string) bool {
	if s.tooManyScans() || s.unnamed || longName(s.text(i)) {
		return false
	}
	for at := range s.toks {
		alias, name := s.from(at)
		if alias == 0 || !sameName(s.text(alias), s.text(i)) && !sameName(s.text(name), s.text(i)) {
			continue
		}
		if s.scalar(alias, name) && column == s.name(alias) || s.listed(alias+1, column) || s.hasColumn(name, column) {
			continue
		}
		if column == "ordinality" && (s.word(alias-1) == column || s.word(alias-2) == column) {
			continue
		}
		return false
	}
	return true
}

// renamed says that the call at i stands in a FROM without an alias, under a name that
// the server makes: CAST(x AS text) is called text, and CAST(t.a AS int) is called a.
func (s *statement) renamed(i int) bool {
	switch s.word(i) {
	case "cast", "treat", "trim":
	case "for":
		i-- // COLLATION FOR
	default:
		return false
	}
	for i--; i >= 0; i-- {
		s.scans++
		switch {
		case s.scans > s.maxScans():
			return true
		case s.is(i, "("):
			return s.word(i-1) == "from" // ROWS FROM (…)
		case s.is(i, ")"):
			i += int(s.toks[i].match)
		case s.word(i) == "from":
			return true
		case s.word(i) == "select", s.word(i) == "by":
			return false
		}
	}
	return false
}

// scalar says that the function at name, called so at alias, gives one column with the
// name of the alias: neither a list of names nor the function has others.
func (s *statement) scalar(alias, name int) bool {
	return (alias == name || !s.is(alias+1, "(")) && s.postgres.columns(s.word(name)) == "" && s.word(name) != "from"
}

// listed says that the parenthesis at i, behind an alias, holds a column's name.
func (s *statement) listed(i int, column string) bool {
	if !s.is(i, "(") {
		return false
	}
	for at, end := i+1, i+int(s.toks[i].match); at < end; at++ {
		if (s.is(at-1, "(") || s.is(at-1, ",")) && s.named(at) && s.name(at) == column {
			return true
		}
	}
	return false
}

// from returns the tokens of the alias and of the name of what may be a function in
// a FROM, where its name stands at i; the alias is zero where there is none, and the
// name itself where it has no other. It may take other calls for one, never the
// reverse.
func (s *statement) from(i int) (alias, name int) {
	next := i + 1
	switch {
	case !s.named(i) || s.is(i-1, ".") && s.valueWord(i):
		return 0, 0
	case s.valueWord(i):
	case !s.is(next, "("):
		return 0, 0
	case s.word(i) == "from" && s.word(i-1) == "rows":
		next += int(s.toks[next].match) + 1
	case s.word(i) == "for" && s.word(i-1) == "collation":
		next += int(s.toks[next].match) + 1
	case s.named(i-1) && !s.opens(i-1), s.is(i-1, ")"), s.word(i-1) == "as":
		return 0, 0 // no call, or a table's alias with its columns
	case notFunctions()[s.word(i)]:
		return 0, 0
	default:
		next += int(s.toks[next].match) + 1
		if s.word(next) == "as" && (s.is(next+1, "(") || s.word(next+1) == "materialized" || s.word(next+1) == "not") {
			return 0, 0 // a common table expression with its columns
		}
	}
	if s.word(next) == "with" && s.word(next+1) == "ordinality" {
		next += 2
	}
	if s.word(next) == "as" {
		next++
	}
	if next < len(s.toks) && s.named(next) && !notAliases()[s.word(next)] {
		return next, i
	}
	return i, i
}

// valueWord says that the word at i is a value without parentheses, which may stand
// in a FROM.
func (s *statement) valueWord(i int) bool { return valueWords()[s.word(i)] && !s.is(i+1, "(") }

// opens says that the word at i is no alias' or table's name, but what a call may
// follow.
func (s *statement) opens(i int) bool { return operandFollows()[s.word(i)] }

// sameName compares two identifiers as a server may: without quotes, without case,
// and by as much of them as it keeps.
func sameName(a, b string) bool {
	a, b = bareName(a), bareName(b)
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if foldByte(a[i]) != foldByte(b[i]) {
			return false
		}
	}
	return true
}

// maxName is how much of an identifier Postgres keeps (NAMEDATALEN - 1).
const maxName = 63

func bareName(s string) string {
	if s != "" && (s[0] == '"' || s[0] == '`' || s[0] == '[') {
		s = s[1 : len(s)-1]
	}
	return s[:min(len(s), maxName)]
}

// longName says that a server may keep less of a name than is compared, since its
// encoding takes more bytes for a letter.
func longName(s string) bool {
	if len(s) > maxName {
		return true
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return len(s) > maxName/2
		}
	}
	return false
}

// foldByte is a byte of a name, letters in lower case and all that is not ASCII
// alike: what case those have depends on the server.
func foldByte(c byte) byte {
	switch {
	case c >= utf8.RuneSelf:
		return utf8.RuneSelf
	case c >= 'A' && c <= 'Z':
		return c | 0x20
	}
	return c
}

// nameSet holds names by their hash: what it does not have was not added.
type nameSet [4]uint64

func (n *nameSet) bit(name string) (word, bit uint64) {
	h := uint64(14695981039346656037)
	name = bareName(name)
	for i := range len(name) {
		h = (h ^ uint64(foldByte(name[i]))) * 1099511628211
	}
	h ^= h >> 32
	return h >> 6 & 3, 1 << (h & 63)
}

func (n *nameSet) add(name string) {
	word, bit := n.bit(name)
	n[word] |= bit
}

func (n *nameSet) has(name string) bool {
	word, bit := n.bit(name)
	return n[word]&bit != 0
}
