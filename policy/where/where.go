package where

// Match tells whether a value, a reading or a call meets a constraint, a condition or a rule. The
// zero value is No.
type Match uint8

// The three answers, ordered so that the minimum of several answers is the answer for
// all of them. Maybe means that a condition cannot be decided: its rule can then deny
// or ask, but not allow.
const (
	No Match = iota
	Maybe
	Yes
)

// String returns "no", "maybe" or "yes".
func (m Match) String() string { return [...]string{"no", "maybe", "yes"}[min(m, Yes)] }

// MatchOf returns Yes or No.
func MatchOf(holds bool) Match {
	if holds {
		return Yes
	}
	return No
}

// Kind is the JSON type of a value.
type Kind uint8

// The kinds. Absent means that the call does not have the argument. For an object or a list, each
// element is judged as a separate value.
const (
	Absent Kind = iota
	Null
	Boolean
	Number
	String
	Object
	List
)

// Value is one value of an argument, as a server could read it.
type Value struct {
	Kind Kind
	// Text is the text of a string, decoded, or the JSON text of a number or a
	// boolean; empty for every other kind.
	Text string
	// Raw is the text as it was sent, if Text is another reading of it; else "".
	Raw string
	// Base is the absolute folder at which relative paths start; "" if it is not known.
	Base string
}

// Constraint is one typed constraint. It is immutable and safe for concurrent
// use.
type Constraint interface {
	// JudgeValue judges one value. opens means that the rule would allow the call. A value may
	// contain several things, such as the commands of a pipe. For an allow rule all of them must
	// match; for a deny or prompt rule one is enough.
	JudgeValue(v Value, opens bool) Match
	// JudgeCost returns an upper bound of the work of JudgeValue for a text of n bytes, in
	// nanoseconds.
	JudgeCost(n int) int
}
