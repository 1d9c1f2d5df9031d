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

// judgeAttribute judges the name at i where it follows a dot and is not called itself.
func (s *statement) judgeAttribute(i int) {
	if s.postgres == nil || !s.isMark(i-1, ".") || s.isMark(i+1, "(") {
		return
	}
	root := i - 2
	for root >= 2 && s.isName(root) && s.isMark(root-1, ".") {
		root -= 2
	}
	switch {
	case root < 0 || !s.isName(root):
		if !s.isField(i) && !s.isStoredField(i) {
			s.judgeApplied(i)
		}
	case s.isMark(i+1, ".") || !s.mayNameFunction(i-2):
		// part of a longer name, or a column of a table
		if known := s.postgres.function.classOf(s.nameAt(i)); known == acts && s.nameAt(i-2) != s.postgres.schema {
			s.lowerVerdict(where.Maybe)
		}
	case !s.givesColumn(i-2, s.nameAt(i)):
		s.judgeApplied(i)
	}
}

// judgeApplied judges the name at i as a function that is called without parentheses.
func (s *statement) judgeApplied(i int) {
	switch classifyName(s.nameAt(i), s.postgres.function, s.postgres.prefixes) {
	case reads:
	case acts:
		s.lowerVerdict(where.No)
	default:
		s.lowerVerdict(where.Maybe)
	}
}

