package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// Further is what a rule says of the arguments that it does not name. A condition
// names its argument, and what lies below it.
//
// The zero value is for an allow that has a condition on an argument, and only for
// that, a doubt: the allow opens no call with a further argument that may name a
// place or a command (Suspect).
type Further struct {
	Open  bool     // args_open = true: they may be whatever they are
	Only  bool     // args_only: there must be none, but for those in Names
	Names []string // of args_only that is a list; nil when it is true
}

// watchesUnnamedArgs reports whether a rule with conditions on some arguments looks at those that it
// does not name.
func (f *Further) watchesUnnamedArgs(a Action, on [][]string) bool {
	return f.Only || !f.Open && a == Allow && len(on) > 0 && !slices.ContainsFunc(on, EveryArgument)
}

// further is Further, compiled. The zero value looks at nothing.
type further struct {
	watches, only bool
	named         []*argNames // by conditions, and by args_only
}

// beyond is what a call has at one place of the tree of argument names, for rules
// that do not name it.
type beyond struct {
	node   *argNames
	twin   *argNames         // the same argument under its other name, of a built-in tool; nil when rules name one only
	there  bool              // the argument itself
	any    bool              // members below it that no rule names
	why    reading.Suspicion // the most telling of what is there
	name   string            // of a member that no rule names: of the suspicious one, or else of the first
	called string            // what its value is called
	at     int               // where the argument's value begins, plus 1, until it has been looked at; else 0
}

// argumentPath leads to what speaks against the call.
func (b *beyond) argumentPath() []string {
	var path []string
	if b.any {
		path = []string{strings.Clone(b.name)}
	}
	for n := b.node; n.up != nil; n = n.up {
		path = slices.Insert(path, 0, n.name)
	}
	return path
}

// namesArgument reports whether an argument is named: it, or one that it lies in.
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

// namesDescendant reports whether a named argument lies below n.
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

// judgeBeyond judges what a call has at one place.
func (v *view) judgeBeyond(f *further, b *beyond) where.Match {
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

// isSuspicious looks at the value of an argument when a rule asks that does not name it.
func (v *view) isSuspicious(b *beyond) bool {
	if b.at > 0 && b.why == reading.Innocent {
		v.At, b.at = b.at-1, 0
		before := v.weighed
		b.why, _ = v.suspectNamed(b.node, b.called) // it has been read before
		v.left.Spend(v.weighed - before)
	}
	return b.why != reading.Innocent
}

// judgeFurther judges all that a call has and a rule does not name, and gives what was
// held against the call.
func (v *view) judgeFurther(r *rule) (m where.Match, at *beyond) {
	m = where.Yes
	v.left.Spend(patternEffort * len(v.found) * (1 + len(r.further.named)))
	for i := range v.found {
		if s := v.judgeBeyond(&r.further, &v.found[i]); s < m {
			m, at = s, &v.found[i]
		}
	}
	return m, at
}

// watchesFurther notes whether a rule in reach looks at arguments that it does not name.
func (v *view) watchesFurther() bool {
	v.watch, v.only = false, false
	for _, b := range v.buckets {
		v.watch, v.only = v.watch || b.watches, v.only || b.only
	}
	return v.watch
}

// resetFound makes room for the next call.
func (sc *scanner) resetFound() {
	for i := range sc.found {
		sc.marks[sc.found[i].node.id] = 0
	}
	clear(sc.found)
	sc.found = sc.found[:0]
}

// beyondAt keeps what is found at n.
func (sc *scanner) beyondAt(n *argNames) *beyond {
	for len(sc.marks) <= int(n.id) {
		sc.marks = append(sc.marks, 0)
	}
	if sc.marks[n.id] == 0 {
		sc.found = append(sc.found, beyond{node: n})
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
	b := sc.beyondAt(n)
	if !b.any || b.why == reading.Innocent && why != reading.Innocent {
		b.name = name
	}
	b.any, b.why = true, max(b.why, why)
	return ok
}

// noteNamed notes an argument that some rule names, for those that do not. It is called as
// said, which for a built-in tool's is the name of its class. Its value
// begins at start, and has been read; its members are seen to by object.
func (sc *scanner) noteNamed(n *argNames, called string, start int) bool {
	b := sc.beyondAt(n)
	b.called = called
	if !b.there && sc.within == "" {
		b.there, b.at = true, start+1
		return true
	}
	sc.At, b.there = start, true
	why, ok := sc.suspectNamed(n, called)
	b = sc.beyondAt(n)
	b.why = max(b.why, why)
	return ok
}

// suspectNamed gives suspect for an argument that some rule names.
func (sc *scanner) suspectNamed(n *argNames, called string) (reading.Suspicion, bool) {
	if len(n.kids) > 0 {
		return sc.suspectOuter(called)
	}
	return sc.suspectValue(called)
}

// suspectOuter gives suspect for what is in no object.
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

// furtherEffort is the work to look at an argument that a rule may not name.
const furtherEffort = 32

// suspectValue reads a value, and says what is suspicious of it under a name: a text in
// it, in its lists, in its objects under the names of their members, and in JSON
// that stands in a text.
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

// suspectJSON gives suspect for what stands in a text.
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
