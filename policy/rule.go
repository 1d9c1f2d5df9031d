package policy

// Position is a place in a policy file; lines and columns count from 1.
type Position struct {
	File   string
	Line   int
	Column int
}

// Rule is one [[rule]] as its author wrote it. The compiled form is not exported.
type Rule struct {
	Action      Action
	On          On // the rule is about calls, replies, list entries or uploads
	Pos         Position
	Description string
	Index       int  // the rule's place among the rules of the policy, from 0
	OutOfBand   bool // a person must be asked in another way than by the client's own form
	Pinned      bool // a person's answer must not write a rule above it
	Preview     bool // the person who answers sees what the command would do (docs/preview.md)
	After       Seen // the labels in the rule's key after; 0 without the key
	Rate        Rate // how often the rule may allow a call; the zero value sets no limit

	// Approval lists the people at a team's centre who may allow the call. If it is nil, the person
	// at this machine may allow the call. A rule with an Approval is also OutOfBand.
	Approval *Approval
}

// Decision is a policy's answer. The zero value is a deny without a rule.
type Decision struct {
	Action  Action
	Rule    *Rule  // the rule that decided; nil if no rule matched
	Reading string // the reading that decided, if it is not the value as sent
	Reason  string // the reason for an answer that no rule gives: malformed call, refused reading

	// Rates are the limits that the calls count against if the calls are not denied. They are the
	// limits of the policy, and the limit of every rule that decided, or may have decided, a
	// reading of a call.
	Rates []Charge

	Kind string // for a reply: the kind of finds that decided; "" for the reply as a whole

	// Alters are the changes that rules make, if the message is not denied. The message is a reply,
	// or a call by a server with texts.
	Alters []Alteration
}

// Alteration is one rule's change to a reply, or to a call by a server.
type Alteration struct {
	Rule *Rule  // the rule; its Action tells how the text is changed
	Kind string // the kind of finds whose text is changed everywhere; "" for the reply as a whole
	Call int    // index of the call among the calls that were judged together
}

// rank orders outcomes by the strictness of their actions. An out-of-band question is stricter than
// another question, because fewer people may answer it. A question for a team's centre is the
// strictest question. The zero value denies.
type rank uint8

const (
	denies rank = iota
	asksApprovers
	asksOutOfBand
	asks
	allows
	none // no rule has decided
)

func (r *Rule) rank() rank {
	switch {
	case r.Action == Deny:
		return denies
	case r.Action == Allow:
		return allows
	case r.Action.AltersContent():
		return none // the rule only alters the content; another rule decides about the message
	case r.Approval != nil:
		return asksApprovers
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

// isStricter reports whether d is stricter than the other decision. Then d wins.
func (d *Decision) isStricter(other *Decision) bool {
	return d.Action < other.Action ||
		d.Action == Prompt && other.Action == Prompt && d.Rule.rank() < other.Rule.rank()
}

// merge adds another decision about the same message to d: the stricter decision wins. Two
// decisions that ask different approvers become a deny.
func (d *Decision) merge(other *Decision) {
	switch {
	case d.Action == Prompt && other.Action == Prompt && d.Rule.clashes(other.Rule):
		*d = Decision{Reason: clashReason}
	case other.isStricter(d):
		*d = *other
	}
}
