package sql

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// statement is one statement under judgement.
type statement struct {
	*dialect
	src  string
	toks []token
	// worst is the least verdict of what was seen so far.
	worst where.Verdict
	// postgres is set where what looks like a column may call a function.
	postgres *catalog
	// aliases are the names that functions in a FROM may have, once hashed; scans are
	// the tokens that were searched for what they stand for.
	aliases nameSet
	hashed  bool
	scans   int
	// unnamed is set where such a function has a name that the text does not show.
	unnamed bool
}

// statement judges the tokens of one statement.
func (d *dialect) statement(l *lexis, src string, toks []token, opens bool) where.Verdict {
	if f := pair(src, toks); f != sound {
		return f.verdict(opens)
	}
	s := &statement{dialect: d, src: src, toks: toks, worst: where.Yes}
	if l.attributes {
		s.postgres = &postgresCatalog
	}
	s.begin()
	if !opens && s.worst == where.No && d.splits && s.hidesQuery() {
		// What follows the writing part may be a statement of its own.
		return where.Maybe
	}
	return s.worst
}

// lower limits the verdict to v.
func (s *statement) lower(v where.Verdict) { s.worst = min(s.worst, v) }

// word is the bare word at i in lower case, empty where there is none.
func (s *statement) word(i int) string {
	if i < 0 || i >= len(s.toks) || s.toks[i].kind != word {
		return ""
	}
	return strings.ToLower(s.text(i))
}

func (s *statement) text(i int) string { return s.src[s.toks[i].start:s.toks[i].end] }

// is says that the mark m stands at i.
func (s *statement) is(i int, m string) bool {
	return i >= 0 && i < len(s.toks) && s.toks[i].kind == mark && s.text(i) == m
}

// named says that an identifier stands at i.
func (s *statement) named(i int) bool {
	return i >= 0 && i < len(s.toks) && (s.toks[i].kind == word || s.toks[i].kind == quoted)
}

// begin judges the statement by the word that it begins with.
func (s *statement) begin() {
	head := s.word(0)
	switch {
	case s.is(0, "("), queries()[head] && s.heads[head]:
		s.query(0, len(s.toks))
	case !s.heads[head]:
		s.stranger(0)
	case head == "explain" || head == "describe" || head == "desc":
		s.explain(1)
	case head == "pragma":
		s.pragma(1)
	case head == "show":
		s.show(1)
	}
}

// stranger judges a statement that is none of those that read.
func (s *statement) stranger(i int) {
	if s.writers[s.word(i)] {
		s.lower(where.No)
	}
	s.lower(where.Maybe)
}

// query judges tokens i to end as a query: SELECT, VALUES or TABLE, perhaps in
// parentheses, perhaps behind WITH.
func (s *statement) query(i, end int) {
	if s.word(i) == "with" {
		if i = s.with(i+1, end); i < 0 {
			s.lower(where.Maybe)
			return
		}
	}
	switch head := s.word(i); {
	case i >= end:
		s.lower(where.Maybe)
	case s.is(i, "("):
		s.query(i+1, i+int(s.toks[i].match))
		s.body(i+1+int(s.toks[i].match), end)
	case head == "table" && (i+1 >= end || !s.named(i+1)):
		s.lower(where.Maybe)
	case head == "select" && i+1 >= end:
		s.lower(where.Maybe)
	case head != "with" && queries()[head]:
		s.body(i+1, end)
	default:
		s.stranger(i)
	}
}

// with judges the common table expressions from i and returns where the query
// that has them begins, or -1 where they are not of the usual form.
func (s *statement) with(i, end int) int {
	if s.word(i) == "recursive" {
		i++
	}
	for i < end && s.named(i) {
		i++
		if s.is(i, "(") && s.names(i) {
			i += int(s.toks[i].match) + 1
		}
		if s.word(i) != "as" {
			return -1
		}
		i++
		if s.word(i) == "not" {
			i++
		}
		if s.word(i) == "materialized" {
			i++
		}
		if i >= end || !s.is(i, "(") {
			return -1
		}
		closing := i + int(s.toks[i].match)
		s.query(i+1, closing)
		i = s.cycle(s.search(closing + 1))
		if !s.is(i, ",") {
			return i
		}
		i++
	}
	return -1
}

