package toml

import "fmt"

// definition tells how a document defined a name (TOML 1.0.0, "Table").
type definition uint8

const (
	asValue  definition = iota // as a value or an inline table: nothing may be added to the name
	asDotted                   // by a dotted key: only dotted keys may add to the name
	asPassed                   // as part of a longer header; a header for exactly this name may follow
	asTable                    // by a header for exactly this name
	asTables                   // by a header of a list of tables
)

var definitionWords = [...]string{asValue: "a value", asDotted: "a table by a dotted key", asPassed: "a table", asTable: "a table", asTables: "a list of tables"}

// name is one name that a document has defined so far. Its parent comes before it in the list.
// An element of a list is a name with an empty text.
type name struct {
	below int // index of the parent in the list
	text  string
	as    definition
}

// The values of the field below for names without a parent.
const (
	root = -1
	gone = -2 // the name is removed: no search finds it
)

// defined holds the names that an expression must not define again.
type defined struct {
	names   []name
	current int // index of the table to which the next pairs belong

	conflict string // the first conflict; at is its offset
	at       int
}

// addExpression adds the next expression.
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

// openHeader opens a table, or one more table of a list.
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

// addValue adds the names in inline tables, at any depth of the value.
func (d *defined) addValue(at int, v Value) {
	switch {
	case v.IsTable():
		v.EachPair(func(key []KeyPart, v Value) { d.addPair(at, key, v) })
	case v.IsList():
		v.EachElement(func(v Value) {
			if v.IsTable() || v.IsList() {
				d.names = append(d.names, name{below: at}) // an element of a list has no name of its own
				d.addValue(len(d.names)-1, v)
			}
		})
	}
}

// stepTo returns the index of the part's name among the names directly under the name with the
// given index. It adds the name if it is new.
func (d *defined) stepTo(below int, part KeyPart, as definition) int {
	for i := below + 1; i < len(d.names); i++ {
		if n := &d.names[i]; n.below == below && n.text == part.Name {
			return i
		}
	}
	d.names = append(d.names, name{below, part.Name, as})
	return len(d.names) - 1
}

// dropBelow removes the names below a name: the next table of a list begins empty.
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
