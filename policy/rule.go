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
	Pos         Position
	Description string
	Index       int  // place in the policy, from 0
	OutOfBand   bool // a person must be asked by other means than the client's own form
}

// Decision is a policy's answer. The zero value is a deny by no rule.
type Decision struct {
	Action  Action
	Rule    *Rule  // the rule that decided; nil when none matched
	Reading string // the reading that decided, when it is not the value as sent
	Reason  string // why, when no rule says it: malformed call, refused reading
}
