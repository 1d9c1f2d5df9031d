package policy

import (
	"slices"
	"time"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// CallKey is what is known of a key of a rule that is a condition on the call as a
// whole, whatever its arguments: on where it goes, when it comes, whose it is. The
// zero value is for one of which nobody knows anything: it decides calls, is kept in
// what is written, and leaves every other question about it open.
type CallKey struct {
	Name    string // in a policy
	Glob    bool   // it takes globs on a text of the call, of which one must match
	Is      string // what people read before what the call has: "the server is"
	Unknown string // and where it is not known: "the server's name is not known"
	Hint    string // what would decide it for a fixture; "" where nothing is to be said
	Proof   Proof  // what proofs know of it
	// Recorded says that a record keeps all that it looks at. A rule whose condition
	// is not recorded leaves open what a policy says of a record.
	Recorded bool
	// Fill gives a call what another has, of what the condition looks at and a record
	// does not keep; nil of a key that is recorded.
	Fill func(c, like *Call)

	got func(c *Call) string // what the call has, for people; "" where it is not known
}

// Proof is what proofs know of a condition.
type Proof uint8

// What they know. A condition that is no set can only be the same as another that is
// written alike; what else it holds is never proved, and so remains undecided.
const (
	NoSet       Proof = iota
	ServerNames       // globs on Call.Server
	FoundKinds        // kinds, of which one must be among Call.Finds (Source.Finds)
	Tightening        // one that holds perhaps at the most, so that not even the same below is covered
)

// Stated is a condition of a rule on the call as a whole, as its author wrote it.
type Stated struct {
	Key   string   // as in a policy
	Text  string   // its value as TOML
	Globs []string // the globs, of a key that takes such

	test callTest
}

// callTest is such a condition as the walk asks it; maybe where the call does not say.
type callTest interface{ matchCall(c *Call) where.Match }

// example is a callTest that can say what would meet it.
type example interface{ meet(c *Call) }

// MissCondition changes a call to one that does not meet the condition, where that is known. Like
// Meet it proves nothing.
func (s *Stated) MissCondition(c *Call) {
	if e, can := s.test.(interface{ miss(c *Call) }); can {
		e.miss(c)
	}
}

// MeetCondition changes a call to one that may meet the condition, where that is known. It
// proves nothing: the policy is to be asked.
func (s *Stated) MeetCondition(c *Call) {
	if e, can := s.test.(example); can {
		e.meet(c)
	}
}

// CallKeyOf gives the one of a name; false when there is none.
func CallKeyOf(name string) (k CallKey, found bool) {
	if i := findKey(name); i != noKey && keys[i].call != nil {
		return *keys[i].call, true
	}
	return CallKey{}, false
}

// callRow fills in what all such rows have in common.
func callRow(row key) key {
	row.call.Name = row.name
	row.write = func(r *ruleSource, line func(key, toml string)) {
		if s := r.conditionFor(row.name); s != nil {
			line(s.Key, s.Text)
		}
	}
	return row
}

// globOf reads a key that takes globs on a text of the call.
func globOf(text func(*Call) string) func(*parser, ruleKey, toml.Expression) {
	return func(p *parser, k ruleKey, e toml.Expression) {
		written := p.doc.TextRange(e.Start, e.End)
		s, known := p.stated[written]
		if !known {
			globs := p.readGlobs(label{key: k}, e.Key, e.Value)
			if globs == nil {
				return
			}
			s = statedGlobs(globs, text)
			p.stated[written] = s
		}
		p.currentRule().setCondition(k, s)
	}
}

// statedGlobs gives the condition that one of these globs, which load, matches a text.
func statedGlobs(globs []string, text func(*Call) string) Stated {
	test := callGlob{text: text}
	for _, s := range globs {
		g, _ := glob.Compile(s)
		test.globs = append(test.globs, g)
	}
	return Stated{Text: policytext.OneOrList(policytext.QuoteAll(globs)), Globs: globs, test: &test}
}

// callGlob compares a text of the call; "" is one that is not known.
type callGlob struct {
	globs anyOf
	text  func(*Call) string
}

// anyOf are globs of which one must match.
type anyOf []*glob.Pattern

func (a anyOf) matchText(s string) bool {
	for _, g := range a {
		if g.Match(s) {
			return true
		}
	}
	return false
}

func (g *callGlob) matchCall(c *Call) where.Match {
	switch s := g.text(c); {
	case s == "":
		return where.Maybe
	case g.globs.matchText(s):
		return where.Yes
	}
	return where.No
}

// setCondition gives the rule a condition in place of what it said by that key.
func (r *ruleSource) setCondition(k ruleKey, s Stated) {
	s.Key = ruleKeys[k]
	all := slices.DeleteFunc(slices.Clone(r.calls), func(o Stated) bool { return o.Key == s.Key })
	at := slices.IndexFunc(all, func(o Stated) bool { return findKey(o.Key) > k })
	if at < 0 {
		at = len(all)
	}
	r.calls = slices.Insert(all, at, s)
}

// conditionFor gives what the rule says by a key; nil when that is nothing.
func (r *ruleSource) conditionFor(name string) *Stated {
	if i := slices.IndexFunc(r.calls, func(s Stated) bool { return s.Key == name }); i >= 0 {
		return &r.calls[i]
	}
	return nil
}

// matchCall reports whether the time of a call lies in it.
func (w *When) matchCall(c *Call) where.Match {
	switch {
	case c.At.IsZero():
		return where.Maybe
	case w.ContainsTime(c.At):
		return where.Yes
	}
	return where.No
}

// meet finds a time that lies in it, within the first days.
func (w *When) meet(c *Call) {
	start := w.After
	if start.IsZero() {
		start = time.Date(2026, 1, 5, 0, 0, 0, 0, w.Zone)
	}
	for hour := range 8 * 24 {
		if at := start.Add(time.Duration(hour) * time.Hour); w.ContainsTime(at) {
			c.At = at
			return
		}
	}
}

func gotTime(c *Call) string {
	if c.At.IsZero() {
		return ""
	}
	return c.At.Format(time.RFC3339)
}
