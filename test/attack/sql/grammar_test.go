//go:build attack && linux

package sql

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// keywords are words that may stand before a parenthesis and, in some server, name a
// function too.
var keywords = strings.Fields(`
	all and any apply array as bernoulli between bigint bit blob by case char columns contained cross
	cube dec div double else escape except exclude exists filter float force full glob group having ignore ilike in index inner
	int interval is isnull join key lateral left like limit match materialized member minus natural
	nchar not notnull numeric nvarchar offset on only option or order ordinality outer over overlaps
	partition passing path percent pivot poke precision range real regexp repeatable right rlike rollup root
	row rows select separator sets similar some then top union unpivot use using values varbinary
	varying when where with within xor signed unsigned year of against datetime`)

// grammar makes texts: queries of every form, statements that write, and both
// changed at random.
type grammar struct {
	random *rand.Rand
	house  string
	// functions are calls of what the engine knows, with arguments of their types.
	functions []call
	// literals are values, sources what may stand in a FROM, whole what is a statement,
	// heads what may stand before a query, operators between two values, casts behind one.
	literals, sources, whole, heads, operators, casts []string
	// slots are expressions in which a call may stand behind a keyword, in place of %.
	slots []string
	// postgres and sqlite have forms of their own.
	postgres, sqlite bool
}

type call struct {
	name string
	args []string
}

func (g *grammar) n(n int) int { return g.random.IntN(n) }

func (g *grammar) chance(percent int) bool { return g.n(100) < percent }

func pick(g *grammar, of []string) string { return of[g.n(len(of))] }

// text is one text.
func (g *grammar) text() string {
	s := g.statement()
	if g.chance(8) {
		s += pick(g, []string{";", "; ", ";\n", " ; -- x\n"}) + g.statement()
	}
	for g.chance(25) {
		s = g.mutate(s)
	}
	return s
}

func (g *grammar) statement() string {
	switch n := g.n(100); {
	case n < 6:
		return pick(g, g.whole)
	case n < 12:
		return pick(g, g.heads) + g.query(2)
	case n < 15:
		return pick(g, g.heads) + pick(g, g.whole)
	case n < 18:
		return "VALUES (" + g.expression(2) + ", " + g.expression(1) + ")"
	case n < 50:
		return "SELECT " + g.call()
	}
	return g.query(3)
}

func (g *grammar) query(depth int) string {
	var s strings.Builder
	if depth > 1 && g.chance(12) {
		inner := g.query(depth - 1)
		if g.chance(15) {
			inner = pick(g, g.whole)
		}
		fmt.Fprintf(&s, "WITH %sw%s AS %s(%s) ", pick(g, []string{"", "", "RECURSIVE "}), pick(g, []string{"", "", "(a)", "(a, b)"}), pick(g, []string{"", "", "MATERIALIZED ", "NOT MATERIALIZED "}), inner)
	}
	fmt.Fprintf(&s, "SELECT %s%s", pick(g, []string{"", "", "", "DISTINCT ", "ALL ", "DISTINCT ON (1) "}), g.expression(depth))
	for g.chance(30) {
		s.WriteString(", " + g.expression(depth-1))
		if g.chance(30) {
			s.WriteString(pick(g, []string{" AS ", " "}) + pick(g, []string{"x", "y", `"z"`, "wipe"}))
		}
	}
	if g.chance(80) {
		s.WriteString(" FROM " + g.source(depth))
		for g.chance(25) {
			s.WriteString(pick(g, []string{", ", " CROSS JOIN ", " JOIN LATERAL ", ", LATERAL ", " LEFT JOIN "}) + g.source(depth-1))
			if g.chance(20) {
				s.WriteString(" ON " + g.expression(1))
			}
		}
	}
	for _, clause := range []string{" WHERE ", " GROUP BY ", " HAVING ", " ORDER BY ", " LIMIT ", " WINDOW w AS (ORDER BY "} {
		if g.chance(12) {
			s.WriteString(clause + g.expression(1))
			if strings.HasSuffix(clause, "(ORDER BY ") {
				s.WriteString(")")
			}
		}
	}
	if g.chance(4) {
		s.WriteString(pick(g, []string{" FOR UPDATE", " FOR SHARE", " LOCK IN SHARE MODE", " INTO x", " INTO OUTFILE 'out'", " INTO @a", " PROCEDURE analyse()", " FOR NO KEY UPDATE OF t"}))
	}
	if depth > 1 && g.chance(8) {
		s.WriteString(pick(g, []string{" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "}) + g.query(depth-1))
	}
	return s.String()
}

