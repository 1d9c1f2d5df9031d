package learn

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Trust is what a call counts for that nobody was asked about, because nothing
// was enforced. The zero value trusts least.
type Trust uint8

// The trusts.
const (
	AskAlways  Trust = iota // rules from watching ask
	AllowReads              // those for tools that read allow
	AllowActs               // those for tools that act allow too; never those that execute
)

// HalfLife is the age at which a call counts half.
const HalfLife = 30 * 24 * time.Hour

// Options of New. MinCount and MinShare must be positive.
type Options struct {
	ParseOptions policy.Options // what the policy is told of the place it governs
	Own          []string       // folders of clawai's own, that no rule is about
	Now          time.Time
	MinCount     int     // calls, weighted by age and rounded, that make a rule
	MinShare     float64 // of a person's answers that must be yes
	Observed     Trust
	Links        bool   // rules about folders ask the disk where links lead (where.<name>.under)
	File         string // name of the policy that is extended
	Policy       []byte // its text; nil makes a new one
}

// Bounds of what is held of a record.
const (
	maxCalls    = 10000   // different ones
	maxArgs     = 8 << 10 // bytes of one call's arguments
	maxDenied   = 10000
	maxMember   = 1 << 10 // bytes of a member that a rule may name
	leastWeight = 0.01    // what weighs less is forgotten
)

// ErrTooMany says that the record holds more denied calls than can be kept in
// sight.
var ErrTooMany = errors.New("the record holds too many different denied calls to keep them all in sight; learn from less of it (--since, --server)")

// Learner takes records and proposes rules.
type Learner struct {
	o         Options
	judge     *replay.Judge // by the policy that is extended; nil without one
	protected protected
	calls     map[string]*sighting
	order     []*sighting
	byTool    map[string]*tool
	denied    []replay.Call
	known     map[string]bool // denied
	channels  map[string]answer
	Skipped   map[string]int // why calls were not learned from
	Seen      int            // decisions
	extends   bool           // some rules of the policy stand in other files
}

// answer is a person's answer that is to be followed by its decision.
type answer struct{ digest, channel string }

// sighting is one call, as often as it was made.
type sighting struct {
	call  policy.Call
	args  []member
	rule  *policy.Rule // of the policy that is extended: what asked
	asked bool
	tally tally
}

// New makes a learner. The error is policy.Errors.
func New(o Options) (*Learner, error) {
	l := &Learner{o: o, calls: map[string]*sighting{}, known: map[string]bool{}, channels: map[string]answer{}, Skipped: map[string]int{}}
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
		for _, r := range j.Policy().Rules() {
			l.extends = l.extends || r.Pos.File != o.File
		}
	}
	return l, nil
}

// Kinds are the records that Add wants to see.
func Kinds() []event.Kind { return []event.Kind{event.Answered, event.Decision} }

// Add takes one record, in the order of time.
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

// Why a call is not learned from, where others ask for it.
const (
	whyDenied  = "a rule denies it: a deny is never relaxed"
	whyAllowed = "allowed already"
	whyPinned  = "asked about by a rule that is pinned"

	whyElsewhere = "the policy extends others, whose rules would stand below what is learned: write it by hand"
)

// callStatus says what stands against a call: the rules of the policy that is
// extended, or what those of the day said.
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
		if l.extends && (!s.asked || d.Rule.Pos.File != l.o.File) {
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

// noRule says that a denial has no other reason than that no rule speaks of the
// call.
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

// whyUnusable says why no rule is made of a call, or "".
func (l *Learner) whyUnusable(s *sighting, e *event.Entry) string {
	c := &s.call
	switch c.Subject {
	case policy.ToolSubject, policy.PromptSubject, policy.ResourceSubject:
	case policy.SamplingSubject, policy.ElicitationSubject:
		c.Names = []string{"**"} // what is in it does not matter: such rules ask
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
		return "arguments that the record does not keep whole"
	case l.judge != nil && c.Subject == policy.SamplingSubject, l.judge != nil && c.Subject == policy.ElicitationSubject:
		return "a server's question: the policy speaks of it or it is denied"
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

// countCall puts a call to those like it.
func (l *Learner) countCall(s *sighting, e *event.Entry, was policy.Action, weight float64) {
	key := s.call.Server + "\x00" + s.call.Method + "\x00" + s.call.Names[0] + "\x00" + string(s.call.Args)
	if s.asked {
		key += "\x00asked" // once the rules asked, and once none spoke of it
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

// isClientForm says that an answer came through the client's own form, which the client
// may fill in by itself.
func (l *Learner) isClientForm(e *event.Entry) bool {
	a, ok := l.channels[e.Session]
	return !ok || a.digest != e.Digest || a.channel == "elicitation"
}
