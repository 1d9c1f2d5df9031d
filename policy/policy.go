package policy

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where/disk"
)

// views keeps views for later calls. Policies do not have pools of their own, because such a pool
// would keep a replaced policy in memory for two garbage collections.
var views = sync.Pool{New: func() any { return new(view) }}

// Options holds what a policy must know about its machine and about the calls that it will judge.
type Options struct {
	Home string    // the owner's home folder, which ~ stands for; if it is "", a match of a path with ~ is only Maybe
	Disk disk.Disk // the disk that where.<name>.under looks at; if it is nil, every answer of under is Maybe

	// OS is the system of the policy's machine. If OS is not Windows, proofs about the rules ignore
	// Windows. Each call states the system of its own server.
	OS string

	// Extend reads an entry of extends. It compares the text with the entry's hash, if there is
	// one. It returns the text, and the file name for positions. It must be safe for concurrent use.
	// If Extend is nil, a file with extends is not loaded.
	Extend func(Extension) (name string, src []byte, err error)

	// Pack reads and checks an entry of packs. If Pack is nil, a file with packs is not loaded.
	Pack func(PackFile) (Pack, error)

	// Layer is the name of a policy that is a layer ("organisation", "project"): it can only make
	// the answers of other policies stricter, and it does not decide calls that none of its rules
	// matches. A policy that is not a layer ("") denies these calls.
	Layer string
	Above []*Policy // the layers above this policy, the outermost first
	// Draft means that the policy is not in force. A draft may have the key env, because it may be
	// meant for an organisation. Without Draft, only an organisation's policy may have env.
	Draft bool

	// HideDenied removes an entry from a list if no call of the entry could be allowed or asked
	// about (OffersEntry). A rule with on = "list" can do the same.
	HideDenied bool

	// Calls are the only calls that the policy will judge, if they are known. Rules about other
	// tools and servers are checked but not compiled, and the policy denies every other call. If
	// Calls is nil, the policy may judge any call.
	Calls []Call

	windows bool // the policy judges calls to servers on Windows; see forSystem
	judges  On   // the policy judges calls, replies, lists or uploads
}

// Policy is a compiled policy. It is immutable and safe for concurrent use. The zero value has no
// rules and denies every call.
type Policy struct {
	sources     []ruleSource
	rules       []rule
	limits      []LimitTable
	trusts      []TrustTable
	cages       []CageTable
	level       Level
	folders     []FolderList
	packs       []Pack
	subjects    [MethodSubject + 1]index
	args        [MethodSubject + 1]*argNames // the argument names in rules about tools and about prompts; nil for other subjects
	readers     []argReader                  // by slot
	file        string
	revision    string
	timed       bool     // a rule has the key "when"; includes the rules of layers, and rules about replies and lists
	labelled    bool     // a rule has the key "after"
	identity    []string // the keys of conditions on the caller or the environment, such as "group"
	environment string   // the value of the policy's own key env; "" if the policy has none
	hinted      bool     // a rule has a condition on the call that a fixture may leave undecided
	asksDisk    bool     // a rule has the constraint "under", or a command that depends on the disk
	options     Options
	windows     lazy             // the same policy for servers on Windows
	screens     [OnCount]*Policy // the same policy for replies, lists and uploads; nil if no rule is about them
	searches    [OnCount]search  // by On: the result of Screens, and the rules that give this result
}

// Parse reads a policy, checks it and compiles it. file is the policy's name in positions. The
// policy keeps src, so the caller must not change src afterwards. The error is an Errors with every
// mistake in the file.
func Parse(file string, src []byte, o Options) (*Policy, error) {
	all, errs := parseFile(file, src, nil)
	if len(errs) == 0 {
		errs = all.environment.checkEnvironment(o)
	}
	var sums [][sha256.Size]byte
	if len(errs) == 0 {
		sums, errs = all.applyExtends(o)
	}
	var packs []Pack
	if len(errs) == 0 {
		packs, errs = all.loadPacks(o)
	}
	var p *Policy
	if len(errs) == 0 {
		p, errs = compileSources(all.rules, o)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	p.addLimits(all.limits)
	p.trusts, p.cages, p.level, p.folders = all.trusts, all.cages, all.level, all.folders
	p.packs, p.file, p.environment = packs, file, all.environment.name
	for _, pack := range packs {
		sums = append(sums, sha256.Sum256(pack.Text()))
	}
	p.setRevision(append([][sha256.Size]byte{sha256.Sum256(src)}, sums...))
	for _, q := range p.screens {
		if q != nil {
			q.file, q.revision = p.file, p.revision
		}
	}
	return p, nil
}

// Rules returns the rules as written, in order.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, len(p.sources))
	for i := range p.sources {
		rules[i] = p.sources[i].Rule
	}
	return rules
}