// search returns where Postgres' SEARCH clause at i ends, or i.
func (s *statement) search(i int) int {
	if s.postgres == nil || s.word(i) != "search" || s.word(i+1) != "depth" && s.word(i+1) != "breadth" ||
		s.word(i+2) != "first" || s.word(i+3) != "by" {
		return i
	}
	if end := s.list(i + 4); s.word(end) == "set" && s.named(end+1) {
		return end + 2
	}
	return i
}

// cycle returns where Postgres' CYCLE clause at i ends, or i.
func (s *statement) cycle(i int) int {
	if s.postgres == nil || s.word(i) != "cycle" {
		return i
	}
	end := s.list(i + 1)
	if s.word(end) != "set" || !s.named(end+1) {
		return i
	}
	end += 2
	if s.word(end) == "to" && s.constant(end+1) && s.word(end+2) == "default" && s.constant(end+3) {
		end += 4
	}
	if s.word(end) == "using" && s.named(end+1) {
		return end + 2
	}
	return i
}

// list returns where the names from i, with commas between them, end.
func (s *statement) list(i int) int {
	for s.named(i) && s.is(i+1, ",") {
		i += 2
	}
	return i + 1
}

// constant says that a constant stands at i.
func (s *statement) constant(i int) bool {
	if i < len(s.toks) && (s.toks[i].kind == text || s.toks[i].kind == number) {
		return true
	}
	w := s.word(i)
	return w == "true" || w == "false" || w == "null"
}

// names says that the parenthesis at i holds nothing but identifiers and commas.
func (s *statement) names(i int) bool {
	for end := i + int(s.toks[i].match); i < end; i += 2 {
		if !s.named(i+1) || !s.is(i+2, ",") && i+2 != end {
			return false
		}
	}
	return true
}

// explain judges what is explained like the statement itself, since EXPLAIN
// ANALYZE executes it.
func (s *statement) explain(i int) {
	if s.is(i, "(") && !queries()[s.word(i+1)] && !s.is(i+1, "(") {
		closing := i + int(s.toks[i].match)
		for i++; i < closing; i++ {
			if w := s.word(i); w != "" && !explainOptions()[w] || s.toks[i].kind == mark && !s.is(i, ",") {
				s.lower(where.Maybe)
			}
		}
		i++
	}
	for {
		switch s.word(i) {
		case "analyze", "verbose", "extended", "partitions":
			i++
			continue
		case "query":
			if s.word(i+1) == "plan" {
				i += 2
				continue
			}
		case "format":
			if s.is(i+1, "=") {
				i += 3
				continue
			}
		}
		break
	}
	if i < len(s.toks) && (s.is(i, "(") || queries()[s.word(i)]) {
		s.query(i, len(s.toks))
		return
	}
	s.described(i)
}

// described judges the name of a table, and perhaps of a column, that MySQL's
// DESCRIBE takes.
func (s *statement) described(i int) {
	if !s.heads["describe"] || !s.named(i) || s.writers[s.word(i)] || s.never[s.word(i)] || i != 1 {
		s.stranger(i)
		return
	}
	for i++; s.is(i, ".") && s.named(i+1); {
		i += 2
	}
	if i < len(s.toks) && (s.named(i) && !s.never[s.word(i)] && !s.starts(i) || s.toks[i].kind == text) {
		i++
	}
	if i < len(s.toks) {
		s.lower(where.Maybe)
	}
}

// show judges SHOW, every form of which reads. The word CREATE is part of some.
func (s *statement) show(i int) {
	if i >= len(s.toks) {
		s.lower(where.Maybe)
	}
	if s.word(i) == "create" && !s.splits {
		i++
	}
	s.body(i, len(s.toks))
}

// pragma judges SQLite's PRAGMA. Setting one, with = or in parentheses, is never
// reading; an argument is only for those that look something up.
func (s *statement) pragma(i int) {
	if s.is(i+1, ".") && s.named(i) {
		i += 2
	}
	n := s.word(i)
	switch rest := s.toks[min(i+1, len(s.toks)):]; {
	case len(rest) == 0 && (pragmasRead()[n] || pragmasLookUp()[n]):
	case len(rest) == 3 && s.is(i+1, "(") && pragmasLookUp()[n] && s.toks[i+2].kind != mark:
	case len(rest) > 0 && !pragmasLookUp()[n]:
		s.lower(where.No)
	default:
		s.lower(where.Maybe)
	}
}

// hidesQuery says that a query may begin behind the first word.
func (s *statement) hidesQuery() bool {
	for i := 1; i < len(s.toks); i++ {
		if s.heads[s.word(i)] {
			return true
		}
	}
	return s.heads[s.word(0)]
}
