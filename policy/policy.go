package policy

import (
	"strings"
	"sync"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/internal/reading"
	"github.com/clawai/clawai/policy/where/disk"
)

// views are kept for the calls to come. They belong to no policy: a pool within one
// would keep it, superseded, for two collections of garbage.
var views = sync.Pool{New: func() any { return new(view) }}

// Options is what a policy must be told of the place it governs.
type Options struct {
	Home string    // the owner's home, for ~; with "" every path at ~ is a maybe
	Disk disk.Disk // what where.<name>.under asks; nil: each is a maybe

	// Extend follows an entry of extends: it gives a text and what that is called in
	// positions. It has compared the hash. nil: extends refuses the file.
	Extend func(Extension) (name string, src []byte, err error)

	// Layer is the name of a policy that can only tighten others ("organisation",
	// "project"); what none of its rules matches it leaves to them. A policy
	// without a name denies that.
	Layer string
	Above []*Policy // layers that this policy stands under, from the outermost in
}

// Policy is a compiled policy. It is immutable and safe for concurrent use. The
// zero value has no rules and denies.
type Policy struct {
	sources  []ruleSource
	rules    []rule
	subjects [MethodSubject + 1]index
	args     [MethodSubject + 1]*argNames // of tools and of prompts
	readers  []argReader                  // by slot
	file     string
	revision string
	timed    bool // some rule has a when
	hinted   bool // some rule has a condition on the call that a fixture may leave open
	asksDisk bool // some rule has an under
	options  Options
}

// Parse reads a policy, checks it and compiles it. file names it in positions.
// The error is Errors and holds everything that is wrong with the file.
func Parse(file string, src []byte, o Options) (*Policy, error) {
	rules, extends, errs := parseFile(file, src)
	var texts [][]byte
	if len(errs) == 0 {
		rules, texts, errs = extend(rules, extends, o)
	}
	var p *Policy
	if len(errs) == 0 {
		p, errs = compile(rules, o)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	p.file = file
	p.revise(append([][]byte{src}, texts...))
	return p, nil
}

// Rules are the rules as written, in order.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, len(p.sources))
	for i := range p.sources {
		rules[i] = p.sources[i].Rule
	}
	return rules
}

// Revision names the text the policy was read from: the first twelve
// hexadecimal digits of its SHA-256.
func (p *Policy) Revision() string { return p.revision }

// Decide judges a call by every reading of it; the strictest answer wins.
func (p *Policy) Decide(c *Call) Decision {
	d, _ := p.decide(c, effort.Max)
	return d
}

// own is the policy's own answer, without its layers'. It is given the effort that
// is left, and says what remains.
func (p *Policy) own(c *Call, left effort.Left) (Decision, effort.Left) {
	if why := malformed(c); why != "" {
		return Decision{Reason: why}, left
	}
	v := views.Get().(*view)
	v.policy, v.call, v.left = p, c, left
	var d Decision
	worst := none
	for _, name := range c.Names {
		if o := v.judge(name); o.rank < worst {
			d, worst = v.decision(o), o.rank
		}
		if worst == denies {
			break
		}
	}
	left = v.left
	if len(v.charged) > 0 && d.Action != Deny {
		d.Rates = v.charges()
	}
	v.release()
	views.Put(v)
	return d, left
}

// DecideAll judges several calls that stand or fall together: the strictest
// decision. Of none it is deny.
func (p *Policy) DecideAll(cs []Call) Decision {
	var worst, d Decision
	var rates []Charge
	left := effort.Max // for all of them: they came in one frame
	for i := range cs {
		d, left = p.decide(&cs[i], left)
		for _, c := range d.Rates {
			c.Call = i
			rates = append(rates, c)
		}
		if i == 0 || d.stricter(&worst) {
			worst = d
		}
	}
	if worst.Rates = rates; worst.Action == Deny {
		worst.Rates = nil
	}
	return worst
}

// malformed says why no rule may allow a call, or "".
func malformed(c *Call) string {
	switch {
	case c.Malformed != "":
		return c.Malformed
	case c.Subject == NoSubject || c.Subject > MethodSubject:
		return "call of no subject"
	case len(c.Names) == 0:
		return "call without a name"
	}
	if c.Subject == ToolSubject || c.Subject == PromptSubject || c.Subject == MethodSubject {
		for _, name := range c.Names {
			if why := reading.Unnameable(name); why != "" {
				return why
			}
		}
	}
	return reading.Unnameable(c.Server)
}

// decision puts an outcome into the words of the room's door.
func (v *view) decision(o outcome) Decision {
	d := Decision{Action: o.rank.action(), Reason: o.reason}
	if o.rule >= 0 && o.rule < len(v.policy.sources) {
		d.Rule = &v.policy.sources[o.rule].Rule
	}
	if o.reading != nil {
		if o.reading.Text != o.reading.Raw {
			d.Reading = strings.Clone(o.reading.Text)
		}
		if o.reading.Kind == reading.Refused && o.reason == "" {
			d.Reason = o.reading.Refusal
		}
	}
	return d
}