// nameAt gives the identifier at i as Postgres takes it: in lower case unless it is
// quoted. One with a quote in it is left with both, and no function's.
func (s *statement) nameAt(i int) string {
	if s.toks[i].kind == quoted {
		return bareName(s.textAt(i))
	}
	return lowerASCII(s.textAt(i))
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

// isField says that the name at i is a field of the rows that the call in
// parentheses before it gives: (f(…)).name.
func (s *statement) isField(i int) bool {
	if !s.isMark(i-2, ")") {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	call := open + 2
	return s.isMark(call, "(") && call+int(s.toks[call].match) == i-3 && s.hasColumn(call-1, s.nameAt(i))
}

// isStoredField says that the name at i is a usual field of a column in parentheses, which may
// have its table: (address).city. Postgres takes a name that is no field for a function of
// the column, so that other names are judged as functions.
func (s *statement) isStoredField(i int) bool {
	if !s.isMark(i-2, ")") || s.isMark(i+1, ".") || !usualField(s.nameAt(i)) {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	if open > 0 && (s.isName(open-1) && !s.precedesCall(open-1) || s.isMark(open-1, "]")) {
		return false // a call
	}
	for at := open + 1; ; at += 2 {
		if !s.isName(at) || valueWords()[s.wordAt(at)] || s.mayNameFunction(at) {
			return false
		}
		if at+1 == i-2 {
			return true
		}
		if !s.isMark(at+1, ".") {
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
	return strings.Contains(s.postgres.columns(s.wordAt(i)), " "+column+" ")
}

// tooManyScans bounds the tokens that are looked at for what an alias stands for.
func (s *statement) tooManyScans() bool {
	s.scans += len(s.toks)
	return s.scans > s.maxScans()
}

func (s *statement) maxScans() int { return 4096 + 8*len(s.toks) }

// mayNameFunction says that the name at i may stand for a function in a FROM.
func (s *statement) mayNameFunction(i int) bool {
	if !s.hashed {
		s.hashed = true
		for call := range s.toks {
			if alias, name := s.findAlias(call); alias > 0 {
				s.unnamed = s.unnamed || alias == name && s.hasServerName(name)
				s.aliases.addName(s.textAt(alias))
				s.aliases.addName(s.textAt(name))
			}
		}
	}
	return s.unnamed || longName(s.textAt(i)) || s.aliases.mayContain(s.textAt(i))
}

// givesColumn says that every function in a FROM for which the name at i may stand gives
// a column of that name.
func (s *statement) givesColumn(i int, column string) bool {
	if s.tooManyScans() || s.unnamed || longName(s.textAt(i)) {
		return false
	}
	for at := range s.toks {
		alias, name := s.findAlias(at)
		if alias == 0 || !sameName(s.textAt(alias), s.textAt(i)) && !sameName(s.textAt(name), s.textAt(i)) {
			continue
		}
		if s.givesOneColumn(alias, name) && column == s.nameAt(alias) || s.listsColumn(alias+1, column) || s.hasColumn(name, column) {
			continue
		}
		if column == "ordinality" && (s.wordAt(alias-1) == column || s.wordAt(alias-2) == column) {
			continue
		}
		return false
	}
	return true
}

// hasServerName says that the call at i stands in a FROM without an alias, under a name that
// the server makes: CAST(x AS text) is called text, and CAST(t.a AS int) is called a.
func (s *statement) hasServerName(i int) bool {
	switch s.wordAt(i) {
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
		case s.isMark(i, "("):
			return s.wordAt(i-1) == "from" // ROWS FROM (…)
		case s.isMark(i, ")"):
			i += int(s.toks[i].match)
		case s.wordAt(i) == "from":
			return true
		case s.wordAt(i) == "select", s.wordAt(i) == "by":
			return false
		}
	}
	return false
}

// givesOneColumn says that the function at name, called so at alias, gives one column with the
// name of the alias: neither a list of names nor the function has others.
func (s *statement) givesOneColumn(alias, name int) bool {
	return (alias == name || !s.isMark(alias+1, "(")) && s.postgres.columns(s.wordAt(name)) == "" && s.wordAt(name) != "from"
}

// listsColumn says that the parenthesis at i, behind an alias, holds a column's name.
func (s *statement) listsColumn(i int, column string) bool {
	if !s.isMark(i, "(") {
		return false
	}
	for at, end := i+1, i+int(s.toks[i].match); at < end; at++ {
		if (s.isMark(at-1, "(") || s.isMark(at-1, ",")) && s.isName(at) && s.nameAt(at) == column {
			return true
		}
	}
	return false
}

// findAlias returns the tokens of the alias and of the name of what may be a function in
// a FROM, where its name stands at i; the alias is zero where there is none, and the
// name itself where it has no other. It may take other calls for one, never the
// reverse.
func (s *statement) findAlias(i int) (alias, name int) {
	next := i + 1
	switch {
	case !s.isName(i) || s.isMark(i-1, ".") && s.valueWord(i):
		return 0, 0
	case s.valueWord(i):
	case !s.isMark(next, "("):
		return 0, 0
	case s.wordAt(i) == "from" && s.wordAt(i-1) == "rows":
		next += int(s.toks[next].match) + 1
	case s.wordAt(i) == "for" && s.wordAt(i-1) == "collation":
		next += int(s.toks[next].match) + 1
	case s.isName(i-1) && !s.precedesCall(i-1), s.isMark(i-1, ")"), s.wordAt(i-1) == "as":
		return 0, 0 // no call, or a table's alias with its columns
	case notFunctions()[s.wordAt(i)]:
		return 0, 0
	default:
		next += int(s.toks[next].match) + 1
		if s.wordAt(next) == "as" && (s.isMark(next+1, "(") || s.wordAt(next+1) == "materialized" || s.wordAt(next+1) == "not") {
			return 0, 0 // a common table expression with its columns
		}
	}
	if s.wordAt(next) == "with" && s.wordAt(next+1) == "ordinality" {
		next += 2
	}
	if s.wordAt(next) == "as" {
		next++
	}
	if next < len(s.toks) && s.isName(next) && !notAliases()[s.wordAt(next)] {
		return next, i
	}
	return i, i
}

// valueWord says that the word at i is a value without parentheses, which may stand
// in a FROM.
func (s *statement) valueWord(i int) bool { return valueWords()[s.wordAt(i)] && !s.isMark(i+1, "(") }

// precedesCall says that the word at i is no alias' or table's name, but what a call may
// follow.
func (s *statement) precedesCall(i int) bool { return operandFollows()[s.wordAt(i)] }

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

// foldByte gives a byte of a name, letters in lower case and all that is not ASCII
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

func (n *nameSet) hashBit(name string) (word, bit uint64) {
	h := uint64(14695981039346656037)
	name = bareName(name)
	for i := range len(name) {
		h = (h ^ uint64(foldByte(name[i]))) * 1099511628211
	}
	h ^= h >> 32
	return h >> 6 & 3, 1 << (h & 63)
}

func (n *nameSet) addName(name string) {
	word, bit := n.hashBit(name)
	n[word] |= bit
}

func (n *nameSet) mayContain(name string) bool {
	word, bit := n.hashBit(name)
	return n[word]&bit != 0
}
