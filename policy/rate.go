package policy

import (
	"fmt"
	"time"
)

// Rate is how often a rule may open a call. Who counts is the gate. The zero
// value sets no limit.
type Rate struct {
	Count int           // so many calls; 0 where amounts are summed
	Sum   string        // the argument whose amounts are summed, as args.amount; "" where calls are counted
	Max   int64         // so much of them, in millionths
	Every time.Duration // within any stretch of time of this length
	Per   Per           // what has a count of its own
	Over  Action        // what becomes of the calls beyond: Deny or Prompt
	Key   string        // names the rule by its text, wherever it stands; never empty in a limit
}

// HasLimit reports whether there is a limit.
func (r *Rate) HasLimit() bool { return r.Count > 0 || r.Sum != "" }

// MaxAmount gives the sum that is let through, as a decimal number; "" where calls are counted.
func (r *Rate) MaxAmount() string {
	if r.Sum == "" {
		return ""
	}
	return writeAmount(r.Max)
}

// AtMost gives the limit in words: at most 20 a minute.
func (r *Rate) AtMost() string {
	unit := map[time.Duration]string{time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour", 24 * time.Hour: "a day"}[r.Every]
	if r.Sum != "" {
		return fmt.Sprintf("at most %s of %s %s", r.MaxAmount(), r.Sum, unit)
	}
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

// Charge is one call that counts against the limit of one rule, or a [[limit]]'s.
type Charge struct {
	Rule   *Rule
	Call   int   // its place among those that were judged together
	Amount int64 // of a limit on a sum, in millionths; NoAmount where it has none
}

// listCharges gives the limits that the call of v counts against: of rules, and the policy's.
func (v *view) listCharges() (charges []Charge) {
	add := func(r *Rule) { charges = append(charges, Charge{Rule: r, Amount: r.Rate.callAmount(v.call)}) }
	for _, id := range v.noted {
		if r := &v.policy.sources[id].Rule; r.Rate.HasLimit() {
			add(r)
		}
	}
	for i := range v.policy.limits {
		if l := &v.policy.limits[i]; l.CoversCall(v.call) {
			add(&l.Rule)
		}
	}
	return charges
}
