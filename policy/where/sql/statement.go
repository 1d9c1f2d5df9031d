package sql

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// statement is one statement while it is judged. The arguments i and other positions of its methods
// are indexes in toks.
type statement struct {
	*dialect
	src  string
	toks []token
	// worst is the lowest verdict so far: No is lower than Maybe, and Maybe is lower than Yes.
	worst where.Match
	// postgres is not nil if a name that looks like a column may call a function.
	postgres *catalog
	// aliases are the possible names of functions in a FROM. hashed means that aliases has been
	// filled. scans counts the tokens that were searched for aliases.
	aliases nameSet
	hashed  bool
	scans   int
	// unnamed means that the server chooses the name of a function in a FROM, so the text does not
	// show this name.
	unnamed bool
}

// judgeStatement judges the tokens of one statement.
func (d *dialect) judgeStatement(l *lexis, src string, toks []token, opens bool) where.Match {
	if f := pairParens(src, toks); f != sound {
		return f.toVerdict(opens)
	}
	s := &statement{dialect: d, src: src, toks: toks, worst: where.Yes}
	if l.attributes {
		s.postgres = &postgresCatalog
	}
	s.judgeHead()
	if !opens && s.worst == where.No && d.splits && s.hidesQuery() {
		// The rest after the part that writes may be a separate statement.
		return where.Maybe
	}
	return s.worst
}

// lowerVerdict lowers the verdict to v if it is higher.
func (s *statement) lowerVerdict(v where.Match) { s.worst = min(s.worst, v) }

// wordAt returns the bare word at i in lower case, or "".
func (s *statement) wordAt(i int) string {
	if i < 0 || i >= len(s.toks) || s.toks[i].kind != word {
		return ""
	}
	return strings.ToLower(s.textAt(i))
}

func (s *statement) textAt(i int) string { return s.src[s.toks[i].start:s.toks[i].end] }

// isMark reports whether the mark m is at i.
func (s *statement) isMark(i int, m string) bool {
	return i >= 0 && i < len(s.toks) && s.toks[i].kind == mark && s.textAt(i) == m
}

// isName reports whether an identifier is at i.
func (s *statement) isName(i int) bool {
	return i >= 0 && i < len(s.toks) && (s.toks[i].kind == word || s.toks[i].kind == quoted)
}

// judgeHead judges the statement by its first word.
func (s *statement) judgeHead() {
	head := s.wordAt(0)
	switch {
	case s.isMark(0, "("), queries()[head] && s.heads[head]:
		s.judgeQuery(0, len(s.toks))
	case !s.heads[head]:
		s.rejectStatement(0)
	case head == "explain" || head == "describe" || head == "desc":
		s.judgeExplain(1)
	case head == "pragma":
		s.judgePragma(1)
	case head == "show":
		s.judgeShow(1)
	}
}

// rejectStatement judges a statement that does not begin like one that only reads.
func (s *statement) rejectStatement(i int) {
	if s.writers[s.wordAt(i)] {
		s.lowerVerdict(where.No)
	}
	s.lowerVerdict(where.Maybe)
}

// judgeQuery judges the tokens with the indexes from i to end-1 as a query: SELECT, VALUES or
// TABLE. The query may be in parentheses or after WITH.
func (s *statement) judgeQuery(i, end int) {
	if s.wordAt(i) == "with" {
		if i = s.judgeWith(i+1, end); i < 0 {
			s.lowerVerdict(where.Maybe)
			return
		}
	}
	switch head := s.wordAt(i); {
	case i >= end:
		s.lowerVerdict(where.Maybe)
	case s.isMark(i, "("):
		s.judgeQuery(i+1, i+int(s.toks[i].match))
		s.judgeBody(i+1+int(s.toks[i].match), end)
	case head == "table" && (i+1 >= end || !s.isName(i+1)):
		s.lowerVerdict(where.Maybe)
	case head == "select" && i+1 >= end:
		s.lowerVerdict(where.Maybe)
	case head != "with" && queries()[head]:
		s.judgeBody(i+1, end)
	default:
		s.rejectStatement(i)
	}
}

// judgeWith judges the common table expressions at i. It returns the index where their query
// begins, or -1 if they do not have the usual form.
func (s *statement) judgeWith(i, end int) int {
	if s.wordAt(i) == "recursive" {
		i++
	}
	for i < end && s.isName(i) {
		i++
		if s.isMark(i, "(") && s.hasOnlyNames(i) {
			i += int(s.toks[i].match) + 1
		}
		if s.wordAt(i) != "as" {
			return -1
		}
		i++
		if s.wordAt(i) == "not" {
			i++
		}
		if s.wordAt(i) == "materialized" {
			i++
		}
		if i >= end || !s.isMark(i, "(") {
			return -1
		}
		closing := i + int(s.toks[i].match)
		s.judgeQuery(i+1, closing)
		i = s.skipCycle(s.skipSearch(closing + 1))
		if !s.isMark(i, ",") {
			return i
		}
		i++
	}
	return -1
}