var aliases = []string{"t", "u", "x", "y", "X", `"x"`, `"X"`, "w", "e", "over", "pg_catalog", "value", "current_user"}

func (g *grammar) source(depth int) string {
	alias := func() string {
		return pick(g, []string{"", " ", " AS ", " /**/", " "}) + pick(g, aliases) + pick(g, []string{"", "", "", "(a)", "(a, b)", "(wipe)"})
	}
	switch n := g.n(100); {
	case n < 35:
		return pick(g, []string{"t", "u", "v", "s", "public.t", "t x", "u AS y", `"t"`, "ONLY t", "t AS e", "(t CROSS JOIN u)", "((t) x JOIN u ON true)"})
	case n < 60:
		return pick(g, g.sources) + alias()
	case n < 75:
		return g.call() + pick(g, []string{"", "", " WITH ORDINALITY"}) + alias()
	case n < 90 && depth > 0:
		return "(" + g.query(depth-1) + ")" + alias()
	}
	return "(VALUES (1, 's')) AS x (a, b)"
}

// names are what stands behind a dot.
func (g *grammar) field() string {
	switch n := g.n(10); {
	case n < 3:
		return pick(g, []string{"id", "a", "name", "data", "key", "value", "x"})
	case n < 6:
		return pick(g, []string{"wipe", `"wipe"`, "poke", "nextval", `"Lower"`, "lower", "Lower", `"wi""pe"`, "filter", "pg_sleep", "pg_read_file", "ts_stat", "lo_import", "text", "lo_unlink", "pg_notify", "pg_ls_dir"})
	}
	return g.functions[g.n(len(g.functions))].name
}

func (g *grammar) expression(depth int) string {
	if depth <= 0 || g.chance(15) {
		return pick(g, g.literals)
	}
	switch g.n(14) {
	case 0, 1:
		return g.call()
	case 13:
		return g.slot()
	case 2:
		return pick(g, aliases) + "." + g.field()
	case 3:
		return "(" + g.expression(depth-1) + ")" + pick(g, []string{".", " . ", "./**/"}) + g.field()
	case 4:
		return g.expression(depth-1) + " " + pick(g, g.operators) + " " + g.expression(depth-1)
	case 5:
		return "(" + g.query(depth-1) + ")" + pick(g, []string{"", "", "." + g.field()})
	case 6:
		return g.expression(depth-1) + pick(g, g.casts)
	case 7:
		return "CASE WHEN " + g.expression(depth-1) + " THEN " + g.expression(depth-1) + " ELSE " + g.expression(depth-1) + " END"
	case 8:
		return "(ARRAY[" + g.expression(depth-1) + "])[1]" + pick(g, []string{"", "." + g.field()})
	case 9:
		return pick(g, keywords) + " (" + g.expression(depth-1) + ")"
	case 10:
		return g.call() + pick(g, []string{"." + g.field(), " OVER ()", " OVER (PARTITION BY " + g.expression(1) + ")", " FILTER (WHERE " + g.expression(1) + ")", " IS DISTINCT FROM x." + g.field(), " COLLATE \"C\""})
	case 11:
		return pick(g, []string{"EXTRACT(epoch FROM ", "TRIM(BOTH 'x' FROM ", "SUBSTRING('abc' FROM ", "EXISTS (SELECT ", "CAST(", "coalesce(", "1 IN (", "NOT "}) + pick(g, aliases) + "." + g.field() + ")"
	}
	return pick(g, []string{"*", "t.*", "id", "name", "x", "t", "t.id", "u.name", "count(*)"})
}

