package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// Further holds what a rule says about unnamed arguments: those that no condition of the rule
// names. A condition names its argument and everything below it.
//
// The zero value matters only for an allow with a condition on an argument. Such an allow does not
// match a call in which an unnamed argument may hold a place or a command (reading.SuspectText).
type Further struct {
	Open  bool     // args_open = true: unnamed arguments may have any value
	Only  bool     // args_only: the call may have no unnamed arguments, except those in Names
	Names []string // the list of args_only; nil if it is true
}

// watchesUnnamedArgs reports whether a rule judges the arguments that it does not name. paths are
// the arguments that have conditions.
func (f *Further) watchesUnnamedArgs(a Action, paths [][]string) bool {
	return f.Only || !f.Open && a == Allow && len(paths) > 0 && !slices.ContainsFunc(paths, EveryArgument)
}

// further is the compiled form of Further. With the zero value, a rule judges no unnamed arguments.
type further struct {
	watches, only bool
	named         []*argNames // arguments named by conditions and by args_only
}

// furtherArgs holds what a call has for one argument, which is a node of the tree of argument names.
// Rules that do not name this argument need it.
type furtherArgs struct {
	node *argNames
	// The node of the argument's other name, because a built-in tool can have two names for one
	// argument; nil if rules use only one of the names.
	twin   *argNames
	there  bool              // the call has a value for the argument itself, and not only for its members
	any    bool              // the argument has members that no rule names
	why    reading.Suspicion // the strongest suspicion that was found
	name   string            // name of a member that no rule names: the first suspicious one, or else the first
	called string            // the name under which the argument's value is judged
	at     int               // offset of the argument's value, plus 1; 0 after the value was judged
}

// argumentPath returns the path of the argument because of which a rule does not match the call.
func (b *furtherArgs) argumentPath() []string {
	var path []string
	if b.any {
		path = []string{strings.Clone(b.name)}
	}
	for n := b.node; n.up != nil; n = n.up {
		path = slices.Insert(path, 0, n.name)
	}
	return path
}

// namesArgument reports whether the rule names the argument n or an argument that holds n.
func (f *further) namesArgument(n *argNames) bool {
	for ; n.up != nil; n = n.up {
		for _, m := range f.named {
			if m.id == n.id {
				return true
			}
		}
	}
	return false
}

// namesDescendant reports whether the rule names an argument below n.
func (f *further) namesDescendant(n *argNames) bool {
	for _, m := range f.named {
		for m = m.up; m != nil; m = m.up {
			if m.isSameNode(n) {
				return true
			}
		}
	}
	return false
}

func (n *argNames) isSameNode(m *argNames) bool { return n.id == m.id }

// judgeFurtherArgs judges the arguments of a call at one node.
func (v *view) judgeFurtherArgs(f *further, b *furtherArgs) where.Match {
	if f.namesArgument(b.node) || b.twin != nil && f.namesArgument(b.twin) || b.there && !b.any && f.only && f.namesDescendant(b.node) && !v.isSuspicious(b) {
		return where.Yes
	}
	switch {
	case f.only:
		return where.No
	case v.isSuspicious(b):
		return where.Maybe
	}
	return where.Yes
}

// isSuspicious reports whether an argument is suspicious. The first call of isSuspicious judges the
// argument's value. Until then only the offset of the value is kept, because most rules never need
// the answer.
func (v *view) isSuspicious(b *furtherArgs) bool {
	if b.at > 0 && b.why == reading.Innocent {
		v.At, b.at = b.at-1, 0
		before := v.weighed
		b.why, _ = v.suspectNamed(b.node, b.called) // no error: the scanner has read the value before
		v.left.Spend(v.weighed - before)
	}
	return b.why != reading.Innocent
}

// judgeFurther judges all those arguments of a call that a rule does not name. It also returns the
// entry with the worst result; nil if every result is where.Yes.
func (v *view) judgeFurther(r *rule) (m where.Match, at *furtherArgs) {
	m = where.Yes
	v.left.Spend(patternEffort * len(v.found) * (1 + len(r.further.named)))
	for i := range v.found {
		if s := v.judgeFurtherArgs(&r.further, &v.found[i]); s < m {
			m, at = s, &v.found[i]
		}
	}
	return m, at
}

// watchesFurther looks at the rules that may match the call, and sets two fields of the scanner:
// watch and only. It returns the field watch.
func (v *view) watchesFurther() bool {
	v.watch, v.only = false, false
	for _, b := range v.buckets {
		v.watch, v.only = v.watch || b.watches, v.only || b.only
	}
	return v.watch
}

