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
			s.attribute(i, s.word(i))
		case t.kind == quoted:
			s.attribute(i, strings.Trim(s.text(i), "\"`[]"))
		case s.is(i, "("):
			s.call(i)
			closing := i + int(t.match)
			if s.is(i+1, "(") || !queries[s.word(i+1)] || s.word(i+1) == "values" && !s.is(i+2, "(") {
				s.body(i+1, closing)
			} else {
				s.query(i+1, closing)
			}
			i = closing
		case t.kind == param:
			s.variable(i)
		case s.is(i, ":="):
			s.lower(where.Maybe) // a user variable of MySQL is set
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
	case w == "replace" && s.is(i+1, "("), w == "insert" && s.is(i+1, "(") && s.functions[w]:
	case s.never[w], s.starts(i):
		s.lower(where.No)
	case w == "for" && locks[next], w == "lock" && next == "in", w == "next" && next == "value":
		s.lower(where.No)
	case s.hints[w]:
		s.lower(where.Maybe)
	case w == "select" && !s.joins(i-1):
		s.lower(where.Maybe)
	}
}

// attribute judges the name at i where it follows a dot: in Postgres a.f is f(a)
// where a has no column f, and a may be what unnest gives (PostgreSQL docs, 8.16.5
// and 4.2.4). In a FROM it is a table's name. Of U&"..." the name is not read.
func (s *statement) attribute(i int, name string) {
	escaped := s.is(i-1, "&") && s.word(i-2) == "u"
	if !s.attributes || !s.is(i-1, ".") && !escaped || s.is(i+1, "(") {
		return
	}
	if before := s.word(i - 3); before == "from" || before == "join" || s.is(i-3, ".") && (s.word(i-5) == "from" || s.word(i-5) == "join") {
		return
	}
	if escaped && strings.Contains(name, `\`) || s.dangerous(name) {
		s.lower(where.Maybe)
	}
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
	follower, ok := starters[w]
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
	case s.is(i-2, ")") && s.names(i) && s.source(i-2):
		return // an alias with its columns
	case t.kind != word:
		s.lower(where.Maybe)
		return
	}
	switch w := s.word(i - 1); {
	case s.dangerous(w):
		s.lower(where.No)
	case s.is(i-2, "."):
		if !s.qualified[s.word(i-3)+"."+w] && (s.word(i-3) != "pg_catalog" || !s.catalog[w]) || s.is(i-4, ".") {
			s.lower(where.Maybe)
		}
	case !s.keywords[w] && !s.functions[w]:
		s.lower(where.Maybe)
	}
}

// source says that the parenthesis closed at i is a table of a FROM: a subquery,
// or a function's call. DISTINCT ON (…) and TOP (…) are followed by expressions.
func (s *statement) source(i int) bool {
	open := i + int(s.toks[i].match)
	if before := s.word(open - 1); before != "" {
		return s.functions[before] || before == "from" || before == "join" || before == "lateral" || before == "apply"
	}
	return s.is(open-1, ",")
}

// dangerous says that a function of that name writes, waits, locks, or reaches
// files or the network.
func (s *statement) dangerous(w string) bool {
	if s.refused[w] {
		return true
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(w, p) {
			return !s.functions[w]
		}
	}
	return false
}
