package policy

import (
	"slices"
	"time"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/where"
)

// CallKey describes a rule key that is a condition on the call as a whole and not on its
// arguments: on its server, its time, its session. A key whose fields after Glob are zero still
// decides calls and is written to policies, but cannot be explained, recorded or proved.
type CallKey struct {
	Name    string // the key in a policy
	Glob    bool   // the key takes globs on a text of the call; one must match
	Is      string // what people read before the call's value: "the server is"
	Unknown string // what they read if the value is not known: "the server's name is not known"
	Hint    string // what a fixture needs to decide the condition; "" for nothing
	Proof   Proof  // how proofs treat the condition
	// Recorded means that a record keeps everything that the condition looks at. If a rule's
	// condition is not recorded, the policy's answer cannot be computed from a record.
	Recorded bool
	// Fill copies facts from the call like to the call c: the facts that the condition looks at and
	// that a record does not keep. Fill is nil for a key that is recorded.
	Fill func(c, like *Call)

	// One of these functions is set. got returns the value of the call that the condition looks at,
	// for people; "" if it is not known. name and set return a fact about the caller or about the
	// caller's environment.
	got  func(c *Call) string
	name func(f *Facts) *string
	set  func(f *Facts) *NameSet
}

// describeValue returns the call's value for people; "" if it is not known.
func (k *CallKey) describeValue(c *Call) string {
	switch {
	case k.name != nil:
		return *k.name(&c.Facts)
	case k.set != nil:
		return describeNames(*k.set(&c.Facts))
	}
	return k.got(c)
}

// FillUnknown looks at the fact about the caller that the condition is about. If the call c does
// not have this fact but the call like has it, FillUnknown copies the fact to c and returns true.
// This is for a record that was written before records kept such facts.
func (k *CallKey) FillUnknown(c, like *Call) bool {
	switch {
	case k.name != nil && *k.name(&c.Facts) == "":
		*k.name(&c.Facts) = *k.name(&like.Facts)
		return *k.name(&c.Facts) != ""
	case k.set != nil && !k.set(&c.Facts).IsKnown():
		*k.set(&c.Facts) = *k.set(&like.Facts)
		return k.set(&c.Facts).IsKnown()
	}
	return false
}

// isIdentity reports whether the condition looks at a fact about the caller or about the caller's
// environment.
func (k *CallKey) isIdentity() bool { return k.name != nil || k.set != nil }

// Proof tells how proofs treat a condition.
type Proof uint8

// The values of Proof. A proof knows nothing about a NoSet condition, except that it equals another
// condition with the same text.
const (
	NoSet       Proof = iota
	ServerNames       // globs on Call.Server
	FoundKinds        // kinds of finds; Call.Finds must contain one of them (Source.Finds)
	// A condition that matches with Maybe at most: a rule with such a condition does not cover a
	// lower rule with an equal condition.
	Tightening
)

// Stated is a condition of a rule on the call as a whole, as its author wrote it.
type Stated struct {
	Key   string   // the key in a policy
	Text  string   // the value as TOML
	Globs []string // the globs, if the key takes globs

	test callTest
}

// callTest is a compiled condition on the call. matchCall returns Maybe if the call does not
// hold the fact that the condition is about.
type callTest interface{ matchCall(c *Call) where.Match }

// example is a callTest that can change a call so that it meets the condition.
type example interface{ meet(c *Call) }

// MissCondition changes a call so that it may no longer meet the condition, if the condition
// supports this. It proves nothing: the caller must ask the policy.
func (s *Stated) MissCondition(c *Call) {
	if e, can := s.test.(interface{ miss(c *Call) }); can {
		e.miss(c)
	}
}

// MeetCondition changes a call so that it may meet the condition, if the condition supports
// this. It proves nothing: the caller must ask the policy.
func (s *Stated) MeetCondition(c *Call) {
	if e, can := s.test.(example); can {
		e.meet(c)
	}
}