// resetFound clears the field found for the next call.
func (sc *scanner) resetFound() {
	for i := range sc.found {
		sc.marks[sc.found[i].node.id] = 0
	}
	clear(sc.found)
	sc.found = sc.found[:0]
}

// furtherArgsAt returns the entry for the node n in the field found. It adds a missing entry.
func (sc *scanner) furtherArgsAt(n *argNames) *furtherArgs {
	for len(sc.marks) <= int(n.id) {
		sc.marks = append(sc.marks, 0)
	}
	if sc.marks[n.id] == 0 {
		sc.found = append(sc.found, furtherArgs{node: n})
		sc.marks[n.id] = int32(len(sc.found))
	}
	return &sc.found[sc.marks[n.id]-1]
}

// readUnnamed reads a member of n that no rule names.
func (sc *scanner) readUnnamed(n *argNames, name string) bool {
	why, ok := sc.suspectValue(name)
	if why == reading.Innocent && !sc.only {
		return ok
	}
	b := sc.furtherArgsAt(n)
	if !b.any || b.why == reading.Innocent && why != reading.Innocent {
		b.name = name
	}
	b.any, b.why = true, max(b.why, why)
	return ok
}

// noteNamed notes an argument that at least one rule names, because other rules may not name it.
// called is the argument's name; for a built-in tool it is the name that the tool's class gives to
// the argument. The scanner has already read the value, which begins at start. readObject handles
// the members of the value.
func (sc *scanner) noteNamed(n *argNames, called string, start int) bool {
	b := sc.furtherArgsAt(n)
	b.called = called
	if !b.there && sc.within == "" {
		b.there, b.at = true, start+1
		return true
	}
	sc.At, b.there = start, true
	why, ok := sc.suspectNamed(n, called)
	b = sc.furtherArgsAt(n)
	b.why = max(b.why, why)
	return ok
}

// suspectNamed does what suspectValue does, for an argument that at least one rule names. It skips
// objects if rules name members of the argument.
func (sc *scanner) suspectNamed(n *argNames, called string) (reading.Suspicion, bool) {
	if len(n.groups) > 0 {
		return sc.suspectOuter(called)
	}
	return sc.suspectValue(called)
}

// suspectOuter does what suspectValue does, but only for values outside objects.
func (sc *scanner) suspectOuter(name string) (why reading.Suspicion, ok bool) {
	switch sc.Peek() {
	case '{':
		return reading.Innocent, sc.SkipValue()
	case '[':
		ok = sc.VisitElements(func() bool {
			w, ok := sc.suspectOuter(name)
			why = max(why, w)
			return ok
		})
		return why, ok
	case '"':
		start := sc.At
		if text, ok := sc.ReadString(); !ok || holdsJSON(text) {
			return reading.Innocent, ok
		}
		sc.At = start
	}
	return sc.suspectValue(name)
}

// furtherEffort is the effort of judging one argument as an unnamed argument.
const furtherEffort = 32

// suspectValue reads a value and returns the strongest suspicion in it. It judges a text and the
// texts in a list under the given name, and the texts in an object under the names of the members.
// It also judges the JSON in a text.
func (sc *scanner) suspectValue(name string) (why reading.Suspicion, ok bool) {
	sc.weighed += furtherEffort
	switch sc.Peek() {
	case '"':
		class := reading.ClassOf(name)
		if class == reading.TextName {
			return reading.Innocent, sc.SkipValue()
		}
		text, ok := sc.ReadString()
		if !ok {
			return reading.Innocent, false
		}
		sc.weighed += len(text)
		if sc.folder != nil && reading.IsWorkFolder(name) && sc.folder.IsNamedBy(text) {
			// The argument names the folder at which relative paths start anyway, so it changes
			// nothing.
			return reading.Innocent, true
		}
		if why = reading.SuspectText(class, text, sc.windows); why == reading.Innocent && holdsJSON(text) {
			why, ok = sc.suspectJSON(name, text)
		}
		return why, ok
	case '[':
		ok = sc.VisitElements(func() bool {
			w, ok := sc.suspectValue(name)
			why = max(why, w)
			return ok
		})
		return why, ok
	case '{':
		ok = sc.VisitMembers(func(key string) bool {
			w, ok := sc.suspectValue(key)
			why = max(why, w)
			return ok
		})
		return why, ok
	}
	return reading.Innocent, sc.SkipValue()
}

// suspectJSON does what suspectValue does, for the JSON in a text.
func (sc *scanner) suspectJSON(name, text string) (why reading.Suspicion, ok bool) {
	whole := false
	ok = sc.readEmbedded(text, func() bool {
		w, ok := sc.suspectValue(name)
		why, whole = w, ok && sc.At == len(sc.Src)
		return ok
	})
	if !whole {
		why = reading.Innocent
	}
	return why, ok
}
