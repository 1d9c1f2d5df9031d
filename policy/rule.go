package policy

// Position is a place in a policy file; lines and columns count from 1.
type Position struct {
	File   string
	Line   int
	Column int
}

// Rule is one [[rule]] as its author wrote it. The compiled form is inside.
type Rule struct {
	Action      Action
	On          On // what it judges: calls, or what comes back
	Pos         Position
	Description string
	Index       int  // place in the policy, from 0
	OutOfBand   bool // a person must be asked by other means than the client's own form
	Pinned      bool // no answer writes a rule above it
	Rate        Rate // how often it may open a call; the zero value is any number of times
}

// Decision is a policy's answer. The zero value is a deny by no rule.
type Decision struct {
	Action  Action
	Rule    *Rule  // the rule that decided; nil when none matched
	Reading string // the reading that decided, when it is not the value as sent
	Reason  string // why, when no rule says it: malformed call, refused reading

	// Rates are the limits that the calls count against, when they are not denied:
	// of every rule that decided a reading of one, or may have, and the policy's.
	Rates []Charge

	Kind string // of a reply: of the findings that decided; "" for the reply as a whole

	// Alters are what rules change of what goes on, when it is not denied: of the texts of
	// a call that a server makes, or of a reply.
	Alters []Alteration
}

// Alteration is what one rule changes of a reply, or of a call that a server makes.
type Alteration struct {
	Rule *Rule  // its Action says how
	Kind string // of the findings that are changed, all of them; "" for the reply as a whole
	Call int    // the place of the call among those that were judged together
}

// rank is how strict an outcome is: an action, and of two questions the one that
// fewer may answer first. The zero value denies.
type rank uint8

const (
	denies rank = iota
	asksOutOfBand
	asks
	allows
	none // nothing has been said
)

func (r *Rule) rank() rank {
	switch {
	case r.Action == Deny:
		return denies
	case r.Action == Allow:
		return allows
	case r.Action.AltersContent():
		return none // it is noted, and says nothing of whether it goes on
	case r.OutOfBand:
		return asksOutOfBand
	}
	return asks
}

func (r rank) toAction() Action {
	switch r {
	case denies:
		return Deny
	case allows:
		return Allow
	}
	return Prompt
}

// isStricter reports whether d is to hold rather than other.
func (d *Decision) isStricter(other *Decision) bool {
	return d.Action < other.Action ||
		d.Action == Prompt && other.Action == Prompt && d.Rule.OutOfBand && !other.Rule.OutOfBand
}
