package toml

import "fmt"

// How a name was defined (TOML 1.0.0, "Table").
type definition uint8

const (
	asValue  definition = iota // a value, or an inline table: nothing is added to it
	asDotted                   // by a dotted key: dotted keys alone add to it
	asPassed                   // on the way of a header; one of its own may follow
	asTable                    // by its header
	asTables                   // by a header of a list of tables
)

var definitionWords = [...]string{asValue: "a value", asDotted: "a table by a dotted key", asPassed: "a table", asTable: "a table", asTables: "a list of tables"}

// name is one name that a document has defined so far. It stands behind the one that it
// is below, and an element of a list, which has none, too.
type name struct {
	below int // its place in the list
	text  string
	as    definition
}

// What names are below that are below no other.
const (
	root = -1
	gone = -2 // nothing finds them any more
)

// defined holds what an expression must not define anew.
type defined struct {
	names   []name
	current int // what pairs stand in

	conflict string // the first, and where it stands
	at       int
}

// addExpression takes the next expression.
func (d *defined) addExpression(e Expression) {
	if d.conflict != "" {
		return
	}
	if e.Form == Pair {
		d.addPair(d.current, e.Key, e.Value)
		return
	}
	at := root
	for _, part := range e.Key[:len(e.Key)-1] {
		if at = d.stepTo(at, part, asPassed); d.names[at].as == asValue {
			d.setConflict(part, asValue)
			return
		}
	}
	d.openHeader(at, e.Key[len(e.Key)-1], e.Form)
}

// openHeader opens a table, or one more of a list.
func (d *defined) openHeader(below int, part KeyPart, form Form) {
	want := asTable
	if form == TableArray {
		want = asTables
	}
	before := len(d.names)
	d.current = d.stepTo(below, part, want)
	switch as := &d.names[d.current].as; {
	case len(d.names) > before:
	case want == asTable && *as == asPassed:
		*as = asTable
	case want == asTables && *as == asTables:
		d.dropBelow(d.current)
	default:
		d.setConflict(part, *as)
	}
}

func (d *defined) addPair(below int, key []KeyPart, v Value) {
	for _, part := range key[:len(key)-1] {
		if below = d.stepTo(below, part, asDotted); d.names[below].as != asDotted {
			d.setConflict(part, d.names[below].as)
			return
		}
	}
	last := key[len(key)-1]
	before := len(d.names)
	at := d.stepTo(below, last, asValue)
	if len(d.names) == before {
		d.setConflict(last, d.names[at].as)
		return
	}
	d.addValue(at, v)
}

// addValue looks into inline tables, wherever they stand in it.
func (d *defined) addValue(at int, v Value) {
	switch {
	case v.IsTable():
		v.EachPair(func(key []KeyPart, v Value) { d.addPair(at, key, v) })
	case v.IsList():
		v.EachElement(func(v Value) {
			if v.IsTable() || v.IsList() {
				d.names = append(d.names, name{below: at}) // no name is below a list
				d.addValue(len(d.names)-1, v)
			}
		})
	}
}

// stepTo goes to a name, which it defines when it is new.
func (d *defined) stepTo(below int, part KeyPart, as definition) int {
	for i := below + 1; i < len(d.names); i++ {
		if n := &d.names[i]; n.below == below && n.text == part.Name {
			return i
		}
	}
	d.names = append(d.names, name{below, part.Name, as})
	return len(d.names) - 1
}

// dropBelow lets go of what is below a name: the next table of a list begins empty.
func (d *defined) dropBelow(at int) {
	for i := at + 1; i < len(d.names); i++ {
		if below := d.names[i].below; below == at || below > at && d.names[below].below == gone {
			d.names[i].below = gone
		}
	}
	for d.names[len(d.names)-1].below == gone {
		d.names = d.names[:len(d.names)-1]
	}
}

func (d *defined) setConflict(part KeyPart, as definition) {
	if d.conflict == "" {
		d.conflict, d.at = fmt.Sprintf("%s is already defined, as %s", part.Name, definitionWords[as]), part.Start
	}
}
