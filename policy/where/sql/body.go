package sql

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// body judges tokens i to end, which stand inside a query: nothing in it may
// write, lock or call what is not known to be without effect.
func (s *statement) body(i, end int) {
	for ; i < end; i++ {
		t := &s.toks[i]
		switch {
		case t.kind == word:
			s.bare(i)
			s.attribute(i)
			s.rows(i)
		case t.kind == quoted:
			s.attribute(i)
			s.rows(i)
		case t.kind == text:
			s.rows(i)
		case s.is(i, "("):
			s.call(i)
			closing := i + int(t.match)
			if s.is(i+1, "(") || !queries()[s.word(i+1)] || s.word(i+1) == "values" && !s.is(i+2, "(") {
				s.body(i+1, closing)
			} else {
				s.query(i+1, closing)
			}
			i = closing
		case t.kind == param:
			s.variable(i)
		case s.is(i, ":=") && s.postgres == nil:
			s.lower(where.Maybe) // a user variable of MySQL is set
		case t.kind == mark:
			s.operator(i)
		}
	}
}

// bare judges the bare word at i.
func (s *statement) bare(i int) {
	w := s.word(i)
	if s.effects[w] {
		s.lower(where.No)
	}
	if s.is(i-1, ".") {
		return
	}
	switch next := s.word(i + 1); {
	case w == "replace" && s.is(i+1, "("), w == "insert" && s.is(i+1, "(") && s.function(w) == reads:
	case s.never[w], s.starts(i):
		s.lower(where.No)
	case w == "for" && locks()[next], w == "lock" && next == "in", w == "next" && next == "value":
		s.lower(where.No)
	case s.hints[w]:
		s.lower(where.Maybe)
	case w == "select" && !s.joins(i-1):
		s.lower(where.Maybe)
	}
}

// rows judges the name at i where it stands for rows: one that is a function's in
// SQLite is called, with and without arguments, in quotes and in strings.
func (s *statement) rows(i int) {
	var name string
	switch s.toks[i].kind {
	case word:
		name = s.word(i)
	case text:
		if !s.source(i) {
			return
		}
		fallthrough
	default:
		name = strings.ToLower(s.text(i)[1 : len(s.text(i))-1])
	}
	switch s.notTable(name) {
	case acts:
		s.lower(where.No)
	case doubt:
		s.lower(where.Maybe)
	}
}

// source says that a name may stand at i for rows: in a FROM, perhaps in
// parentheses or with its schema, or behind IN.
func (s *statement) source(i int) bool {
	for s.is(i-1, "(") {
		i--
	}
	before := s.word(i - 1)
	return before == "from" || before == "join" || before == "in" && !s.is(i, "(") || s.is(i-1, ",") || s.is(i-1, ".")
}

// operatorBytes are what operators of Postgres are made of (its docs, 4.1.3).
const operatorBytes = "+-*/<>=~!@#%^&|`?"

// operator judges the operator that begins at i: one that Postgres does not bring
// calls a function of somebody's.
func (s *statement) operator(i int) {
	if s.postgres == nil || !s.operates(i) || s.operates(i-1) && s.toks[i-1].end == s.toks[i].start {
		return
	}
	end := i + 1
	for end < len(s.toks) && s.operates(end) && s.toks[end].start == s.toks[end-1].end {
		end++
	}
	op := s.src[s.toks[i].start:s.toks[end-1].end]
	if !strings.ContainsAny(op, "~!@#%^&|`?") {
		for len(op) > 1 && (op[len(op)-1] == '+' || op[len(op)-1] == '-') {
			op = op[:len(op)-1]
		}
	}
	if !s.postgres.operator(op) && !otherOperators()[op] {
		s.lower(where.Maybe)
	}
}

func (s *statement) operates(i int) bool {
	return i >= 0 && s.toks[i].kind == mark && strings.IndexByte(operatorBytes, s.src[s.toks[i].start]) >= 0
}

// joins says that the word at i may stand before the SELECT that a set operation
// adds.
func (s *statement) joins(i int) bool {
	switch s.word(i) {
	case "union", "intersect", "except", "minus":
		return true
	case "all", "distinct":
		return s.joins(i - 1)
	}
	return false
}

// starts says that a new statement may begin at i in a dialect that needs no
// semicolon between two. None begins where an operand has to follow: behind AS, a
// comma, an opening parenthesis or an operator, of which * may be none.
func (s *statement) starts(i int) bool {
	if !s.splits || s.word(i-1) == "as" {
		return false
	}
	if s.toks[i-1].kind == mark && strings.Contains("(,.=<>+-/%|", s.text(i-1)) {
		return false
	}
	w := s.word(i)
	follower, ok := starters()[w]
	return ok && (follower == "" || s.word(i+1) == follower)
}

