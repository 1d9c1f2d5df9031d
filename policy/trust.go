package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// Trust tells how far a property applies to a tool or a server. The values are ordered, the laxest
// first. The zero value means that no table sets the property.
type Trust uint8

// The values of Trust. Private is only for secret_data.
const (
	Unsaid Trust = iota
	No
	Private
	Yes
	Forbidden
)

// Traits are properties of a server's tools. They concern people other than the owner, or data that
// such people should not get.
type Traits struct {
	PublicSource    Trust // the tool returns text that may come from anyone
	SecretData      Trust // the tool returns data that people other than the owner must not get
	PublicSink      Trust // the tool writes where other people read
	DangerousWrites Trust // the tool's changes can do harm
}

// trustFields returns the traits in the order of the table's keys.
func (t *Traits) trustFields() [4]*Trust {
	return [4]*Trust{&t.PublicSource, &t.SecretData, &t.PublicSink, &t.DangerousWrites}
}

// FillUnsaid returns t with the values of defaults for the traits that t does not set.
func (t Traits) FillUnsaid(defaults Traits) Traits {
	for i, to := range t.trustFields() {
		if *to == Unsaid {
			*to = *defaults.trustFields()[i]
		}
	}
	return t
}

// Join returns for each trait the stricter of both values.
func (t Traits) Join(other Traits) Traits {
	for i, to := range t.trustFields() {
		*to = max(*to, *other.trustFields()[i])
	}
	return t
}

// TrustTable is one [server.NAME], or one [server.NAME.tool."GLOB"]. It is not a rule and allows
// nothing.
type TrustTable struct {
	Pos    Position
	Server string // the server's name, exactly
	Tool   string // a glob; "" for the server as a whole
	Traits Traits
	// Decides are the names of the arguments that decide where a call goes; nil if the table does
	// not have the key.
	Decides []string
	// Weighs are the names of arguments such as amounts. A person is asked about them unless the
	// user typed their values. nil if the table does not have the key.
	Weighs []string
	Pin    Pin    // for the server as a whole
	From   string // the entry of extends that the table comes from; "" for a table of the file itself

	tool *glob.Pattern
	text string // the table as TOML
}

// Pin tells how strictly a server's lists must equal the approved lists (docs/pins.md). The values
// are ordered, the laxest first. The zero value means that no table sets a pin.
type Pin uint8

// The values of Pin.
const (
	_         Pin = iota
	PinOff        // lists are not compared
	PinRecord     // changes are recorded, and the lists pass
	PinFirst      // the first lists are approved without a question; later lists are handled as with PinAsk
	PinAsk        // a person must approve a change; until then the agent gets the approved version
	PinLock       // only lists in the project's lock pass; no one is asked
)

var pinWords = []string{"", "off", "record", "first", "ask", "lock"}

// String returns the word that policies use.
func (p Pin) String() string { return pinWords[p] }

// Pin returns the pin of a server: the pin in the first of the server's tables that set one. If a
// layer's pin is stricter, Pin returns the layer's pin. A server whose name is not known has no
// pin.
func (p *Policy) Pin(server string) (pin Pin) {
	for _, q := range append([]*Policy{p}, p.options.Above...) {
		at := slices.IndexFunc(q.trusts, func(t TrustTable) bool { return t.Server == server && t.Pin > 0 && server != "" })
		if at >= 0 {
			pin = max(pin, q.trusts[at].Pin)
		}
	}
	return pin
}

// HasPins reports whether some server is pinned.
func (p *Policy) HasPins() bool {
	return slices.ContainsFunc(append([]*Policy{p}, p.options.Above...), func(q *Policy) bool {
		return slices.ContainsFunc(q.trusts, func(t TrustTable) bool { return t.Pin > PinOff })
	})
}

// Level tells what happens to calls that could send data away after a session has seen the data.
// With the zero value no call is checked.
type Level uint8

// The levels; the laxest is first.
const (
	Off Level = iota
	Watch
	Ask
	Strict
)

// String returns the word that policies use.
func (l Level) String() string { return levelWords[l] }

var levelWords = []string{"off", "watch", "ask", "strict"}

// FlowLevel returns the strictest of the levels of the policy and its layers.
func (p *Policy) FlowLevel() Level {
	level := p.level
	for _, layer := range p.options.Above {
		level = max(level, layer.level)
	}
	return level
}

