package sql

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// dialect is what a text is judged by: the readings that all have to agree, and
// the words that the server knows.
type dialect struct {
	readings []lexis
	// heads are the words that a statement which reads may begin with.
	heads set
	// keywords may stand before a parenthesis without being a function.
	keywords set
	// functions are built in and without effect; catalog are those of them that
	// Postgres has.
	functions, catalog set
	// qualified are functions without effect that are called with their schema.
	qualified set
	// refused are functions with an effect, and prefixes what such names begin with.
	refused  set
	prefixes []string
	// never are the bare words that a reading statement does not have, writers
	// those that a statement which does not read may begin with.
	never, writers set
	// effects are words that have an effect even behind a dot: seq.nextval.
	effects set
	// hints are table hints that take locks.
	hints set
	// attributes says that what looks like a column may call a function.
	attributes bool
	// splits says that a statement ends where the next one begins.
	splits bool
}

type set map[string]bool

func words(lists ...string) set {
	s := set{}
	for _, l := range lists {
		for w := range strings.FieldsSeq(l) {
			s[w] = true
		}
	}
	return s
}

// Where strings end depends on standard_conforming_strings in Postgres, and on
// the SQL modes NO_BACKSLASH_ESCAPES and ANSI_QUOTES in MySQL.
var (
	postgresLexis = lexis{nested: true, dollarString: true, escapeString: true, bracket: subscript}
	mysqlLexis    = lexis{
		backslash: true, doubleString: true, backtick: true, hashComment: true, dashSpace: true,
		executable: true, at: true,
	}
	sqliteLexis    = lexis{backtick: true, at: true, dollarParam: true, bracket: name}
	sqlserverLexis = lexis{nested: true, at: true, bracket: nameTwice, wordChars: "#@"}
)

// dialects are made when a policy asks for one: most never do.
var dialects = sync.OnceValue(func() map[string]*dialect {
	d := map[string]*dialect{
		"postgres": {
			readings: []lexis{postgresLexis, postgresLexis.withBackslash(true)},
			heads:    words("select with values table explain show"),
			keywords: words(keywordsAll, keywordsPostgres), functions: words(functionsAll, functionsPostgres),
			qualified: set{},
			refused:   words(refusedPostgres), prefixes: strings.Fields(prefixesPostgres),
			attributes: true,
		},
		"mysql": {
			readings: []lexis{
				mysqlLexis, mysqlLexis.withBackslash(false),
				mysqlLexis.withIdentifiers(), mysqlLexis.withIdentifiers().withBackslash(false),
			},
			heads:    words("select with values table explain describe desc show"),
			keywords: words(keywordsAll, keywordsMySQL), functions: words(functionsAll, functionsMySQL),
			qualified: set{},
			refused:   words(refusedMySQL), prefixes: strings.Fields(prefixesMySQL),
		},
		"sqlite": {
			readings: []lexis{sqliteLexis},
			heads:    words("select with values explain pragma"),
			keywords: words(keywordsAll, keywordsSQLite), functions: words(functionsAll, functionsSQLite),
			qualified: set{},
			refused:   words(refusedSQLite), prefixes: nil,
		},
		"sqlserver": {
			readings: []lexis{sqlserverLexis},
			heads:    words("select with"),
			keywords: words(keywordsAll, keywordsSQLServer), functions: words(functionsAll, functionsSQLServer),
			qualified: words(qualifiedSQLServer),
			refused:   words(refusedSQLServer), prefixes: strings.Fields(prefixesSQLServer),
			hints: words(lockHints), splits: true,
		},
	}
	for n, one := range d {
		one.never, one.writers, one.effects = words(neverAnywhere), words(writersAll), words("nextval setval")
		if n == "postgres" {
			one.catalog = one.functions
		}
	}
	d[""] = merge(d["postgres"], d["mysql"], d["sqlite"], d["sqlserver"])
	return d
})

// merge is the dialect of a server that could be any of those: all readings of
// each, and the words of each. What one refuses none is allowed.
func merge(of ...*dialect) *dialect {
	all := &dialect{
		heads: set{}, keywords: set{}, functions: set{}, catalog: set{}, qualified: set{}, refused: set{},
		never: set{}, writers: set{}, effects: set{}, hints: set{},
	}
	for _, d := range of {
		all.readings = append(all.readings, d.readings...)
		all.prefixes = append(all.prefixes, d.prefixes...)
		all.splits = all.splits || d.splits
		all.attributes = all.attributes || d.attributes
		for _, p := range []struct{ into, from set }{
			{all.heads, d.heads},
			{all.keywords, d.keywords},
			{all.functions, d.functions},
			{all.catalog, d.catalog},
			{all.qualified, d.qualified},
			{all.refused, d.refused},
			{all.never, d.never},
			{all.writers, d.writers},
			{all.effects, d.effects},
			{all.hints, d.hints},
		} {
			maps.Copy(p.into, p.from)
		}
	}
	slices.Sort(all.prefixes)
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
