package policy

import (
	"fmt"
	"time"
)

// Rate is how often a rule may open a call. Who counts is the gate. The zero
// value sets no limit.
type Rate struct {
	Count int           // so many calls
	Every time.Duration // within any stretch of time of this length
	Per   Per           // what has a count of its own
	Over  Action        // what becomes of the calls beyond: Deny or Prompt
	Key   string        // names the rule by its text, wherever it stands; never empty in a limit
}

// Limited says whether there is a limit.
func (r *Rate) Limited() bool { return r.Count > 0 }

// AtMost is the limit in words: at most 20 a minute.
func (r *Rate) AtMost() string {
	unit := map[time.Duration]string{time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour", 24 * time.Hour: "a day"}[r.Every]
	return fmt.Sprintf("at most %d %s", r.Count, unit)
}

// Per says what a limit counts together.
type Per uint8

// What is counted together: the calls that meet the rule, or of those the calls
// of one tool, or of one server.
const (
	PerRule Per = iota
	PerTool
	PerServer
)

var perWords = []string{"rule", "tool", "server"}

// String gives the word that policies use.
func (p Per) String() string { return perWords[p] }

// Charge is one call that counts against the limit of one rule.
type Charge struct {
	Rule *Rule
	Call int // its place among those that were judged together
}

// charges are the limits that the call of v counts against.
func (v *view) charges() []Charge {
	charges := make([]Charge, len(v.charged))
	for i, id := range v.charged {
		charges[i].Rule = &v.policy.sources[id].Rule
	}
	return charges
}