// LocalFlowLevel returns the level of the policy without its layers.
func (p *Policy) LocalFlowLevel() Level { return p.level }

// String returns the table as TOML on one line.
func (t *TrustTable) String() string { return strings.ReplaceAll(t.text, "\n", " ") }

// TrustTables returns the tables in order, the tables of extended texts last. Layers have their
// own tables.
func (p *Policy) TrustTables() []TrustTable { return slices.Clone(p.trusts) }

// ToolTraits holds the values that the tables set for a tool of a server.
type ToolTraits struct {
	Own     Traits   // values of the policy's own tables; Unsaid for a trait without a value
	Floor   Traits   // values of the tables of the layers: the result is never laxer than these values
	Decides []string // nil if no table has the key
	Weighs  []string // nil if no table of the policy or of its layers has the key
}

// ToolTrust returns the traits that the tables give to a tool. names holds the names that one call
// may mean, and the strictest value wins. Without names it returns the traits of the server as a
// whole.
func (p *Policy) ToolTrust(server string, names []string) ToolTraits {
	s := p.ownToolTrust(server, names)
	for _, layer := range p.options.Above {
		above := layer.ownToolTrust(server, names)
		s.Floor, s.Weighs = s.Floor.Join(above.Own), append(s.Weighs, above.Weighs...)
	}
	return s
}

// TrustAny returns the strictest traits of a server and of its tools. It is for messages that no
// known tool sent.
func (p *Policy) TrustAny(server string) (t Traits) {
	for _, q := range append([]*Policy{p}, p.options.Above...) {
		for i := range q.trusts {
			if q.trusts[i].Server == server && server != "" {
				t = t.Join(q.trusts[i].Traits)
			}
		}
	}
	return t
}

func (p *Policy) ownToolTrust(server string, names []string) (s ToolTraits) {
	if len(p.trusts) == 0 || server == "" {
		return s
	}
	if len(names) == 0 {
		return p.trustOf(server, "")
	}
	for i, name := range names {
		said := p.trustOf(server, name)
		if i == 0 {
			s = said
			continue
		}
		s.Weighs = append(s.Weighs, said.Weighs...)
		for j, to := range s.Own.trustFields() { // a trait is set only if every reading of the call sets it
			if *to != Unsaid && *said.Own.trustFields()[j] != Unsaid {
				*to = max(*to, *said.Own.trustFields()[j])
			} else {
				*to = Unsaid
			}
		}
	}
	return s
}

// trustOf returns the values for a tool. Each value is from the first of the tool's tables that has
// the value, or else from the first such table of the server.
func (p *Policy) trustOf(server, name string) (s ToolTraits) {
	for _, whole := range []bool{false, true} {
		for i := range p.trusts {
			table := &p.trusts[i]
			if table.Server != server || whole != (table.tool == nil) || !whole && (name == "" || !table.tool.Match(name)) {
				continue
			}
			s.Own = s.Own.FillUnsaid(table.Traits)
			if s.Decides == nil {
				s.Decides = table.Decides
			}
			if s.Weighs == nil {
				s.Weighs = slices.Clip(table.Weighs)
			}
		}
	}
	return s
}

// compareTrust compares the tables about servers in this policy and in the next policy. The result
// lost is the number of tables that are missing in the next policy; a laxer flow level in the next
// policy adds one to this number. The result same is true if both policies have the same tables.
func (p *Policy) compareTrust(next *Policy) (lost int, same bool) {
	for i := range p.trusts {
		if !slices.ContainsFunc(next.trusts, func(t TrustTable) bool { return t.text == p.trusts[i].text }) {
			lost++
		}
	}
	for i := range p.cages {
		if !slices.ContainsFunc(next.cages, func(t CageTable) bool { return t.text == p.cages[i].text }) {
			lost++
		}
	}
	if next.level < p.level {
		lost++
	}
	texts := func(q *Policy) (all []string) {
		for i := range q.trusts {
			all = append(all, q.trusts[i].text)
		}
		for i := range q.cages {
			all = append(all, q.cages[i].text)
		}
		return all
	}
	return lost, slices.Equal(texts(p), texts(next))
}