// skipSearch returns the index after Postgres' SEARCH clause at i, or i if there is no such clause.
func (s *statement) skipSearch(i int) int {
	if s.postgres == nil || s.wordAt(i) != "search" || s.wordAt(i+1) != "depth" && s.wordAt(i+1) != "breadth" ||
		s.wordAt(i+2) != "first" || s.wordAt(i+3) != "by" {
		return i
	}
	if end := s.skipNames(i + 4); s.wordAt(end) == "set" && s.isName(end+1) {
		return end + 2
	}
	return i
}

// skipCycle returns the index after Postgres' CYCLE clause at i, or i if there is no such clause.
func (s *statement) skipCycle(i int) int {
	if s.postgres == nil || s.wordAt(i) != "cycle" {
		return i
	}
	end := s.skipNames(i + 1)
	if s.wordAt(end) != "set" || !s.isName(end+1) {
		return i
	}
	end += 2
	if s.wordAt(end) == "to" && s.isConstant(end+1) && s.wordAt(end+2) == "default" && s.isConstant(end+3) {
		end += 4
	}
	if s.wordAt(end) == "using" && s.isName(end+1) {
		return end + 2
	}
	return i
}

// skipNames returns the index after a list of names at i. Commas separate the names.
func (s *statement) skipNames(i int) int {
	for s.isName(i) && s.isMark(i+1, ",") {
		i += 2
	}
	return i + 1
}

// isConstant reports whether a constant is at i.
func (s *statement) isConstant(i int) bool {
	if i < len(s.toks) && (s.toks[i].kind == text || s.toks[i].kind == number) {
		return true
	}
	w := s.wordAt(i)
	return w == "true" || w == "false" || w == "null"
}

// hasOnlyNames reports whether the parenthesis at i contains only identifiers and
// commas.
func (s *statement) hasOnlyNames(i int) bool {
	for end := i + int(s.toks[i].match); i < end; i += 2 {
		if !s.isName(i+1) || !s.isMark(i+2, ",") && i+2 != end {
			return false
		}
	}
	return true
}

// judgeExplain judges the statement after EXPLAIN like any other statement, because EXPLAIN ANALYZE
// executes it.
func (s *statement) judgeExplain(i int) {
	if s.isMark(i, "(") && !queries()[s.wordAt(i+1)] && !s.isMark(i+1, "(") {
		closing := i + int(s.toks[i].match)
		for i++; i < closing; i++ {
			if w := s.wordAt(i); w != "" && !explainOptions()[w] || s.toks[i].kind == mark && !s.isMark(i, ",") {
				s.lowerVerdict(where.Maybe)
			}
		}
		i++
	}
	for {
		switch s.wordAt(i) {
		case "analyze", "verbose", "extended", "partitions":
			i++
			continue
		case "query":
			if s.wordAt(i+1) == "plan" {
				i += 2
				continue
			}
		case "format":
			if s.isMark(i+1, "=") {
				i += 3
				continue
			}
		}
		break
	}
	if i < len(s.toks) && (s.isMark(i, "(") || queries()[s.wordAt(i)]) {
		s.judgeQuery(i, len(s.toks))
		return
	}
	s.judgeDescribe(i)
}

// judgeDescribe judges the operand of MySQL's DESCRIBE: the name of a table, and optionally of a
// column.
func (s *statement) judgeDescribe(i int) {
	if !s.heads["describe"] || !s.isName(i) || s.writers[s.wordAt(i)] || s.never[s.wordAt(i)] || i != 1 {
		s.rejectStatement(i)
		return
	}
	for i++; s.isMark(i, ".") && s.isName(i+1); {
		i += 2
	}
	if i < len(s.toks) && (s.isName(i) && !s.never[s.wordAt(i)] && !s.startsStatement(i) || s.toks[i].kind == text) {
		i++
	}
	if i < len(s.toks) {
		s.lowerVerdict(where.Maybe)
	}
}

// judgeShow judges SHOW. Every form of SHOW reads, and some contain the word CREATE.
func (s *statement) judgeShow(i int) {
	if i >= len(s.toks) {
		s.lowerVerdict(where.Maybe)
	}
	if s.wordAt(i) == "create" && !s.splits {
		i++
	}
	s.judgeBody(i, len(s.toks))
}

// judgePragma judges SQLite's PRAGMA. To set a pragma, with = or in parentheses, is more than
// reading. Only pragmas that look something up may have an argument.
func (s *statement) judgePragma(i int) {
	if s.isMark(i+1, ".") && s.isName(i) {
		i += 2
	}
	n := s.wordAt(i)
	switch rest := s.toks[min(i+1, len(s.toks)):]; {
	case len(rest) == 0 && (pragmasRead()[n] || pragmasLookUp()[n]):
	case len(rest) == 3 && s.isMark(i+1, "(") && pragmasLookUp()[n] && s.toks[i+2].kind != mark:
	case len(rest) > 0 && !pragmasLookUp()[n]:
		s.lowerVerdict(where.No)
	default:
		s.lowerVerdict(where.Maybe)
	}
}

// hidesQuery reports whether a query may begin after the first word.
func (s *statement) hidesQuery() bool {
	for i := 1; i < len(s.toks); i++ {
		if s.heads[s.wordAt(i)] {
			return true
		}
	}
	return s.heads[s.wordAt(0)]
}