// variable judges the parameter at i, which T-SQL's SELECT may assign to.
func (s *statement) variable(i int) {
	if s.text(i)[0] != '@' || !s.splits {
		return
	}
	behind := i + 1
	if behind < len(s.toks) && s.toks[behind].kind == mark && strings.ContainsAny(s.text(behind), "+-*/%&|^") {
		behind++
	}
	if !s.is(behind, "=") {
		return
	}
	switch s.word(i - 1) {
	case "where", "and", "or", "on", "not", "when", "having":
	default:
		s.lower(where.Maybe)
	}
}

// call judges the parenthesis at i by what stands before it. The word that begins
// a statement is never part of a body, so there always is something.
func (s *statement) call(i int) {
	t := &s.toks[i-1]
	switch {
	case t.kind == mark || t.kind == number:
		return
	case s.word(i-2) == "as":
		return // an alias with its columns, or a type with its length
	case s.names(i) && (s.is(i-2, ")") && s.gaveRows(i-2) || s.aliased(i-1)):
		return // an alias with its columns
	case s.word(i-2) == "tablesample" && (s.word(i-1) == "system" || s.word(i-1) == "bernoulli"):
		return
	case t.kind != word:
		s.lower(where.Maybe)
		return
	}
	w := s.word(i - 1)
	known := s.function(w)
	switch {
	case known == acts:
		s.lower(where.No)
	case s.is(i-2, "."):
		if s.inSchema(s.word(i-3), w) != reads || s.is(i-4, ".") {
			s.lower(where.Maybe)
		}
	case known == reads:
	case w == "operator" && s.postgres != nil:
		s.namedOperator(i)
	case !s.keywords[w] || s.callable[w] && !s.clause(i-1) && (!queries()[s.word(i+1)] || s.word(i+1) == "values"):
		s.lower(where.Maybe)
	}
}

// namedOperator judges OPERATOR(schema.op), the parenthesis of which stands at i.
func (s *statement) namedOperator(i int) {
	if s.word(i+1) != s.postgres.schema || !s.is(i+2, ".") || !s.operates(i+3) {
		s.lower(where.Maybe)
	}
}

// clause says that the keyword at i, after which a function may be named, is none
// where it stands.
func (s *statement) clause(i int) bool {
	w, at := s.word(i), i-1
	if infix()[w] && s.word(at) == "not" {
		at--
	}
	before := s.word(at)
	switch {
	case at < 0:
		return false
	case before == "" && s.is(at, ")"):
		open := at + int(s.toks[at].match)
		return !(s.word(open-1) == "on" && s.word(open-2) == "distinct") && s.word(open-1) != "operator" // DISTINCT ON (…)
	case before == "":
		return s.toks[at].kind != mark || s.is(at, "]") || s.is(at, "::")
	case infix()[w]:
		return !operandFollows()[before]
	}
	switch w {
	case "by":
		return before == "group" || before == "order" || before == "partition"
	case "cube", "rollup":
		if before == "all" || before == "distinct" {
			at--
		}
		return s.postgres != nil && s.word(at) == "by" && s.word(at-1) == "group"
	case "for":
		return before == "collation"
	case "of":
		return before == "member"
	case "second":
		return before == "to" && (s.word(at-1) == "day" || s.word(at-1) == "hour" || s.word(at-1) == "minute")
	case "sets":
		return before == "grouping"
	case "varying":
		return before == "bit" || before == "char" || before == "character"
	}
	return false
}

// aliased says that the name at i stands directly behind that of a table in a FROM.
func (s *statement) aliased(i int) bool {
	table := s.word(i - 1)
	if table == "" || s.keywords[table] || operandFollows()[table] || s.keywords[s.word(i)] {
		return false
	}
	before := s.word(i - 2)
	return before == "from" || before == "join"
}

// gaveRows says that the parenthesis closed at i is a table of a FROM: a subquery,
// or a function's call. DISTINCT ON (…) and TOP (…) are followed by expressions.
func (s *statement) gaveRows(i int) bool {
	open := i + int(s.toks[i].match)
	if before := s.word(open - 1); before != "" {
		return s.function(before) == reads || before == "from" || before == "join" || before == "lateral" || before == "apply"
	}
	return s.is(open-1, ",")
}
