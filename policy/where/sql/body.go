package sql

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// judgeBody judges the tokens with the indexes from i to end-1, which are inside a query. The
// tokens may not write or lock, and may call only functions that are known to have no effect.
func (s *statement) judgeBody(i, end int) {
	for ; i < end; i++ {
		t := &s.toks[i]
		switch {
		case t.kind == word:
			s.judgeWord(i)
			s.judgeAttribute(i)
			s.judgeRows(i)
		case t.kind == quoted:
			s.judgeAttribute(i)
			s.judgeRows(i)
		case t.kind == text:
			s.judgeRows(i)
		case s.isMark(i, "("):
			s.judgeCall(i)
			closing := i + int(t.match)
			if s.isMark(i+1, "(") || !queries()[s.wordAt(i+1)] || s.wordAt(i+1) == "values" && !s.isMark(i+2, "(") {
				s.judgeBody(i+1, closing)
			} else {
				s.judgeQuery(i+1, closing)
			}
			i = closing
		case t.kind == param:
			s.judgeVariable(i)
		case s.isMark(i, ":=") && s.postgres == nil:
			s.lowerVerdict(where.Maybe) // := sets a user variable of MySQL
		case t.kind == mark:
			s.judgeOperator(i)
		}
	}
}

// judgeWord judges the bare word at i.
func (s *statement) judgeWord(i int) {
	w := s.wordAt(i)
	if s.effects[w] {
		s.lowerVerdict(where.No)
	}
	if s.isMark(i-1, ".") {
		return
	}
	switch next := s.wordAt(i + 1); {
	case w == "replace" && s.isMark(i+1, "("), w == "insert" && s.isMark(i+1, "(") && s.classifyFunction(w) == reads:
	case s.never[w], s.startsStatement(i):
		s.lowerVerdict(where.No)
	case w == "for" && locks()[next], w == "lock" && next == "in", w == "next" && next == "value":
		s.lowerVerdict(where.No)
	case s.hints[w]:
		s.lowerVerdict(where.Maybe)
	case w == "select" && !s.joinsQueries(i-1):
		s.lowerVerdict(where.Maybe)
	}
}

// judgeRows judges the name at i if the name may stand for rows. In this place SQLite calls a
// function by its name alone; the name may also be in quotes or a string.
func (s *statement) judgeRows(i int) {
	var name string
	switch s.toks[i].kind {
	case word:
		name = s.wordAt(i)
	case text:
		if !s.isRowSource(i) {
			return
		}
		fallthrough
	default:
		name = strings.ToLower(s.textAt(i)[1 : len(s.textAt(i))-1])
	}
	switch s.notTable(name) {
	case acts:
		s.lowerVerdict(where.No)
	case doubt:
		s.lowerVerdict(where.Maybe)
	}
}

// isRowSource reports whether the name at i may stand for rows: in a FROM or after IN. The name may
// be in parentheses and may have a schema.
func (s *statement) isRowSource(i int) bool {
	for s.isMark(i-1, "(") {
		i--
	}
	before := s.wordAt(i - 1)
	return before == "from" || before == "join" || before == "in" && !s.isMark(i, "(") || s.isMark(i-1, ",") || s.isMark(i-1, ".")
}

// operatorBytes are the characters of Postgres operators (its docs, 4.1.3).
const operatorBytes = "+-*/<>=~!@#%^&|`?"

// judgeOperator judges the operator that begins at i. An operator that is not built
// into Postgres calls a user-defined function.
func (s *statement) judgeOperator(i int) {
	if s.postgres == nil || !s.isOperator(i) || s.isOperator(i-1) && s.toks[i-1].end == s.toks[i].start {
		return
	}
	end := i + 1
	for end < len(s.toks) && s.isOperator(end) && s.toks[end].start == s.toks[end-1].end {
		end++
	}
	op := s.src[s.toks[i].start:s.toks[end-1].end]
	if !strings.ContainsAny(op, "~!@#%^&|`?") {
		for len(op) > 1 && (op[len(op)-1] == '+' || op[len(op)-1] == '-') {
			op = op[:len(op)-1]
		}
	}
	if !s.postgres.operator(op) && !otherOperators()[op] {
		s.lowerVerdict(where.Maybe)
	}
}

func (s *statement) isOperator(i int) bool {
	return i >= 0 && s.toks[i].kind == mark && strings.IndexByte(operatorBytes, s.src[s.toks[i].start]) >= 0
}

// joinsQueries reports whether the SELECT of a set operation (such as UNION) may follow the word at
// i.
func (s *statement) joinsQueries(i int) bool {
	switch s.wordAt(i) {
	case "union", "intersect", "except", "minus":
		return true
	case "all", "distinct":
		return s.joinsQueries(i - 1)
	}
	return false
}

