package policy

import (
	"fmt"
	"time"
)

// Rate tells how often a rule may allow a call. The gate counts the calls. The zero value sets
// no limit.
type Rate struct {
	Count int           // largest number of calls; 0 if amounts are summed
	Sum   string        // the argument whose amounts are summed, as args.amount; "" if calls are counted
	Max   int64         // largest sum, in millionths
	Every time.Duration // the limit applies to every period of this length
	Per   Per           // which calls are counted together
	Over  Action        // the action for the calls beyond the limit: Deny or Prompt
	// Digest of the rule's text; the rule's place in the file does not change it; never empty if
	// there is a limit.
	Key string
}

// HasLimit reports whether the rate sets a limit.
func (r *Rate) HasLimit() bool { return r.Count > 0 || r.Sum != "" }

// MaxAmount returns the largest allowed sum as a decimal number; "" if calls are counted.
func (r *Rate) MaxAmount() string {
	if r.Sum == "" {
		return ""
	}
	return writeAmount(r.Max)
}

// AtMost returns the limit in words, such as "at most 20 a minute".
func (r *Rate) AtMost() string {
	unit := map[time.Duration]string{time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour", 24 * time.Hour: "a day"}[r.Every]
	if r.Sum != "" {
		return fmt.Sprintf("at most %s of %s %s", r.MaxAmount(), r.Sum, unit)
	}
	return fmt.Sprintf("at most %d %s", r.Count, unit)
}

// Per tells which calls a limit counts together.
type Per uint8

// The values of Per. A limit counts all calls that match the rule together, or the calls of each
// tool, or the calls to each server.
const (
	PerRule Per = iota
	PerTool
	PerServer
)

var perWords = []string{"rule", "tool", "server"}

// String returns the word that policies use.
func (p Per) String() string { return perWords[p] }

// Charge is one call that counts against one limit: the limit of a rule, or a [[limit]].
type Charge struct {
	Rule   *Rule
	Call   int   // index of the call among the calls that the policy judged together
	Amount int64 // 1 if the limit counts calls, else the amount in millionths, or NoAmount
}

// listCharges returns one Charge for each limit that the current call counts against: limits of
// rules and [[limit]] tables.
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
