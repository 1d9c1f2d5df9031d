package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// Trust is how far something is true of a tool or a server, from the laxest to the
// strictest. The zero value is that nothing was said.
type Trust uint8

// What can be said of a property. Private is of secret_data alone.
const (
	Unsaid Trust = iota
	No
	Private
	Yes
	Forbidden
)

// Traits are what a server's tools have to do with people who are not the owner, and with
// what these should not get.
type Traits struct {
	PublicSource    Trust // it returns what anybody may have written
	SecretData      Trust // it returns what must not leave
	PublicSink      Trust // it writes where others read
	DangerousWrites Trust // it changes what hurts
}

// trustFields gives the traits in the order of the table's keys.
func (t *Traits) trustFields() [4]*Trust {
	return [4]*Trust{&t.PublicSource, &t.SecretData, &t.PublicSink, &t.DangerousWrites}
}

// FillUnsaid gives t, and what others say where t says nothing.
func (t Traits) FillUnsaid(others Traits) Traits {
	for i, to := range t.trustFields() {
		if *to == Unsaid {
			*to = *others.trustFields()[i]
		}
	}
	return t
}

// Join is the stricter of both in each.
func (t Traits) Join(others Traits) Traits {
	for i, to := range t.trustFields() {
		*to = max(*to, *others.trustFields()[i])
	}
	return t
}

// TrustTable is one [server.NAME], or one [server.NAME.tool."GLOB"]. It is no rule and
// allows nothing.
type TrustTable struct {
	Pos    Position
	Server string // the server's name, exactly
	Tool   string // a glob; "" for the server as a whole
	Traits Traits
	// Decides names the arguments that say where a call goes; nil where nothing is said.
	Decides []string
	Pin     Pin    // of the server as a whole
	From    string // the entry of extends that it comes from; "" for the file's own

	tool *glob.Pattern
	text string // what it says, as TOML
}

// Pin is how the lists of a server are held to what was approved (docs/pins.md), from the
// laxest. The zero value is that nothing was said.
type Pin uint8

// The pins.
const (
	_         Pin = iota
	PinOff        // nothing is looked at
	PinRecord     // what changes is on record, and passes
	PinFirst      // what is listed first is approved; afterwards as PinAsk
	PinAsk        // a person approves what changes, and until then it is as it was
	PinLock       // nobody is asked
)

var pinWords = []string{"", "off", "record", "first", "ask", "lock"}

// String is the word of a policy.
func (p Pin) String() string { return pinWords[p] }

// Pin is what the first table of a server that speaks of it says, or a layer where it is
// stricter. Whose name is not known is not pinned.
func (p *Policy) Pin(server string) (pin Pin) {
	for _, of := range append([]*Policy{p}, p.options.Above...) {
		at := slices.IndexFunc(of.trusts, func(t TrustTable) bool { return t.Server == server && t.Pin > 0 && server != "" })
		if at >= 0 {
			pin = max(pin, of.trusts[at].Pin)
		}
	}
	return pin
}

// HasPins says that some server is pinned.
func (p *Policy) HasPins() bool {
	return slices.ContainsFunc(append([]*Policy{p}, p.options.Above...), func(of *Policy) bool {
		return slices.ContainsFunc(of.trusts, func(t TrustTable) bool { return t.Pin > PinOff })
	})
}

// Level is what becomes of calls that could carry out what a session has seen. The zero
// value is that nothing is looked at.
type Level uint8

// The levels, from the laxest.
const (
	Off Level = iota
	Watch
	Ask
	Strict
)

// String is the word of a policy.
func (l Level) String() string { return levelWords[l] }

var levelWords = []string{"off", "watch", "ask", "strict"}

// FlowLevel gives the level of the policy, or that of a layer where it is stricter.
func (p *Policy) FlowLevel() Level {
	level := p.level
	for _, layer := range p.options.Above {
		level = max(level, layer.level)
	}
	return level
}

// LocalFlowLevel gives that of the policy's own text.
func (p *Policy) LocalFlowLevel() Level { return p.level }

// String is what the table says, as TOML on one line.
func (t *TrustTable) String() string { return strings.ReplaceAll(t.text, "\n", " ") }

// TrustTables gives the tables in order, those of what the policy extends last; layers have their
// own.
func (p *Policy) TrustTables() []TrustTable { return slices.Clone(p.trusts) }

// Said is what tables say of a tool of a server.
type Said struct {
	Own     Traits   // by the policy; Unsaid where it leaves that to others
	Floor   Traits   // by its layers: no laxer than this
	Decides []string // nil where nothing is said
}

// ToolTrust gives what is said of a tool under its names, each a reading of the same call: the
// strictest holds. Without names it is about the server as a whole.
func (p *Policy) ToolTrust(server string, names []string) Said {
	s := Said{}
	s.Own, s.Decides = p.ownToolTrust(server, names)
	for _, layer := range p.options.Above {
		floor, _ := layer.ownToolTrust(server, names)
		s.Floor = s.Floor.Join(floor)
	}
	return s
}

// TrustAny gives what is said of some tool of a server, or of the server: the strictest. It is
// for what no tool is known to have sent.
func (p *Policy) TrustAny(server string) (t Traits) {
	for _, of := range append([]*Policy{p}, p.options.Above...) {
		for i := range of.trusts {
			if of.trusts[i].Server == server && server != "" {
				t = t.Join(of.trusts[i].Traits)
			}
		}
	}
	return t
}

func (p *Policy) ownToolTrust(server string, names []string) (t Traits, decides []string) {
	if len(p.trusts) == 0 || server == "" {
		return t, nil
	}
	if len(names) == 0 {
		return p.trustOf(server, "")
	}
	for i, name := range names {
		of, args := p.trustOf(server, name)
		if i == 0 {
			t, decides = of, args
			continue
		}
		for j, to := range t.trustFields() { // what one reading leaves unsaid is said of none
			if *to != Unsaid && *of.trustFields()[j] != Unsaid {
				*to = max(*to, *of.trustFields()[j])
			} else {
				*to = Unsaid
			}
		}
	}
	return t, decides
}

// trustOf takes the first table of a tool that says a thing, else that of the server.
func (p *Policy) trustOf(server, name string) (t Traits, decides []string) {
	for _, whole := range []bool{false, true} {
		for i := range p.trusts {
			table := &p.trusts[i]
			if table.Server != server || whole != (table.tool == nil) || !whole && (name == "" || !table.tool.Match(name)) {
				continue
			}
			t = t.FillUnsaid(table.Traits)
			if decides == nil {
				decides = table.Decides
			}
		}
	}
	return t, decides
}

// compareTrust says how many tables and how much of the level the next policy has lost.
func (p *Policy) compareTrust(next *Policy) (lost int, same bool) {
	for i := range p.trusts {
		if !slices.ContainsFunc(next.trusts, func(t TrustTable) bool { return t.text == p.trusts[i].text }) {
			lost++
		}
	}
	if next.level < p.level {
		lost++
	}
	texts := func(of []TrustTable) (all []string) {
		for i := range of {
			all = append(all, of[i].text)
		}
		return all
	}
	return lost, slices.Equal(texts(p.trusts), texts(next.trusts))
}
