package sql

import (
	"maps"
	"strings"
	"sync"
)

// dialect holds what this package knows about the SQL of one server: the ways to split a text into
// tokens, which must all give the same result, and the words that the server knows.
type dialect struct {
	readings []lexis
	// heads are the first words of statements that only read.
	heads set
	// keywords are words that are not functions although a parenthesis may follow them.
	keywords set
	// catalogs hold the built-in names of one engine, or of all engines.
	catalogs []catalog
	// callable are keywords that can also be function names.
	callable set
	// never are bare words that do not occur in a statement that only reads. writers are first
	// words of other statements.
	never, writers set
	// effects are words that have an effect even after a dot: seq.nextval.
	effects set
	// hints are table hints that take locks.
	hints set
	// splits means that statements need no semicolon between them: a statement ends where the next
	// one begins.
	splits bool
}

type set map[string]bool

func wordSet(lists ...string) set {
	s := set{}
	for _, l := range lists {
		for w := range strings.FieldsSeq(l) {
			s[w] = true
		}
	}
	return s
}

// lazySet returns a function that makes a set on first use, because most policies
// never use it.
func lazySet(list string) func() set { return sync.OnceValue(func() set { return wordSet(list) }) }

// In Postgres the end of a string depends on standard_conforming_strings, in MySQL on
// the SQL modes NO_BACKSLASH_ESCAPES and ANSI_QUOTES.
var (
	postgresLexis = lexis{attributes: true, nested: true, dollarString: true, escapeString: true, bracket: subscript}
	mysqlLexis    = lexis{
		backslash: true, doubleString: true, backtick: true, hashComment: true, dashSpace: true,
		executable: true, at: true,
	}
	sqliteLexis    = lexis{backtick: true, at: true, dollarParam: true, lineEnds: true, bracket: name}
	sqlserverLexis = lexis{nested: true, at: true, lineEnds: true, transact: true, bracket: nameTwice, wordChars: "#@"}
)

var (
	postgresCatalog = catalog{
		function: &postgresFunctions, prefixes: postgresPrefixes, schema: "pg_catalog",
		columns: postgresColumns, operator: postgresOperator,
	}
	mysqlCatalog     = catalog{function: &mysqlFunctions, prefixes: mysqlPrefixes}
	sqliteCatalog    = catalog{function: &sqliteFunctions, prefixes: sqliteTablePrefixes, table: &sqliteTables, tablePrefixes: sqliteTablePrefixes}
	sqlserverCatalog = catalog{function: &sqlserverFunctions, prefixes: sqlserverPrefixes, schema: "sys"}
)

// dialects are built when a policy first needs one, because most policies need none.
var dialects = sync.OnceValue(func() map[string]*dialect {
	d := map[string]*dialect{
		"postgres": {
			readings: []lexis{postgresLexis, postgresLexis.withBackslash(true)},
			heads:    wordSet("select with values table explain show"),
			keywords: wordSet(keywordsAll, keywordsPostgres), callable: wordSet(callablePostgres),
			catalogs: []catalog{postgresCatalog},
		},
		"mysql": {
			readings: []lexis{
				mysqlLexis, mysqlLexis.withBackslash(false),
				mysqlLexis.withIdentifiers(), mysqlLexis.withIdentifiers().withBackslash(false),
			},
			heads:    wordSet("select with values table explain describe desc show"),
			keywords: wordSet(keywordsAll, keywordsMySQL), callable: wordSet(callableMySQL),
			catalogs: []catalog{mysqlCatalog},
		},
		"sqlite": {
			readings: []lexis{sqliteLexis},
			heads:    wordSet("select with values explain pragma"),
			keywords: wordSet(keywordsAll, keywordsSQLite),
			catalogs: []catalog{sqliteCatalog},
		},
		"sqlserver": {
			readings: []lexis{sqlserverLexis},
			heads:    wordSet("select with"),
			keywords: wordSet(keywordsAll, keywordsSQLServer),
			catalogs: []catalog{sqlserverCatalog},
			hints:    wordSet(lockHints), splits: true,
		},
	}
	for _, one := range d {
		one.never, one.writers, one.effects = wordSet(neverAnywhere), wordSet(writersAll), wordSet("nextval setval")
	}
	d[""] = mergeDialects(d["postgres"], d["mysql"], d["sqlite"], d["sqlserver"])
	return d
})

// mergeDialects returns a dialect for a server that uses one of several dialects, if it is unknown
// which one. The merged dialect has all readings and all words of each dialect. A word that has an
// effect in one of the dialects has an effect in the merged dialect too.
func mergeDialects(parts ...*dialect) *dialect {
	all := &dialect{
		heads: set{}, keywords: set{}, callable: set{}, never: set{}, writers: set{}, effects: set{}, hints: set{},
	}
	for _, d := range parts {
		all.readings = append(all.readings, d.readings...)
		all.catalogs = append(all.catalogs, d.catalogs...)
		all.splits = all.splits || d.splits
		for _, p := range []struct{ into, from set }{
			{all.heads, d.heads},
			{all.keywords, d.keywords},
			{all.callable, d.callable},
			{all.never, d.never},
			{all.writers, d.writers},
			{all.effects, d.effects},
			{all.hints, d.hints},
		} {
			maps.Copy(p.into, p.from)
		}
	}
	for _, d := range parts {
		for w := range all.keywords {
			if !d.keywords[w] {
				all.callable[w] = true // the word is not a keyword in d, so it may be a function there
			}
		}
	}
	return all
}

func (l lexis) withBackslash(on bool) lexis {
	l.backslash, l.setting, l.differs = on, true, '\\'
	return l
}

func (l lexis) withIdentifiers() lexis {
	l.doubleString, l.setting, l.differs = false, true, '"'
	return l
}