// CallKeyOf returns the CallKey with the given Name. It returns false if there is none.
func CallKeyOf(name string) (k CallKey, found bool) {
	if i := findKey(name); i != noKey && keys[i].call != nil {
		return *keys[i].call, true
	}
	return CallKey{}, false
}

// callRow fills in the fields that all rows of call keys have in common.
func callRow(row key) key {
	row.call.Name = row.name
	row.write = func(r *ruleSource, line func(key, toml string)) {
		if s := r.conditionFor(row.name); s != nil {
			line(s.Key, s.Text)
		}
	}
	return row
}

// readGlobKey reads a key whose globs are matched against a text or names of the call.
func readGlobKey(p *parser, k ruleKey, e toml.Expression) {
	written := p.doc.TextRange(e.Start, e.End)
	s, known := p.stated[written]
	if !known {
		globs, names := p.readNames(k, label{key: k}, e.Key, e.Value)
		if globs == nil {
			return
		}
		s = keys[k].call.statedGlobs(globs, names)
		if names == nil { // globs with names of folders are read anew for each rule, because readNames adds the names to the rule
			p.stated[written] = s
		}
	}
	p.currentRule().setCondition(k, s)
}

// statedGlobs returns a condition: one of the globs must match. All globs must be valid. written
// holds the globs with the names of folders, as in the file; it is nil if they have none.
func (k *CallKey) statedGlobs(globs, written []string) Stated {
	compiled := make(anyOf, 0, len(globs))
	for _, s := range globs {
		g, _ := glob.Compile(s)
		compiled = append(compiled, g)
	}
	s := Stated{Text: globsTOML(globs, written), Globs: globs, test: &callGlob{compiled, k.got, k.name}}
	if k.set != nil {
		s.test = &callNames{compiled, k.set}
	}
	return s
}

// callGlob compares a text of the call with globs; "" means that the text is not known. The
// function fact returns a pointer to the text, or the function got returns the text.
type callGlob struct {
	globs anyOf
	got   func(*Call) string
	fact  func(*Facts) *string // nil if got is set
}

func (g *callGlob) text(c *Call) string {
	if g.fact != nil {
		return *g.fact(&c.Facts)
	}
	return g.got(c)
}

// anyOf is a list of globs; one must match.
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

// meet gives the call a text that the first glob matches.
func (g *callGlob) meet(c *Call) {
	if g.fact != nil && !g.globs.matchText(g.text(c)) {
		*g.fact(&c.Facts) = exampleOf(g.globs)
	}
}

// miss gives the call a text that probably no glob matches.
func (g *callGlob) miss(c *Call) {
	if g.fact != nil {
		*g.fact(&c.Facts) = "another"
	}
}

// setCondition gives the rule a condition and replaces its earlier condition with the same key.
func (r *ruleSource) setCondition(k ruleKey, s Stated) {
	s.Key = ruleKeys[k]
	all := slices.DeleteFunc(slices.Clone(r.calls), func(o Stated) bool { return o.Key == s.Key })
	at := slices.IndexFunc(all, func(o Stated) bool { return findKey(o.Key) > k })
	if at < 0 {
		at = len(all)
	}
	r.calls = slices.Insert(all, at, s)
}

// conditionFor returns the rule's condition with the given key, or nil if there is none.
func (r *ruleSource) conditionFor(name string) *Stated {
	if i := slices.IndexFunc(r.calls, func(s Stated) bool { return s.Key == name }); i >= 0 {
		return &r.calls[i]
	}
	return nil
}

// matchCall reports whether the time of a call lies in w.
func (w *When) matchCall(c *Call) where.Match {
	switch {
	case c.At.IsZero():
		return where.Maybe
	case w.ContainsTime(c.At):
		return where.Yes
	}
	return where.No
}

// meet sets the call's time to one that lies in w. It tries each hour of the first 8 days from
// w.After, or from a fixed date if w.After is zero.
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
