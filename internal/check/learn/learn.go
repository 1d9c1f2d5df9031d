package learn

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Trust tells how far the Learner trusts observed calls: calls that were recorded while nothing was
// enforced. It decides the action of a rule that is learned only from observed calls. The zero
// value trusts least.
type Trust uint8

// Values of Trust.
const (
	AskAlways  Trust = iota // the rule always asks
	AllowReads              // the rule allows if its tool is in the class Reads; otherwise it asks
	AllowActs               // the rule allows if its tool is in the class Reads or Acts; otherwise it asks
)

// HalfLife is the age at which a call counts as half a call.
const HalfLife = 30 * 24 * time.Hour

// Options are the options of New. MinCount and MinShare must be positive.
type Options struct {
	ParseOptions policy.Options // options for parsing the policy
	Own          []string       // folders of clawai itself, which no rule may name
	Now          time.Time
	MinCount     int     // number of calls that a rule needs; a call's weight depends on its age, and the sum of the weights is rounded
	MinShare     float64 // minimum share of yes in the answers of a person, from 0 to 1
	Observed     Trust
	Links        bool   // rules about folders also check where symbolic links lead (where.<name>.under)
	File         string // name of the policy file to extend
	Policy       []byte // text of the policy to extend; nil: write a new policy
}

// Limits of the data that a Learner keeps from a record.
const (
	maxCalls    = 10000   // number of different calls
	maxArgs     = 8 << 10 // bytes of the arguments of one call
	maxDenied   = 10000
	maxMember   = 1 << 10 // bytes of the value of one argument
	leastWeight = 0.01    // minimum weight of a call that is kept
)

// ErrTooMany means that the record has more denied calls than the Learner can keep.
var ErrTooMany = errors.New("the record holds too many different denied calls to compare with; use a part of the record (--since, --server)")

// Learner reads records and proposes rules.
type Learner struct {
	o         Options
	judge     *replay.Judge // judges calls by the extended policy; nil if a new policy is written
	protected protected
	calls     map[string]*sighting
	order     []*sighting
	byTool    map[string]*tool
	denied    []replay.Call     // calls that a rule has denied
	known     map[string]bool   // keys of the calls in denied
	places    map[string]place  // results of placeOf, by glob
	channels  map[string]answer // the last answer of a person, by session
	Skipped   map[string]int    // number of calls from which no rule was learned, by reason
	Seen      int               // number of decisions that were read
	sources   []policy.Source   // rules of the extended policy
	extends   bool              // the extended policy has rules of another file, and no rule can be written above those
}

// answer is a person's answer in the record. The decision with the same digest comes after it.
type answer struct{ digest, channel string }

// sighting is a call, with the number of times that it was recorded.
type sighting struct {
	call  policy.Call
	args  []member
	rule  *policy.Rule // the rule of the extended policy that asks about the call; nil if no rule matches the call
	asked bool         // a rule of the extended policy asks about the call; without an extended policy: a rule asked when the call was recorded
	tally tally
}

// New returns a Learner. The error is of type policy.Errors.
func New(o Options) (*Learner, error) {
	l := &Learner{o: o, calls: map[string]*sighting{}, known: map[string]bool{}, places: map[string]place{}, channels: map[string]answer{}, Skipped: map[string]int{}}
	if o.ParseOptions.Home != "" {
		l.protected.home = namesOf(o.ParseOptions.Home)
	}
	for _, own := range o.Own {
		l.protected.own = append(l.protected.own, namesOf(own))
	}
	if o.Policy != nil {
		j, err := replay.NewJudge(o.File, o.Policy, o.ParseOptions)
		if err != nil {
			return nil, err
		}
		l.judge = j
		l.sources = j.Policy().Sources()
		l.extends = slices.ContainsFunc(l.sources, func(s policy.Source) bool { return !s.TakesRulesAbove() })
	}
	return l, nil
}

// Kinds returns the kinds of records that Add can use.
func Kinds() []event.Kind { return []event.Kind{event.Answered, event.Decision} }

// Add reads one record. The records must come in the order of time.
func (l *Learner) Add(e *event.Entry) error {
	if e.Kind == event.Answered {
		if len(l.channels) > maxCalls {
			clear(l.channels)
		}
		l.channels[e.Session] = answer{e.Digest, e.Channel}
		return nil
	}
	if !replay.IsJudged(e) {
		return nil
	}
	l.Seen++
	weight := l.ageWeight(e.Time)
	c, why := replay.RebuildCall(e)
	if why != "" {
		l.countSkipped(why.String())
		return nil
	}
	s := &sighting{call: c.Call}
	d, reason, err := l.callStatus(e, &c, s)
	if reason != "" || err != nil {
		l.countSkipped(reason)
		return err
	}
	if weight < leastWeight {
		l.countSkipped("too long ago")
		return nil
	}
	if reason := l.whyUnusable(s, e); reason != "" {
		l.countSkipped(reason)
		return nil
	}
	l.countCall(s, e, d, weight)
	return nil
}

