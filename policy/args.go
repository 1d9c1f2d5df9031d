package policy

import (
	"cmp"
	"slices"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// argNames is a node in the tree of the argument names that rules mention.
type argNames struct {
	slot   int32                // index in Policy.readers for the conditions on this argument; 0 if there are none
	groups []sameNames          // the children, grouped by folded name
	place  map[string]int       // index in groups, by folded name
	flat   map[string]*argNames // the children, by exact name

	id    int32     // unique in the tree; 0 for the root
	name  string    // the last name of the path
	up    *argNames // nil for the root
	nodes int32     // in the root: the number of nodes below it
}

// sameNames holds the children whose names are equal when letter case is ignored.
type sameNames struct {
	folded string
	all    []kid
}

type kid struct {
	name string
	node *argNames
}

// ensureNode returns the node of a path below n. It adds missing nodes.
func (n *argNames) ensureNode(path []string) *argNames {
	root := n
	for _, name := range path {
		next := n.flat[name]
		if next == nil {
			if n.flat == nil {
				n.flat, n.place = map[string]*argNames{}, map[string]int{}
			}
			root.nodes++
			next = &argNames{id: root.nodes, name: name, up: n}
			n.flat[name] = next
			folded := reading.FoldCase(name)
			i, known := n.place[folded]
			if !known {
				i, n.groups = len(n.groups), append(n.groups, sameNames{folded: folded})
				n.place[folded] = i
			}
			n.groups[i].all = append(n.groups[i].all, kid{name, next})
		}
		n = next
	}
	return n
}

// fewNames is the number of names up to which comparing is faster than a map lookup.
const fewNames = 8

// findFolded returns the children whose names equal key when letter case is ignored.
func (n *argNames) findFolded(key string) []kid {
	if len(n.groups) <= fewNames && textclass.IsASCII(key) {
		for i := range n.groups {
			if k := &n.groups[i]; k.folded == key || len(k.folded) == len(key) && foldsASCII(key, k.folded) {
				return k.all
			}
		}
		return nil
	}
	var room [64]byte
	if i, known := n.place[string(reading.FoldInto(room[:0], key))]; known {
		return n.groups[i].all
	}
	return nil
}

// foldsASCII reports whether an ASCII text folds to another text of the same length.
func foldsASCII(s, folded string) bool {
	for i := range len(s) {
		if reading.LowerByte(s[i]) != folded[i] {
			return false
		}
	}
	return true
}

// value is one string, number or boolean that was found for an argument name. Or it is a note: at
// that place a server may find no value that a glob could match.
type value struct {
	slot  int32
	kind  where.Kind
	whole where.Kind // JSON type of the whole argument; the argument may be a list or an object that holds the value
	s     string

	within string // the text of the call whose JSON holds the value; "" for a value of the call itself
}

// isAbsent reports whether v is only the note that a server may find no string, number or boolean.
// Then there is no text that a glob could match.
func (v *value) isAbsent() bool {
	return v.kind != where.String && v.kind != where.Number && v.kind != where.Boolean
}

// scanner finds the values of named arguments in the JSON object of a call. It expects JSON
// that internal/wire/frame has admitted, and fails on anything else. It copies only strings
// that hold escapes.
type scanner struct {
	jsonscan.Cursor
	within string // the text that holds the JSON in Src; "" for the call's own arguments
	values []value

	tool    builtin.Tool  // the tool that gets the arguments, as far as it is known
	all     bool          // a rule that may match the call has a condition on "*": every argument is read
	watch   bool          // a rule that may match the call judges arguments that it does not name
	only    bool          // a rule that may match the call has args_only: the rule refuses every argument that it does not name
	windows bool          // whether the server is known to run on Windows
	folder  *reading.Base // the one folder at which relative paths start; nil if it is not known
	// The arguments of the call, for rules that do not name them. There is one entry for each node
	// of the tree whose argument the call has.
	found   []furtherArgs
	marks   []int32 // by node id: index in found, plus 1
	weighed int     // effort spent on found
}

// maxValues is the largest number of values in one call's arguments that the rules read.
const maxValues = 1 << 20

// failureReason returns the reason why the scan gave up.
func (sc *scanner) failureReason() string {
	switch {
	case len(sc.values) > maxValues:
		return "arguments with more values than the rules read"
	case sc.Depth > jsonscan.MaxDepth:
		return "arguments nested too deeply"
	}
	return "arguments that are not a JSON object"
}

// scanArguments appends the values of the named arguments to sc.values. It returns false if src
// is not one JSON object, or if it holds too many values or nests too deeply.
func (sc *scanner) scanArguments(src []byte, names *argNames) bool {
	if len(src) == 0 {
		return true
	}
	// The string shares src's memory: it is used only during the decision, and nobody writes to
	// src.
	sc.Cursor, sc.within = jsonscan.Cursor{Src: string(jsonscan.ValueOf(src)), Room: sc.Room}, ""
	sc.SkipBlanks()
	if sc.Peek() != '{' || sc.all && !sc.readAllValues(names.slot) || !sc.readObject(names) {
		return false
	}
	sc.SkipBlanks()
	return sc.At == len(sc.Src)
}

// readObject reads an object. The parameter names contains the names of the members whose values
// are read.
func (sc *scanner) readObject(names *argNames) bool {
	more, ok := sc.EnterContainer('{')
	for more {
		key, found := sc.ReadName()
		if !found {
			return false
		}
		shared, known := "", false
		if names.up == nil && sc.within == "" && sc.tool.Class != "" {
			shared, known = sc.tool.SharedName(key), !sc.only && sc.tool.KnowsArgument(key)
		}
		if !sc.readNamed(names, key, shared, known) {
			return false
		}
		more, ok = sc.NextItem('}')
	}
	return ok
}

// readNamed reads one member of an object; the parameter key is the member's name. Rules may name
// the member by this name or by the name that the tool's class gives to the argument. That name is
// the parameter shared; "" if there is none. If the parameter known is true, the member is not
// suspicious to rules that do not name it.
func (sc *scanner) readNamed(names *argNames, key, shared string, known bool) bool {
	start, read := sc.At, false
	var exact [2]*argNames
	for i, name := range [...]string{key, shared} {
		if i > 0 && name == "" {
			break
		}
		for _, k := range names.findFolded(name) {
			sc.At, read = start, true
			same := k.name == name
			if !sc.readMember(k.node) || same && sc.watch && !known && !sc.noteNamed(k.node, cmp.Or(shared, key), start) {
				return false
			}
			if same {
				exact[i] = k.node
			} else {
				k.node.addAbsent(sc)
			}
		}
	}
	switch {
	case exact[0] == nil && exact[1] == nil && sc.watch && !known:
		sc.At = start
		return sc.readUnnamed(names, cmp.Or(shared, key))
	case !read:
		return sc.SkipValue()
	case exact[0] != nil && exact[1] != nil && sc.watch:
		sc.furtherArgsAt(exact[0]).twin, sc.furtherArgsAt(exact[1]).twin = exact[1], exact[0]
	}
	return true
}

// addAbsent notes, for every condition at or below n, that a server may find no value.
func (n *argNames) addAbsent(sc *scanner) {
	if n.slot != 0 {
		sc.values = append(sc.values, value{slot: n.slot})
	}
	for _, k := range n.flat {
		k.addAbsent(sc)
	}
}

// readMember reads the value of a named argument, for the conditions on the argument and on its
// members.
func (sc *scanner) readMember(n *argNames) bool {
	start := sc.At
	if n.slot != 0 {
		if !sc.readLeaf(n.slot, kindOf(sc.Peek()), false) {
			return false
		}
		if len(n.groups) == 0 {
			return true
		}
		sc.At = start
	}
	switch sc.Peek() {
	case '{':
		return sc.readObject(n)
	case '[':
		return sc.VisitElements(func() bool { return sc.readElement(n) })
	case '"':
		return sc.embeddedMember(n)
	}
	return sc.SkipValue()
}

// withoutConditions returns a copy of n without the conditions on n itself.
func (n *argNames) withoutConditions() *argNames {
	return &argNames{groups: n.groups, place: n.place, flat: n.flat, id: n.id, name: n.name, up: n.up}
}

// readElement reads one element of a list on the way to a named member. For an element without the
// member it notes that a server may find no value.
func (sc *scanner) readElement(n *argNames) bool {
	before := len(sc.values)
	if before > maxValues {
		return false
	}
	list := sc.Peek() == '['
	if !sc.readMember(n.withoutConditions()) {
		return false
	}
	if list && len(sc.values) > before {
		return true // the missing members of the inner list are already noted
	}
	for _, k := range n.flat {
		k.absentUnless(sc, before)
	}
	return true
}

// absentUnless does the same as addAbsent, but only for conditions that have no value in
// sc.values[before:].
func (n *argNames) absentUnless(sc *scanner, before int) {
	bySlot := func(v value) bool { return v.slot == n.slot }
	if n.slot != 0 && !slices.ContainsFunc(sc.values[before:], bySlot) {
		sc.values = append(sc.values, value{slot: n.slot})
	}
	for _, k := range n.flat {
		k.absentUnless(sc, before)
	}
}

// readLeaf reads the values that conditions on an argument are matched against. The parameter whole
// is the kind of the whole argument. The parameter inside means that the value lies in an object or
// in the JSON of a text: such a value is used only if it is a string, a number or a boolean.
func (sc *scanner) readLeaf(slot int32, whole where.Kind, inside bool) bool {
	if len(sc.values) > maxValues {
		return false
	}
	v := value{slot: slot, kind: kindOf(sc.Peek()), whole: whole, within: sc.within}
	switch v.kind {
	case where.String:
		s, ok := sc.ReadString()
		v.s = s
		sc.values = append(sc.values, v)
		if !ok || !holdsJSON(s) {
			return ok
		}
		return sc.readEmbedded(s, func() bool {
			if whole == where.String {
				whole = kindOf(sc.Peek())
			}
			return sc.readLeaf(slot, whole, true)
		})
	case where.Object:
		if !inside {
			sc.values = append(sc.values, v)
		}
		return sc.VisitMembers(func(string) bool { return sc.readLeaf(slot, whole, true) })
	case where.List:
		n := len(sc.values)
		ok := sc.VisitElements(func() bool { return sc.readLeaf(slot, whole, inside) })
		if len(sc.values) == n && !inside {
			sc.values = append(sc.values, v)
		}
		return ok
	default:
		start := sc.At
		if !sc.SkipValue() {
			return false
		}
		if v.kind != where.Null {
			v.s = sc.Src[start:sc.At]
		}
		if v.kind != where.Null || !inside {
			sc.values = append(sc.values, v)
		}
		return true
	}
}

// kindOf returns the JSON type of the value that begins with c (RFC 8259, section 3).
func kindOf(c byte) where.Kind {
	switch c {
	case '"':
		return where.String
	case '{':
		return where.Object
	case '[':
		return where.List
	case 't', 'f':
		return where.Boolean
	case 'n':
		return where.Null
	}
	return where.Number
}
