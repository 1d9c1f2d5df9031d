package sql

import "strings"

// The tables of functions are made by a test, since it needs the engines.
//
//go:generate go test -tags attack -count=1 -run ^TestTables$ ../../../test/attack/sql -update

// class is what is known of a function by its name. Where the dialect is not
// declared, the greatest of what the engines know counts.
type class uint8

const (
	unknown class = iota // nobody's: it may be anybody's
	reads                // without effect
	doubt                // an engine's, which may have one
	acts                 // writes, waits, locks, changes the session, runs a text as SQL, or reaches files or servers
)

// prefix is what names begin with that are no others'.
type prefix struct {
	begin string
	class class
}

// catalog is what one engine brings with it.
type catalog struct {
	// function knows functions by their name in lower case, prefixes what names begin
	// with that it does not know.
	function func(string) class
	prefixes []prefix
	// schema holds the engine's functions and nobody else's.
	schema string
	// table and tablePrefixes know what stands in a FROM and is no table.
	table         func(string) class
	tablePrefixes []prefix
	// columns are those of the rows that a function gives, between blanks; operator
	// knows the operators. Both are nil where a dot and an operator call nothing.
	columns  func(string) string
	operator func(string) bool
}

func known(name string, exact func(string) class, prefixes []prefix) class {
	c := exact(name)
	if c != unknown {
		return c
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.begin) {
			return p.class
		}
	}
	return unknown
}

// function is what the engines of the dialect know of a function.
func (d *dialect) function(name string) class {
	c := unknown
	for i := range d.catalogs {
		c = max(c, known(name, d.catalogs[i].function, d.catalogs[i].prefixes))
	}
	return c
}

// inSchema is what is known of a function that is called with its schema.
func (d *dialect) inSchema(schema, name string) class {
	for i := range d.catalogs {
		e := &d.catalogs[i]
		if e.schema != schema {
			continue
		}
		if c := e.function(schema + "." + name); c != unknown {
			return c
		}
		if e.columns != nil {
			return e.function(name)
		}
	}
	return unknown
}

// notTable is what is known of a name that stands for rows and may be no table's.
func (d *dialect) notTable(name string) class {
	c := unknown
	for i := range d.catalogs {
		if e := &d.catalogs[i]; e.table != nil {
			c = max(c, known(name, e.table, e.tablePrefixes))
		}
	}
	return c
}
