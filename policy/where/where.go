package where

// Match says whether a value, a reading or a call meets a constraint, a condition or a rule. The
// zero value is No.
type Match uint8

// The three answers, in the order in which "all of them" is a minimum. Maybe is that of a
// condition that cannot be decided: such a rule tightens and opens nothing.
const (
	No Match = iota
	Maybe
	Yes
)

// String gives "no", "maybe" or "yes".
func (m Match) String() string { return [...]string{"no", "maybe", "yes"}[min(m, Yes)] }

// MatchOf gives the answer of what could be decided.
func MatchOf(holds bool) Match {
	if holds {
		return Yes
	}
	return No
}

// Kind is the JSON type of a value.
type Kind uint8

// The kinds; an argument that the call does not have is Absent. An object or a
// list is seen through its elements, each a value of its own.
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
	// Raw is the text as it was sent, where Text is another reading of it.
	Raw string
	// Base is the folder at which relative paths start, absolute; "" when it is not
	// known.
	Base string
}

// Constraint is one typed constraint. It is immutable and safe for concurrent
// use.
type Constraint interface {
	// Holds judges one value. opens says that the rule would allow: where a value
	// stands for several things at once (the commands of a pipe), a rule that
	// opens needs all of them, and one that denies or asks needs any.
	JudgeValue(v Value, opens bool) Match
	// Cost bounds the work of Holds for a text of n bytes, in nanoseconds.
	JudgeCost(n int) int
}