// Revision returns the first twelve hexadecimal digits of a SHA-256 digest. The digest covers the
// policy's text, and also the texts that the policy extends, its packs and its layers, if there are
// any.
func (p *Policy) Revision() string { return p.revision }

// Decide judges every reading of a call. The strictest answer wins.
func (p *Policy) Decide(c *Call) Decision {
	d, _ := p.decideLayers(c, effort.Max)
	return d
}

// decideOwnRules returns the answer of the policy without its layers, and the effort that is left.
func (p *Policy) decideOwnRules(c *Call, left effort.Left) (Decision, effort.Left) {
	if c.Subject == NoSubject && c.Malformed == "" && p.options.judges != OnCall {
		return p.decideUnknown(c), left
	}
	if why := malformedReason(c); why != "" {
		return Decision{Reason: why}, left
	}
	if !p.options.includesCall(c) {
		return Decision{Reason: otherCall}, left
	}
	if c.OS != "" {
		p = p.forSystem(c.OS)
	}
	v := views.Get().(*view)
	v.policy, v.call, v.left, v.Room = p, c, left, &v.room
	var d Decision
	worst := outcome{rank: none}
	names, respelled := c.Names, p.listRespellings(c)
	if len(respelled) > 0 {
		names = slices.Concat(respelled, c.Names)
	}
	for i, name := range names {
		o := v.judgeName(name)
		if i >= len(respelled) && len(respelled) > 0 && o.rule < 0 && o.reason == "" {
			continue // no rule knows the tool by this spelling, so the other spelling decides
		}
		if v.policy.mergeOutcome(&worst, o) {
			d = v.toDecision(worst)
		}
		if worst.rank == denies {
			break
		}
	}
	left = v.left
	if worst.rank == none && p.passesUnmatched() {
		d.Action = Allow
	}
	if d.Action != Deny && len(v.noted)+len(p.limits) > 0 {
		d.Rates = v.listCharges()
		v.addAlterations(&d)
	}
	v.releaseCall()
	views.Put(v)
	return d, left
}

// DecideAll judges several calls that must be allowed or denied together. It returns the strictest
// decision, or a deny if there are no calls.
func (p *Policy) DecideAll(cs []Call) Decision {
	var worst, d Decision
	var rates []Charge
	var alters []Alteration
	left := effort.Max // one limit for all calls, because they came in one frame
	for i := range cs {
		d, left = p.decideLayers(&cs[i], left)
		for _, c := range d.Rates {
			c.Call = i
			rates = append(rates, c)
		}
		for _, a := range d.Alters {
			a.Call = i
			alters = append(alters, a)
		}
		if i == 0 {
			worst = d
		} else {
			worst.merge(&d)
		}
	}
	if worst.Rates, worst.Alters = rates, alters; worst.Action == Deny {
		worst.Rates, worst.Alters = nil, nil
	}
	return worst
}

// malformedReason returns the reason why no rule may allow a call; "" if there is none.
func malformedReason(c *Call) string {
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
			if why := reading.UnnameableReason(name); why != "" {
				return why
			}
		}
	}
	return reading.UnnameableReason(c.Server)
}

// toDecision converts an outcome to a Decision.
func (v *view) toDecision(o outcome) Decision {
	if o.rank == none && v.policy.passesUnmatched() {
		return Decision{Action: Allow}
	}
	d := Decision{Action: o.rank.toAction(), Reason: o.reason}
	if o.rule >= 0 && o.rule < len(v.policy.sources) {
		d.Rule = &v.policy.sources[o.rule].Rule
	}
	if o.reading != nil {
		switch {
		case len(o.reading.Places) > 0 && !o.reading.Places[0].Own:
			d.Reading = strings.Clone(o.reading.Places[0].Text)
		case o.reading.Text != o.reading.Raw && !o.reading.AsForm:
			d.Reading = strings.Clone(o.reading.Text)
		}
		if o.reading.Kind == reading.Refused && o.reason == "" {
			d.Reason = o.reading.Refusal
		}
	}
	return d
}