// startsStatement reports whether a new statement may begin at i in a dialect that needs no
// semicolon between statements. A statement cannot begin where an operand must follow: after AS, a
// comma, an opening parenthesis or an operator. After * a statement may begin, because * may be a
// list of all columns.
func (s *statement) startsStatement(i int) bool {
	if !s.splits || s.wordAt(i-1) == "as" {
		return false
	}
	if s.toks[i-1].kind == mark && strings.Contains("(,.=<>+-/%|", s.textAt(i-1)) {
		return false
	}
	w := s.wordAt(i)
	follower, ok := starters()[w]
	return ok && (follower == "" || s.wordAt(i+1) == follower)
}

// judgeVariable judges the parameter at i. In T-SQL, SELECT may assign to it.
func (s *statement) judgeVariable(i int) {
	if s.textAt(i)[0] != '@' || !s.splits {
		return
	}
	behind := i + 1
	if behind < len(s.toks) && s.toks[behind].kind == mark && strings.ContainsAny(s.textAt(behind), "+-*/%&|^") {
		behind++
	}
	if !s.isMark(behind, "=") {
		return
	}
	switch s.wordAt(i - 1) {
	case "where", "and", "or", "on", "not", "when", "having":
	default:
		s.lowerVerdict(where.Maybe)
	}
}

// judgeCall judges the parenthesis at i by the token before it. There is always such a token,
// because the first word of a statement is not in a body.
func (s *statement) judgeCall(i int) {
	t := &s.toks[i-1]
	switch {
	case t.kind == mark || t.kind == number:
		return
	case s.wordAt(i-2) == "as":
		return // this is an alias with its columns, or a type with its length
	case s.hasOnlyNames(i) && (s.isMark(i-2, ")") && s.closesTable(i-2) || s.isAliased(i-1)):
		return // this is an alias with its columns
	case s.wordAt(i-2) == "tablesample" && (s.wordAt(i-1) == "system" || s.wordAt(i-1) == "bernoulli"):
		return
	case t.kind != word:
		s.lowerVerdict(where.Maybe)
		return
	}
	w := s.wordAt(i - 1)
	known := s.classifyFunction(w)
	switch {
	case known == acts:
		s.lowerVerdict(where.No)
	case s.isMark(i-2, "."):
		if s.inSchema(s.wordAt(i-3), w) != reads || s.isMark(i-4, ".") {
			s.lowerVerdict(where.Maybe)
		}
	case known == reads:
	case w == "operator" && s.postgres != nil:
		s.namedOperator(i)
	case !s.keywords[w] || s.callable[w] && !s.isClause(i-1) && (!queries()[s.wordAt(i+1)] || s.wordAt(i+1) == "values"):
		s.lowerVerdict(where.Maybe)
	}
}

// namedOperator judges OPERATOR(schema.op). Its parenthesis is at i.
func (s *statement) namedOperator(i int) {
	if s.wordAt(i+1) != s.postgres.schema || !s.isMark(i+2, ".") || !s.isOperator(i+3) {
		s.lowerVerdict(where.Maybe)
	}
}

// isClause reports whether the word at i is a keyword of a clause. The same word may be a
// function's name in another place.
func (s *statement) isClause(i int) bool {
	w, at := s.wordAt(i), i-1
	if infix()[w] && s.wordAt(at) == "not" {
		at--
	}
	before := s.wordAt(at)
	switch {
	case at < 0:
		return false
	case before == "" && s.isMark(at, ")"):
		open := at + int(s.toks[at].match)
		// After DISTINCT ON (…) an expression begins, so the word may be a function's name.
		return !(s.wordAt(open-1) == "on" && s.wordAt(open-2) == "distinct") && s.wordAt(open-1) != "operator"
	case before == "":
		return s.toks[at].kind != mark || s.isMark(at, "]") || s.isMark(at, "::")
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
		return s.postgres != nil && s.wordAt(at) == "by" && s.wordAt(at-1) == "group"
	case "for":
		return before == "collation"
	case "of":
		return before == "member"
	case "second":
		return before == "to" && (s.wordAt(at-1) == "day" || s.wordAt(at-1) == "hour" || s.wordAt(at-1) == "minute")
	case "sets":
		return before == "grouping"
	case "varying":
		return before == "bit" || before == "char" || before == "character"
	}
	return false
}

// isAliased reports whether the name at i directly follows a table's name in a FROM, so that it is
// an alias.
func (s *statement) isAliased(i int) bool {
	table := s.wordAt(i - 1)
	if table == "" || s.keywords[table] || operandFollows()[table] || s.keywords[s.wordAt(i)] {
		return false
	}
	before := s.wordAt(i - 2)
	return before == "from" || before == "join"
}

// closesTable reports whether the parenthesis that ends at i is a table in a FROM: a subquery or a
// function call. DISTINCT ON (…) and TOP (…) are not tables, because an expression follows them.
func (s *statement) closesTable(i int) bool {
	open := i + int(s.toks[i].match)
	if before := s.wordAt(open - 1); before != "" {
		return s.classifyFunction(before) == reads || before == "from" || before == "join" || before == "lateral" || before == "apply"
	}
	return s.isMark(open-1, ",")
}
