package sql

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// ReadOnly is the only value of mode in New.
const ReadOnly = "read-only"

// maxText is a length in bytes. For a longer text the answer is Maybe.
const maxText = 256 << 10

// New returns the constraint that an SQL text only reads. mode is "read-only". dialect is
// "postgres", "mysql", "sqlite" or "sqlserver". If dialect is empty, the text must only read in all
// four dialects. The error suggests the right spelling if it finds one.
func New(mode, dialect string) (where.Constraint, error) {
	if mode != ReadOnly {
		return nil, fmt.Errorf("sql: unknown mode %q; there is only %q", mode, ReadOnly)
	}
	d, ok := dialects()[dialect]
	if !ok {
		if meant := spellings[strings.ToLower(strings.TrimSpace(dialect))]; meant != "" {
			return nil, fmt.Errorf("sql: unknown dialect %q; write %q", dialect, meant)
		}
		return nil, fmt.Errorf("sql: unknown dialect %q; there are \"postgres\", \"mysql\", \"sqlite\" and \"sqlserver\", or none for all of them", dialect)
	}
	return constraint{d}, nil
}

// spellings maps other names of the dialects to the names that New accepts.
var spellings = map[string]string{
	"postgresql": "postgres", "pg": "postgres", "psql": "postgres", "postgres": "postgres", "pgsql": "postgres",
	"mariadb": "mysql", "mysql": "mysql", "my": "mysql",
	"sqlite3": "sqlite", "sqlite": "sqlite", "lite": "sqlite",
	"mssql": "sqlserver", "tsql": "sqlserver", "t-sql": "sqlserver", "sql server": "sqlserver",
	"sql-server": "sqlserver", "sql_server": "sqlserver", "sqlserver": "sqlserver",
}

type constraint struct{ d *dialect }

// JudgeValue returns Yes if every statement of the text certainly only reads. It returns No if the
// text certainly does more, or is not SQL, and otherwise Maybe. If opens is false, one statement
// that only reads is enough for Yes, and for a text that cannot be parsed the answer is Maybe.
func (c constraint) JudgeValue(v where.Value, opens bool) where.Match {
	if v.Kind != where.String {
		return where.No
	}
	if len(v.Text) > maxText || !isPlainText(v.Text) {
		return where.Maybe
	}
	var first outcome
	var toks []token
	for i := range c.d.readings {
		l := &c.d.readings[i]
		if l.setting && strings.IndexByte(v.Text, l.differs) < 0 {
			continue
		}
		var o outcome
		if o, toks = c.d.judgeReading(l, v.Text, toks[:0], opens); o.refused && l.setting {
			continue
		}
		if i == 0 {
			first = o
		}
		if o != first || o.verdict == where.Maybe {
			return where.Maybe
		}
	}
	return first.verdict
}

// JudgeCost returns an upper bound of the work of JudgeValue. The bound assumes that each reading
// takes nanosPerByte for each byte.
func (c constraint) JudgeCost(n int) int {
	if n > maxText {
		return 1
	}
	return 500 + n*nanosPerByte*len(c.d.readings)
}

// nanosPerByte is the longest measured time of one reading for one byte.
const nanosPerByte = 100

// outcome is the result of one reading of a text. Two readings agree if their outcomes are equal.
type outcome struct {
	verdict where.Match
	// cuts is a hash of the positions where strings, quoted identifiers and statements
	// end.
	cuts uint64
	// refused means that the part before the flaw only reads, and that the server refuses the rest.
	refused bool
}

// judgeReading judges a text in one reading. It returns the tokens so that their
// memory can be reused.
func (d *dialect) judgeReading(l *lexis, src string, toks []token, opens bool) (outcome, []token) {
	toks, f := l.lexText(src, toks)
	least, most, count := where.Yes, where.No, 0
	for rest := toks; len(rest) > 0; {
		n := 0
		for n < len(rest) && src[rest[n].start] != ';' {
			n++
		}
		if n == len(rest) && f != sound {
			break // it is not known where the statement ends
		}
		if n > 0 {
			v := d.judgeStatement(l, src, rest[:n], opens)
			least, most, count = min(least, v), max(most, v), count+1
		}
		rest = rest[min(n+1, len(rest)):]
	}
	switch {
	case f != sound:
		return outcome{verdict: f.toVerdict(opens), refused: f == broken && least == where.Yes}, toks
	case count == 0:
		return outcome{verdict: where.Maybe}, toks
	case opens:
		return outcome{verdict: least, cuts: hashCuts(src, toks)}, toks
	}
	return outcome{verdict: most, cuts: hashCuts(src, toks)}, toks
}

// hashCuts returns a hash (FNV-1a) of the positions that must be equal in all readings.
func hashCuts(src string, toks []token) uint64 {
	h := uint64(14695981039346656037)
	for i := range toks {
		if k := toks[i].kind; k == quoted || k == text || src[toks[i].start] == ';' {
			h = (h ^ uint64(toks[i].start)<<32 ^ uint64(toks[i].end)) * 1099511628211
		}
	}
	return h
}

// toVerdict returns the verdict for a text with flaw f. No server accepts a broken text, so an
// allow rule does not match it. A deny or prompt rule does not rely on this and gets Maybe.
func (f flaw) toVerdict(opens bool) where.Match {
	if f == broken && opens {
		return where.No
	}
	return where.Maybe
}
