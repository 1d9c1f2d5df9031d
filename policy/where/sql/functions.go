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

// lists are the names of each class, sorted, with a blank or a line's end between them: of
// the forms that a program can hold, the one that takes least room and nothing at its start.
type lists [acts + 1]string

// classOf gives where a name stands.
func (l *lists) classOf(name string) class {
	for c := reads; c <= acts; c++ {
		if listContains(l[c], name) {
			return c
		}
	}
	return unknown
}

// listContains looks a name up in a list by halves.
func listContains(list, name string) bool {
	for list != "" {
		middle := len(list) / 2
		start := strings.LastIndexAny(list[:middle], " \n") + 1
		end := middle + strings.IndexAny(list[middle:], " \n")
		if end < middle {
			end = len(list)
		}
		switch c := strings.Compare(name, list[start:end]); {
		case c == 0:
			return true
		case c < 0:
			list = list[:max(start-1, 0)]
		default:
			list = list[min(end+1, len(list)):]
		}
	}
	return false
}

// prefix is what names begin with that are no others'.
type prefix struct {
	begin string
	class class
}

// catalog is what one engine brings with it.
type catalog struct {
	// function knows functions by their name in lower case, prefixes what names begin
	// with that it does not know.
	function *lists
	prefixes []prefix
	// schema holds the engine's functions and nobody else's.
	schema string
	// table and tablePrefixes know what stands in a FROM and is no table.
	table         *lists
	tablePrefixes []prefix
	// columns are those of the rows that a function gives, between blanks; operator
	// knows the operators. Both are nil where a dot and an operator call nothing.
	columns  func(string) string
	operator func(string) bool
}

func classifyName(name string, exact *lists, prefixes []prefix) class {
	c := exact.classOf(name)
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

// classifyFunction gives what the engines of the dialect know of a function.
func (d *dialect) classifyFunction(name string) class {
	c := unknown
	for i := range d.catalogs {
		c = max(c, classifyName(name, d.catalogs[i].function, d.catalogs[i].prefixes))
	}
	return c
}

// inSchema gives what is known of a function that is called with its schema.
func (d *dialect) inSchema(schema, name string) class {
	for i := range d.catalogs {
		e := &d.catalogs[i]
		if e.schema != schema {
			continue
		}
		if c := e.function.classOf(schema + "." + name); c != unknown {
			return c
		}
		if e.columns != nil {
			return e.function.classOf(name)
		}
	}
	return unknown
}

// notTable gives what is known of a name that stands for rows and may be no table's.
func (d *dialect) notTable(name string) class {
	c := unknown
	for i := range d.catalogs {
		if e := &d.catalogs[i]; e.table != nil {
			c = max(c, classifyName(name, e.table, e.tablePrefixes))
		}
	}
	return c
}
