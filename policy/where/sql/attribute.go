package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/where"
)

// In Postgres a.f means f(a) if a has no field f (PostgreSQL docs, 8.16.5 and 4.2.4). If a is a row
// of a table, the text does not show the columns, so this package trusts the owner of the table. In
// every other case, the part before the dot is a value. Then the name after the dot counts as a
// function, unless the value is known to have such a field.

// judgeAttribute judges the name at i if the name follows a dot and no parenthesis follows the
// name.
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
		// The name is part of a longer name, or a column of a table.
		if known := s.postgres.function.classOf(s.nameAt(i)); known == acts && s.nameAt(i-2) != s.postgres.schema {
			s.lowerVerdict(where.Maybe)
		}
	case !s.givesColumn(i-2, s.nameAt(i)):
		s.judgeApplied(i)
	}
}

// judgeApplied judges the name at i as a function that the text calls without parentheses.
func (s *statement) judgeApplied(i int) {
	switch classifyName(s.nameAt(i), s.postgres.function, s.postgres.prefixes) {
	case reads:
	case acts:
		s.lowerVerdict(where.No)
	default:
		s.lowerVerdict(where.Maybe)
	}
}

// nameAt returns the identifier at i as Postgres reads it: in lower case unless it is quoted. If an
// identifier contains a doubled quote, nameAt keeps both quotes, so that the result is no
// function's name.
func (s *statement) nameAt(i int) string {
	if s.toks[i].kind == quoted {
		return bareName(s.textAt(i))
	}
	return lowerASCII(s.textAt(i))
}

// lowerASCII changes ASCII capitals to small letters and no other letters, as Postgres does.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, s)
}

// isField reports whether the name at i is a field in the result of a call in parentheses:
// (f(…)).name.
func (s *statement) isField(i int) bool {
	if !s.isMark(i-2, ")") {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	call := open + 2
	return s.isMark(call, "(") && call+int(s.toks[call].match) == i-3 && s.hasColumn(call-1, s.nameAt(i))
}

// isStoredField reports whether the name at i is a usual field of a column in
// parentheses, with or without its table: (address).city. Postgres reads a name that
// is not a field as a function of the column, so other names are judged as functions.
func (s *statement) isStoredField(i int) bool {
	if !s.isMark(i-2, ")") || s.isMark(i+1, ".") || !usualField(s.nameAt(i)) {
		return false
	}
	open := i - 2 + int(s.toks[i-2].match)
	if open > 0 && (s.isName(open-1) && !s.precedesCall(open-1) || s.isMark(open-1, "]")) {
		return false // the parenthesis belongs to a call
	}
	for at := open + 1; ; at += 2 {
		if !s.isName(at) || s.isConstant(at) || valueWords()[s.wordAt(at)] || s.mayNameFunction(at) {
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

// usualField reports whether all words in a name are words of usualFields, which are common in
// field names.
func usualField(name string) bool {
	for word := range strings.SplitSeq(name, "_") {
		if !usualFields()[word] {
			return false
		}
	}
	return true
}

// hasColumn reports whether the function at i is known to return rows that have the given column.
func (s *statement) hasColumn(i int, column string) bool {
	return strings.Contains(s.postgres.columns(s.wordAt(i)), " "+column+" ")
}

// tooManyScans counts the tokens that were searched for aliases. It reports whether there are too
// many.
func (s *statement) tooManyScans() bool {
	s.scans += len(s.toks)
	return s.scans > s.maxScans()
}

func (s *statement) maxScans() int { return 4096 + 8*len(s.toks) }

// mayNameFunction reports whether the name at i may be a function in a FROM, or an alias of one.
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

// givesColumn reports whether the name at i can only mean functions in a FROM that return the given
// column.
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

// hasServerName reports whether the call at i is in a FROM and has no alias. Then the server
// chooses the name: CAST(x AS text) gets the name text, and CAST(t.a AS int) gets the name a.
func (s *statement) hasServerName(i int) bool {
	switch s.wordAt(i) {
	case "cast", "treat", "trim":
	case "for":
		i-- // skip the word of COLLATION FOR
	default:
		return false
	}
	for i--; i >= 0; i-- {
		s.scans++
		switch {
		case s.scans > s.maxScans():
			return true
		case s.isMark(i, "("):
			return s.wordAt(i-1) == "from" // the call is in ROWS FROM (…)
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

// givesOneColumn reports whether a function returns one column with the name of its alias. alias
// and name are the indexes of the alias and of the function's name. givesOneColumn returns false if
// a list of names, or the function itself, gives other columns.
func (s *statement) givesOneColumn(alias, name int) bool {
	return (alias == name || !s.isMark(alias+1, "(")) && s.postgres.columns(s.wordAt(name)) == "" && s.wordAt(name) != "from"
}

// listsColumn reports whether the parenthesis at i, after an alias, contains a
// column's name.
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

// findAlias looks for a function in a FROM; the name of the function is at i. It returns the tokens
// of the function's alias and name. alias is zero if there is no such function, and equals name if
// the function has no alias. findAlias may also accept other calls, but it never misses a function.
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
		return 0, 0 // this is not a call, or it is a table's alias with its columns
	case notFunctions()[s.wordAt(i)]:
		return 0, 0
	default:
		next += int(s.toks[next].match) + 1
		if s.wordAt(next) == "as" && (s.isMark(next+1, "(") || s.wordAt(next+1) == "materialized" || s.wordAt(next+1) == "not") {
			return 0, 0 // this is a common table expression with its columns
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

// valueWord reports whether the word at i is a value that has no parentheses and may be in a FROM.
func (s *statement) valueWord(i int) bool { return valueWords()[s.wordAt(i)] && !s.isMark(i+1, "(") }

// precedesCall reports whether a call may follow the word at i, so that this word is
// not the name of an alias or a table.
func (s *statement) precedesCall(i int) bool { return operandFollows()[s.wordAt(i)] }

// sameName reports whether a server may see two identifiers as equal: it ignores
// quotes, case, and the part that the server cuts off.
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

// maxName is the largest length of an identifier in bytes; Postgres cuts off the rest (NAMEDATALEN
// - 1).
const maxName = 63

func bareName(s string) string {
	if s != "" && (s[0] == '"' || s[0] == '`' || s[0] == '[') {
		s = s[1 : len(s)-1]
	}
	return s[:min(len(s), maxName)]
}

// longName reports whether a server may keep a shorter part of a name than sameName compares. This
// is so if the server's encoding needs more bytes for a letter.
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

// foldByte returns a byte of a name with ASCII letters in lower case. All bytes beyond
// ASCII become equal, because their case depends on the server.
func foldByte(c byte) byte {
	switch {
	case c >= utf8.RuneSelf:
		return utf8.RuneSelf
	case c >= 'A' && c <= 'Z':
		return c | 0x20
	}
	return c
}

// nameSet is a set of names, stored by hash. If the set does not contain a name, the name was
// certainly never added. If the set seems to contain a name, it may contain another name with the
// same hash.
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