func (l *Learner) countSkipped(reason string) {
	if reason != "" {
		l.Skipped[reason]++
	}
}

func (l *Learner) ageWeight(at time.Time) float64 {
	age := max(l.o.Now.Sub(at), 0)
	return math.Exp2(-float64(age) / float64(HalfLife))
}

// Reasons why no rule is learned from a call.
const (
	whyDenied  = "a rule denies it: a deny is never relaxed"
	whyAllowed = "allowed already"
	whyPinned  = "asked about by a rule that is pinned"

	whyElsewhere = "the policy extends others, whose rules would stand below what is learned: write it by hand"
)

// callStatus returns the recorded action of a call, and the reason why no rule is learned from the
// call, or "". It also sets s.asked and s.rule. It judges the call by the extended policy; without
// one, it uses the recorded decision.
func (l *Learner) callStatus(e *event.Entry, c *replay.Call, s *sighting) (was policy.Action, reason string, err error) {
	if l.judge != nil {
		d, why := l.judge.JudgeCall(c)
		switch {
		case why != "":
			return 0, why.String(), nil
		case d.Action == policy.Allow:
			return 0, whyAllowed, nil
		case d.Action == policy.Deny && (d.Rule != nil || d.Reason != ""):
			return 0, whyDenied, nil
		case d.Action == policy.Prompt && d.Rule.Pinned:
			return 0, whyPinned, nil
		}
		s.asked, s.rule = d.Action == policy.Prompt, d.Rule
		if l.extends && (!s.asked || !l.sources[d.Rule.Index].TakesRulesAbove()) {
			return 0, whyElsewhere, nil
		}
		return c.Was, "", nil
	}
	byRule := e.RuleLine > 0 || !noRule(e)
	if c.Was == policy.Deny && byRule {
		return 0, whyDenied, l.keepDenied(c)
	}
	s.asked = c.Was == policy.Prompt
	return c.Was, "", nil
}

// noRule reports whether a call was denied only because no rule matched it.
func noRule(e *event.Entry) bool {
	return e.Code == "no_rule" || e.Code == "not_enforced" && e.Reason == "no rule allows it"
}

func (l *Learner) keepDenied(c *replay.Call) error {
	key := c.Server + "\x00" + c.Method + "\x00" + strings.Join(c.Names, "\x00") + "\x00" + string(c.Args)
	if l.known[key] {
		return nil
	}
	if len(l.denied) >= maxDenied {
		return ErrTooMany
	}
	l.known[key] = true
	l.denied = append(l.denied, *c)
	return nil
}

// whyUnusable returns the reason why no rule can be made from a call; "" if one can.
func (l *Learner) whyUnusable(s *sighting, e *event.Entry) string {
	c := &s.call
	switch c.Subject {
	case policy.ToolSubject, policy.PromptSubject, policy.ResourceSubject:
	case policy.SamplingSubject, policy.ElicitationSubject:
		c.Names = []string{"**"} // the rule only asks, so it may match any content
	default:
		return "passed on unless a rule restricts it"
	}
	switch {
	case len(c.Names) != 1:
		return "several names in one message"
	case c.Server == "":
		return "a server without a name (clawai proxy --server NAME)"
	case !isWritable(c.Server), c.Names[0] != "**" && !isWritable(c.Names[0]):
		return "a name that no rule may name"
	case e.ArgsCut:
		return "arguments that the record keeps only in part"
	case l.judge != nil && c.Subject == policy.SamplingSubject, l.judge != nil && c.Subject == policy.ElicitationSubject:
		return "a server's question, which is denied unless the policy has a rule for it"
	}
	var ok bool
	if s.args, ok = parseMembers(c.Args); !ok {
		return "arguments that no rule may name"
	}
	c.Args = encodeMembers(s.args)
	if len(c.Args) > maxArgs {
		return "arguments that are too long"
	}
	return ""
}

// countCall adds a call to the sighting of the same call.
func (l *Learner) countCall(s *sighting, e *event.Entry, was policy.Action, weight float64) {
	key := s.call.Server + "\x00" + s.call.Method + "\x00" + s.call.Names[0] + "\x00" + string(s.call.Args)
	if s.asked {
		key += "\x00asked" // calls about which a rule has asked are counted apart from all other calls
	}
	known := l.calls[key]
	if known == nil {
		if len(l.order) >= maxCalls {
			l.countSkipped("more different calls than are kept")
			return
		}
		known = s
		s.tally.First, s.tally.Record = e.Time, e.Record
		l.calls[key] = s
		l.order = append(l.order, s)
	}
	known.tally.addDecision(e, was, weight, l.isClientForm(e))
}

// isClientForm reports whether the answer came, or may have come, through the client's own form. A
// client may fill in its form without a person.
func (l *Learner) isClientForm(e *event.Entry) bool {
	a, ok := l.channels[e.Session]
	return !ok || a.digest != e.Digest || a.channel == "elicitation"
}
