package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/where"
)

// NameSet is a set of names, such as the roles of a person. The zero value means that the names are
// not known. A set without names is a different value. NameSet is a string, so that Facts can be
// compared and copied without an allocation. The string is a line break and then each name with a
// line break. NewNameSet makes a NameSet.
type NameSet string

// The maximum lengths, in bytes, of a name that identifies somebody and of a set of names. The
// lengths are bounded because every record of a call may hold the set.
const (
	maxIdentityName = 200
	maxNameSet      = 16 << 10
)

// NewNameSet returns the set with these names; the list may be empty. It returns an error if a text
// is not a valid name (IsIdentityName), or if the names have more than 16 KiB.
func NewNameSet(list []string) (NameSet, error) {
	var b strings.Builder
	b.WriteByte('\n')
	for _, name := range list {
		if !IsIdentityName(name) {
			return "", fmt.Errorf("%q is no name", name)
		}
		b.WriteString(name + "\n")
	}
	if b.Len() > maxNameSet {
		return "", fmt.Errorf("%d names are longer than %d KiB", len(list), maxNameSet>>10)
	}
	return NameSet(b.String()), nil
}

// IsIdentityName reports whether a text can name a person, a role, a group, an environment or an
// agent: 1 to 200 bytes of UTF-8 with visible characters only.
func IsIdentityName(s string) bool {
	return s != "" && len(s) <= maxIdentityName && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// IsKnown reports whether the set is known; a known set may be empty.
func (n NameSet) IsKnown() bool { return n != "" }

// Equal reports whether both sets hold the same names in the same order, or both sets are unknown.
func (n NameSet) Equal(other NameSet) bool { return n == other }

// All returns the names.
func (n NameSet) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		if n == "" {
			return
		}
		for rest := string(n[1:]); rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, "\n"); !yield(name) {
				return
			}
		}
	}
}

// List returns the names. It returns nil only if the names are not known.
func (n NameSet) List() []string {
	if n == "" {
		return nil
	}
	return append([]string{}, slices.Collect(n.All())...)
}

// UnmarshalJSON reads a list of texts, as a record and a fixture keep it; null means that the names
// are not known.
func (n *NameSet) UnmarshalJSON(src []byte) (err error) {
	var list []string
	if err = json.Unmarshal(src, &list); err != nil {
		return errors.New("it is not a list of texts")
	}
	if *n = ""; list == nil {
		return nil
	}
	*n, err = NewNameSet(list)
	return err
}

// MarshalJSON writes the names as a list, or null if the names are not known.
func (n NameSet) MarshalJSON() ([]byte, error) { return json.Marshal(n.List()) }

// describeNames returns the names in words for people, or "" if the names are not known.
func describeNames(n NameSet) string {
	switch list := n.List(); {
	case list == nil:
		return ""
	case len(list) > 0:
		return strings.Join(list, ", ")
	}
	return "none"
}

// callNames is a condition on a set of names of a call: one name must match one glob.
type callNames struct {
	globs anyOf
	set   func(*Facts) *NameSet
}

func (g *callNames) matchCall(c *Call) where.Match {
	names := *g.set(&c.Facts)
	if !names.IsKnown() {
		return where.Maybe
	}
	for name := range names.All() {
		if g.globs.matchText(name) {
			return where.Yes
		}
	}
	return where.No
}

// meet adds to the call's names a name that the first glob matches.
func (g *callNames) meet(c *Call) {
	list := g.set(&c.Facts).List()
	if name := exampleOf(g.globs); IsIdentityName(name) && !slices.ContainsFunc(list, g.globs.matchText) {
		if more, err := NewNameSet(append(list, name)); err == nil {
			*g.set(&c.Facts) = more
		}
	}
}

// miss removes the names that match the globs.
func (g *callNames) miss(c *Call) {
	if rest, err := NewNameSet(slices.DeleteFunc(g.set(&c.Facts).List(), g.globs.matchText)); err == nil {
		*g.set(&c.Facts) = rest
	}
}

// exampleOf returns a text that the first glob matches.
func exampleOf(globs anyOf) string {
	return strings.NewReplacer("*", "", "?", "x").Replace(globs[0].String())
}

// readEnvironment reads the top-level key env, which names the environment in which the machine
// works.
func (p *parser) readEnvironment(e toml.Expression) {
	start, end := e.Key[0].Start, e.Key[len(e.Key)-1].End
	switch {
	case len(e.Key) > 1 || !e.Value.IsString() || !IsIdentityName(e.Value.Text()):
		p.fail(start, end, "env must be a text of 1 to 200 characters", environmentForm)
	case p.environment.name != "":
		p.fail(start, end, "env is given twice", "")
	default:
		p.environment = environment{e.Value.Text(), p.positionOf(start)}
	}
}

const environmentForm = `an organisation's policy has env = "prod" above every [[rule]]`

// environment is the key env of an organisation's policy: the name of the machine's environment,
// and the place of the key.
type environment struct {
	name string
	pos  Position
}

// checkEnvironment returns an error if a policy has the key env but is not an organisation's
// policy. The user of the machine can write every other policy, and could choose the environment in
// it.
func (e environment) checkEnvironment(o Options) Errors {
	if e.name == "" || o.Layer == Organisation || o.Draft {
		return nil
	}
	return Errors{&Error{Pos: e.pos, Text: "env", Msg: "only an organisation's policy says in which environment this machine works",
		Hint: "take env out; a rule may have env as a condition"}}
}

// Organisation is the value of Options.Layer for an organisation's policies.
const Organisation = "organisation"

// Environment returns the environment that the policy or its layers name; "" if they name none, or
// different ones. The caller may give further names, which are treated like the names of layers.
// Empty names are ignored.
func (p *Policy) Environment(also ...string) (env string) {
	all := append([]string{p.environment}, also...)
	for _, layer := range p.options.Above {
		all = append(all, layer.environment)
	}
	for _, name := range all {
		switch {
		case name == "":
		case env != "" && env != name:
			return ""
		default:
			env = name
		}
	}
	return env
}

// AsksIdentity reports whether a rule has a condition on the caller or on the environment. names
// are the rule keys to look for, such as "group"; without names, AsksIdentity looks for all such
// keys.
func (p *Policy) AsksIdentity(names ...string) bool {
	return p.matchesAnyLayer(func(q *Policy) bool {
		return slices.ContainsFunc(q.identity, func(key string) bool { return len(names) == 0 || slices.Contains(names, key) })
	})
}
