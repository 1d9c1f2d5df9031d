package sql

import "strings"

// A test writes the tables of functions, because the database engines are needed for
// that.
//
//go:generate go test -tags attack -count=1 -run ^TestTables$ ../../../test/attack/sql -update

// class is the effect of a function, as known from its name. If the dialect is not declared, a
// function has the greatest of the classes that the engines give it.
type class uint8

const (
	unknown class = iota // not a built-in function, so a user may have defined it
	reads                // without effect
	doubt                // built in, and may have an effect
	acts                 // writes, waits, locks, changes the session, runs a text as SQL, or reaches files or servers
)

// lists holds the names of each class. The names are sorted, with blanks or line ends between them.
// This form needs the least memory, and no work at the start of the program.
type lists [acts + 1]string

// classOf returns the class whose list contains a name.
func (l *lists) classOf(name string) class {
	for c := reads; c <= acts; c++ {
		if listContains(l[c], name) {
			return c
		}
	}
	return unknown
}

// listContains finds a name in a list by binary search.
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

// prefix is the beginning of names; only one engine uses such names.
type prefix struct {
	begin string
	class class
}

// catalog holds the built-in names of one engine.
type catalog struct {
	// function maps functions to classes, by their names in lower case. prefixes give the classes
	// of other names, by their beginnings.
	function *lists
	prefixes []prefix
	// schema is the name of the schema that contains only the engine's own functions; ""
	// if there is none.
	schema string
	// table and tablePrefixes give the classes of names in a FROM that are not tables.
	table         *lists
	tablePrefixes []prefix
	// columns returns the columns of the rows that a function returns, with blanks between and
	// around them. operator reports whether an operator is built in. Both are nil for an engine in
	// which a function can be called only with parentheses, not by a dot or an operator.
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

// classifyFunction returns the greatest class that the engines of the dialect have for
// a function.
func (d *dialect) classifyFunction(name string) class {
	c := unknown
	for i := range d.catalogs {
		c = max(c, classifyName(name, d.catalogs[i].function, d.catalogs[i].prefixes))
	}
	return c
}

// inSchema returns the class of a function that the text calls with its schema.
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

// notTable returns the class of a name that stands for rows, in case the name is not a table.
func (d *dialect) notTable(name string) class {
	c := unknown
	for i := range d.catalogs {
		if e := &d.catalogs[i]; e.table != nil {
			c = max(c, classifyName(name, e.table, e.tablePrefixes))
		}
	}
	return c
}