// slot is a call in a place where a keyword stands before it.
func (g *grammar) slot() string {
	called := g.call
	if g.chance(60) {
		called = func() string { return pick(g, keywords) + "(" + pick(g, g.literals) + ")" }
	}
	return strings.ReplaceAll(pick(g, g.slots), "%", called())
}

func (g *grammar) call() string {
	var c call
	if g.chance(80) {
		c = g.functions[g.n(len(g.functions))]
	} else {
		c = call{name: pick(g, keywords), args: []string{pick(g, g.literals)}}
		if g.chance(50) {
			c.name = pick(g, []string{"wipe", "poke", "public.wipe", `"wipe"`, "d.wipe"})
		}
	}
	name := c.name
	switch g.n(12) {
	case 0:
		name = strings.ToUpper(name)
	case 1:
		name = "pg_catalog." + name
	case 2:
		name = `"` + name + `"`
	case 3:
		name = "`" + name + "`"
	case 4:
		name += pick(g, []string{" ", "/**/", "\n", " -- x\n"})
	}
	args := append([]string(nil), c.args...)
	for i := range args {
		if g.chance(10) {
			args[i] = g.expression(1)
		}
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// spans are pieces that end strings, comments and statements where a reader and a
// server may not agree.
var spans = []string{
	"'", "''", `"`, `""`, "`", "--", "-- ", "/*", "*/", "/**/", "/* /* */", "#", "\\", "\\'", "\n", "\r\n", "\t", ";", "$$", "$a$", "E'", "U&'", "B'",
	"(", ")", "[", "]", "@", ":", "::", ":=", "?", "$1", "/*!", "/*M!", "/*+ ", "0x", "1e", ".", "..", ",", "=", "é", "N'", "_utf8'",
	"; DELETE FROM t", "; DELETE FROM t; --", "'; DELETE FROM t; --", "*/; DELETE FROM t; --", "$$; DELETE FROM t; --$$", "\"; DELETE FROM t; --",
	" INTO x", " FOR UPDATE", " wipe(1)", ".wipe", ".nextval", " ### 1", "!! 1", "=?",
}

// mutate changes a text in one place.
func (g *grammar) mutate(s string) string {
	if s == "" {
		return s
	}
	at := g.n(len(s) + 1)
	switch g.n(6) {
	case 0:
		return s[:at] + pick(g, spans) + s[at:]
	case 1: // at a blank, where most of what is put in stands between tokens
		parts := strings.Split(s, " ")
		i := g.n(len(parts))
		parts[i] += pick(g, []string{"/**/", "\n", " ", "-- x\n", "/* ' */", "#\n"}) + pick(g, []string{"", "", pick(g, spans)})
		return strings.Join(parts, " ")
	case 2:
		end := min(len(s), at+g.n(6))
		return s[:at] + s[end:]
	case 3:
		parts := strings.Fields(s)
		i, j := g.n(len(parts)), g.n(len(parts))
		parts[i], parts[j] = parts[j], parts[i]
		return strings.Join(parts, " ")
	case 4:
		other := g.statement()
		return s[:at] + other[g.n(len(other)+1):]
	}
	return strings.Replace(s, "'", pick(g, []string{"E'", "$$", "\"", "''"}), 1+g.n(2))
}

func (e *postgresEngine) grammar(t testing.TB) *grammar {
	g := &grammar{house: e.dir, postgres: true,
		literals: []string{"1", "0", "-1", "NULL", "true", "'s'", "'canary'", "'s'::regclass", "1.5", "'{1,2}'", "'select 1'", "'{\"a\": 1}'::jsonb",
			"'DELETE FROM t RETURNING 1'", "ARRAY[1, 2]", "ARRAY['s'::regclass]", "$$s$$", "E's'", "now()", "row(1, 's')", "'(1,x)'::pair", "'t'::regclass", "X'1f'", "interval '1 s'"},
		sources: []string{"unnest(ARRAY['s'::regclass])", "unnest(ARRAY[1])", "unnest(ARRAY['canary'])", "unnest(ARRAY[0.1::float8])", "generate_series(1, 2)", "current_user", "CAST('s' AS regclass)", "coalesce('s'::regclass)",
			"ROWS FROM (unnest(ARRAY['s'::regclass]))", "jsonb_each('{\"a\": 1}')", "jsonb_array_elements('[1]')", "pg_sequence_parameters('s'::regclass)", "pg_class", "pg_catalog.pg_stat_activity", "pg_stat_replication_slots",
			"xmltable('/r' PASSING '<r/>'::xml COLUMNS id int)", "wipe(1)", "t TABLESAMPLE system (50)", "json_to_record('{\"a\": 1}')", "string_to_table('s', ',')", "upper('s')", "session_user"},
		whole: []string{"DELETE FROM t", "DELETE FROM t RETURNING *", "UPDATE t SET a = 1 RETURNING 1", "INSERT INTO u VALUES (9)", "DROP TABLE t", "CREATE TABLE n AS SELECT 1", "SELECT nextval('s')", "COMMIT", "BEGIN", "SET work_mem = '9MB'", "RESET ALL", "CALL wipe(1)", "DO $$ BEGIN DELETE FROM t; END $$", "COPY t TO 'out'", "COPY (SELECT 1) TO PROGRAM 'cat > out'", "DECLARE c CURSOR FOR SELECT 1", "PREPARE p AS SELECT 1", "EXECUTE p", "LISTEN x", "NOTIFY x", "LOCK t", "TRUNCATE t", "REFRESH MATERIALIZED VIEW v", "SHOW ALL", "SHOW search_path", "TABLE t", "VACUUM", "ANALYZE", "CHECKPOINT", "MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE"},
		heads: []string{"EXPLAIN ", "EXPLAIN ANALYZE ", "EXPLAIN (ANALYZE, FORMAT JSON) ", "EXPLAIN VERBOSE ", "TABLE t UNION ", "(", "SELECT 1 UNION ", "SELECT 1; "},
		slots: []string{"1 BETWEEN SYMMETRIC % AND 2", "1 NOT BETWEEN ASYMMETRIC 1 AND %", "'a' LIKE 'b' ESCAPE %", "'a' SIMILAR TO %", "now() AT TIME ZONE %",
			"trim(LEADING % FROM 'x')", "trim(BOTH FROM %)", "overlay('abc' PLACING % FROM %)", "substring('abc' FROM 1 FOR %)", "substring('abc' SIMILAR % ESCAPE '#')", "position('a' IN %)",
			"sum(1) OVER (ORDER BY 1 ROWS % PRECEDING)", "sum(1) OVER (ORDER BY 1 GROUPS BETWEEN % PRECEDING AND % FOLLOWING)", "sum(1) OVER (ORDER BY 1 RANGE % PRECEDING)",
			"1 OPERATOR(pg_catalog.+) %", "OPERATOR(pg_catalog.-) %", "xmlparse(DOCUMENT %)", "xmlserialize(CONTENT % AS text)", "xmlexists('/a' PASSING BY REF %)", "xmlroot('<a/>', VERSION %)",
			"xmlelement(NAME x, xmlattributes(% AS y), %)", "(SELECT 1 FETCH FIRST % ROWS ONLY)", "(SELECT 1 ORDER BY 1 USING < LIMIT %)", "(SELECT 1 GROUP BY %)", "(SELECT 1 GROUP BY 1, %)",
			"(SELECT 1 GROUP BY GROUPING SETS (1, %))", "(SELECT 1 GROUP BY DISTINCT ROLLUP(1), %)", "interval '1' DAY TO %", "interval '1' %", "interval '1' DAY TO SECOND(2)", "collation for (%)",
			"make_interval(secs := %)", "make_interval(days => %, mins := %)", "U&'\\0073'", "U&'!0073' UESCAPE '!'", "U&\"x\".wipe", "(x[1]).wipe", "count(*) FILTER (WHERE %)", "(SELECT 1 FROM t x, %)", "(SELECT 1 FROM t, u % )", "(SELECT 1 FROM t JOIN %)",
			"(SELECT a FROM xmltable('/r' PASSING % COLUMNS a int PATH % DEFAULT %))", "(WITH RECURSIVE w (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM w WHERE a < 3) SEARCH DEPTH FIRST BY a SET o SELECT a FROM w ORDER BY %)",
			"(WITH RECURSIVE w (a) AS (SELECT 1 UNION ALL SELECT % FROM w WHERE a < 3) CYCLE a SET c TO true DEFAULT false USING p SELECT a FROM w LIMIT 1)"},
		casts: []string{"::text", "::int", "::regclass", "::text[]", "::jsonb", "::name", "::pair", "::varchar(3)", "::float8", "::wipe", " AT TIME ZONE 'UTC'", " IS NULL", "[1]", " BETWEEN 1 AND 2"},
	}
	g.operators = append(e.observer.column(t, "SELECT DISTINCT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace"), "###", "!!", "=?", "OPERATOR(public.###)", "OPERATOR(pg_catalog.+)", "AND", "OR", "LIKE")
	known := map[string]string{
		"integer": "1", "bigint": "1", "smallint": "1::int2", "text": "'s'", "name": "'s'::name", "regclass": "'s'::regclass", "oid": "'t'::regclass::oid", "boolean": "true",
		"double precision": "0.1::float8", "real": "1::float4", "numeric": "1.5", "jsonb": "'{\"a\": 1}'::jsonb", "json": "'{\"a\": 1}'::json", "anyelement": "1", `"any"`: "1",
		"anyarray": "ARRAY[1]", "text[]": "ARRAY['a']", "timestamp with time zone": "now()", "timestamp without time zone": "now()::timestamp", "date": "current_date", "interval": "interval '1 s'",
		"bytea": "'x'::bytea", "xml": "'<a/>'::xml", "regconfig": "'simple'::regconfig", "tsvector": "'a'::tsvector", "tsquery": "'a'::tsquery", "record": "row(1, 's')", `"char"`: "'c'::\"char\"", "anynonarray": "1",
		"pg_lsn": "'0/1'::pg_lsn", "inet": "'127.0.0.1'::inet", "regprocedure": "'now()'::regprocedure", "jsonpath": "'$.a'::jsonpath", "cstring": "'1'::cstring", "regtype": "'int'::regtype", "anycompatible": "1", "anycompatiblearray": "ARRAY[1]",
	}
	rows, err := e.observer.rows(t.Context(), `
		SELECT proname, array_to_string(ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS x (a, n) ORDER BY n), ',')
		FROM pg_proc WHERE prokind <> 'p' AND NOT proargtypes::oid[] && '{internal}'::regtype[]::oid[] ORDER BY oid`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		c := call{name: r[0]}
		for typ := range strings.SplitSeq(r[1], ",") {
			switch arg := known[typ]; {
			case typ == "":
			case arg != "":
				c.args = append(c.args, arg)
			default:
				c.args = append(c.args, "NULL::"+typ)
			}
		}
		g.functions = append(g.functions, c)
	}
	return g
}

func (e *mariadbEngine) grammar(t testing.TB) *grammar {
	out := filepath.Join(e.dir, "out")
	g := &grammar{house: e.dir,
		literals:  []string{"1", "0", "-1", "NULL", "TRUE", "'s'", "'x'", "'" + e.dir + "/canary'", "1.5", "'{\"a\": 1}'", "'select 1'", "@a", "@@version", "0x41", "b'1'", "_utf8'x'", "N'x'", "\"x\"", "now()", "INTERVAL 1 SECOND", "DATE '2020-01-01'", "'$.a'", "POINT(1, 1)"},
		sources:   []string{"t", "d.t", "seq_1_to_3", "information_schema.tables", "mysql.user", "JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$'))", "t PARTITION (p0)", "t FOR SYSTEM_TIME ALL", "DUAL", "t USE INDEX (PRIMARY)", "s"},
		whole:     []string{"DELETE FROM t", "DELETE FROM t RETURNING *", "UPDATE t SET a = 1", "INSERT INTO u VALUES (9, 9, '')", "REPLACE INTO u VALUES (1, 1, '')", "DROP TABLE t", "CREATE TABLE n AS SELECT 1", "SELECT NEXT VALUE FOR s", "SELECT s.nextval", "SELECT nextval(s)", "SELECT setval(s, 50)", "SELECT lastval(s)", "SELECT PREVIOUS VALUE FOR s", "COMMIT", "BEGIN", "START TRANSACTION", "SET sql_mode = ''", "SET @a = 1", "CALL wipe()", "DO wipe(1)", "DO sleep(5)", "HANDLER t OPEN", "LOCK TABLES t WRITE", "FLUSH TABLES", "TRUNCATE t", "SHOW TABLES", "SHOW CREATE TABLE t", "SHOW FULL PROCESSLIST", "DESCRIBE t", "DESC t id", "ANALYZE TABLE t", "CHECK TABLE t", "OPTIMIZE TABLE t", "LOAD DATA INFILE '" + e.dir + "/canary' INTO TABLE u", "PREPARE p FROM 'SELECT 1'", "EXECUTE IMMEDIATE 'DELETE FROM t'", "KILL 1", "USE mysql", "SET STATEMENT max_statement_time = 1 FOR SELECT 1", "INSTALL SONAME 'x'", "SELECT 1 INTO OUTFILE '" + out + "'", "SHOW GRANTS", "HELP 'x'", "XA RECOVER", "SHOW STATUS", "SHOW BINLOG EVENTS"},
		heads:     []string{"EXPLAIN ", "EXPLAIN EXTENDED ", "EXPLAIN FORMAT=JSON ", "ANALYZE ", "ANALYZE FORMAT=JSON ", "DESCRIBE ", "(", "SELECT 1 UNION ", "SELECT 1; ", "SET STATEMENT max_statement_time=1 FOR ", "/*!50000 ", "SELECT SQL_CALC_FOUND_ROWS 1 UNION "},
		operators: []string{"+", "-", "*", "/", "%", "DIV", "MOD", "=", "<=>", "<>", "!=", ":=", "||", "&&", "AND", "OR", "XOR", "LIKE", "RLIKE", "REGEXP", "IS", "IN", "->", "|", "&", "^", "<<", "SOUNDS LIKE", "COLLATE"},
		slots: []string{"'a' LIKE 'b' ESCAPE %", "trim(LEADING % FROM 'x')", "substring('abc' FROM 1 FOR %)", "1 DIV %", "1 MOD %", "1 XOR %", "'a' REGEXP %", "'a' SOUNDS LIKE %", "BINARY %", "INTERVAL % DAY + now()",
			"(SELECT SQL_NO_CACHE %)", "(SELECT HIGH_PRIORITY %)", "(SELECT DISTINCTROW %)", "(SELECT STRAIGHT_JOIN %)", "(SELECT 1 FROM t FOR SYSTEM_TIME AS OF %)", "(SELECT 1 GROUP BY % WITH ROLLUP)", "group_concat(% ORDER BY % SEPARATOR ',')",
			"extract(DAY FROM %)", "MATCH (name) AGAINST (% IN BOOLEAN MODE)", "(SELECT 1 FROM t USE INDEX FOR JOIN (PRIMARY), %)", "convert(% USING utf8)", "1 MEMBER OF (%)", "CASE % WHEN % THEN % END", "count(DISTINCT %)"},
		casts: []string{" COLLATE utf8mb4_bin", " IS NULL", " BETWEEN 1 AND 2", " IN (1, 2)", " LIKE 'x'", " + INTERVAL 1 DAY", " AS x", " -> '$.a'"},
	}
	for _, name := range column(t, e.observer, "SELECT lower(function) FROM information_schema.sql_functions ORDER BY 1") {
		for n := range 4 {
			c := call{name: name}
			for range n {
				c.args = append(c.args, g.literals[(len(g.functions)*7+len(c.args)*3)%len(g.literals)])
			}
			g.functions = append(g.functions, c)
		}
	}
	return g
}

func (e *sqliteEngine) grammar(t testing.TB) *grammar {
	g := &grammar{house: e.dir, sqlite: true,
		literals:  []string{"1", "0", "-1", "NULL", "'s'", "'canary'", "'.'", "'out'", "1.5", "x'4142'", "'{\"a\": 1}'", "'[1, 2]'", "'$.a'", "\"x\"", "'one'", "65534", "@a", ":b", "$c", "?1", "current_timestamp", "TRUE"},
		sources:   []string{"pragma_optimize", "pragma_optimize(65534)", "'pragma_optimize'", `"pragma_optimize"(-1)`, "[pragma_optimize]", "main.pragma_optimize", "fsdir('.')", "fsdir", "json_each('[1]')", "json_tree('{}')", "generate_series(1, 3)", "pragma_table_info('t')", "pragma_journal_mode", "pragma_function_list", "sqlite_dbpage", "dbstat", "zipfile('canary')", "f", "f('one')", "g", "r", "sqlite_master", "sqlite_stmt", "completion('s')", "fts3tokenize('simple', 'a b')", "t INDEXED BY i", "t NOT INDEXED", "sqlite_dbdata", "pragma_wal_checkpoint", "pragma_incremental_vacuum(1)", "t WHERE a = 3"},
		whole:     []string{"DELETE FROM t", "DELETE FROM t RETURNING *", "UPDATE t SET a = 1", "INSERT INTO u VALUES (9, 9, '')", "REPLACE INTO u VALUES (1, 1, '')", "DROP TABLE t", "CREATE TABLE n AS SELECT 1", "COMMIT", "BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT x", "ATTACH 'out' AS o", "DETACH o", "VACUUM", "VACUUM INTO 'out'", "REINDEX", "ANALYZE", "PRAGMA optimize", "PRAGMA user_version = 7", "PRAGMA user_version(7)", "PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "PRAGMA table_info(t)", "PRAGMA table_info('t')", "PRAGMA main.page_count", "PRAGMA wal_checkpoint", "PRAGMA incremental_vacuum", "PRAGMA writable_schema = 1", "PRAGMA query_only = 1", "PRAGMA cache_size = 5", "PRAGMA foreign_keys", "PRAGMA integrity_check", "PRAGMA quick_check('t')", "PRAGMA schema_version", "PRAGMA case_sensitive_like = 1", "PRAGMA locking_mode = EXCLUSIVE", "INSERT INTO f (f) VALUES ('optimize')", ".shell touch out", "PRAGMA index_list(t)", "PRAGMA data_version", "PRAGMA mmap_size", "PRAGMA temp_store = 1", "PRAGMA synchronous"},
		heads:     []string{"EXPLAIN ", "EXPLAIN QUERY PLAN ", "SELECT 1 UNION ", "SELECT 1; ", "SELECT a FROM t WHERE a = 3; ", "(", "\n.", "PRAGMA "},
		operators: []string{"+", "-", "*", "/", "%", "=", "==", "<>", "!=", "||", "AND", "OR", "LIKE", "GLOB", "REGEXP", "MATCH", "IS", "IS NOT", "IN", "IN pragma_optimize ", "IN fsdir('.') ", "NOT IN", "->", "->>", "|", "&", "<<", "COLLATE NOCASE ="},
		slots:     []string{"'a' LIKE 'b' ESCAPE %", "1 IS NOT DISTINCT FROM %", "CAST(% AS text)", "(SELECT 1 LIMIT % OFFSET %)", "sum(1) OVER (ORDER BY 1 ROWS % PRECEDING)", "count(*) FILTER (WHERE %)", "(SELECT DISTINCT %)", "'a' NOT GLOB %", "CASE % WHEN % THEN % END"},
		casts:     []string{" COLLATE NOCASE", " IS NULL", " BETWEEN 1 AND 2", " IN (1, 2)", " IN t", " IN pragma_optimize", " IN (SELECT * FROM fsdir('.'))", " NOTNULL", " AS x", " IN main.pragma_optimize(1)"},
	}
	out, err := e.command(t.Context(), e.program, "-batch", ":memory:", "SELECT DISTINCT name || ' ' || narg FROM pragma_function_list UNION SELECT name || ' -1' FROM pragma_module_list ORDER BY 1").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var c call
		n := 0
		if _, err := fmt.Sscan(line, &c.name, &n); err != nil {
			t.Fatal(err)
		}
		if n < 0 {
			n = 2
		}
		for i := range n {
			c.args = append(c.args, g.literals[(len(g.functions)*5+i*3)%len(g.literals)])
		}
		g.functions = append(g.functions, c)
	}
	return g
}
