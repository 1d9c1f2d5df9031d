package remember

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Late is an answer that a person gives long after the call: a rule will allow or deny such calls
// in the future. The same limits hold as for "always". If a call was refused because no rule allows
// it, Late can allow it like a call about which a rule asks.
type Late struct {
	Call   policy.Call   // the call, with the parts that the record has
	Part   bool          // the record has only a part of the call, so no rule can be for exactly this call
	Action policy.Action // allow or deny
	By     string        // the command that the person ran, for the comment above the rule
}

// Plan is a change of the policy file. Apply makes the change.
type Plan struct {
	Text     string // the new rules, with their comments; for an undo, what the file loses
	Line     int    // line in the new file where Text begins
	Old, New *policy.Policy
	Opened   []Shown // calls whose answer changes; the first is the call itself
	Kept     []Shown // similar calls that stay refused

	Time time.Time // only for an undo: the time of the write that is undone
	Back string    // only for an undo: what the write replaced or removed, such as the shorter list of folders

	src, next []byte
	undoes    string // the journal file that Apply removes; "" if the plan is no undo
}

// Shown is a call with the decisions of the old and the new policy.
type Shown struct {
	Call     policy.Call
	Text     string // description of the call for people, harmless
	Old, New policy.Decision
}

// target is the place of a new rule. It also holds the rule that the new rule narrows.
type target struct {
	file  *file
	rules *policy.Policy // a policy that contains the rule in the field rule, which asks about the call
	rule  policy.Rule
	above *policy.Rule // the rule in the file above which the new rule goes; nil: at the end
	rest  *rest        // set if the call is refused only because no rule allows it; otherwise nil
	by    string       // the command that writes the rule; "" if a question was answered
}

func (t *target) insertRule(text string) ([]byte, error) {
	if t.above != nil {
		return t.file.policy.InsertAbove(t.file.src, *t.above, text)
	}
	return policytext.InsertBelow(t.file.src, text), nil
}

// index returns the index of the new rule in the new policy.
func (t *target) index() int {
	if t.above != nil {
		return t.above.Index
	}
	return policy.EndOfOwn(t.file.policy.Sources())
}

// rest describes why the policy refuses a call that no rule allows: its last rule denies
// everything, or no rule matches.
type rest struct {
	closing *policy.Rule // the last rule, which denies everything; nil if there is none
	words   string       // description of closing; "" if another rule has the same description
}

// hasRefused reports whether the policy refused a call only because no rule allows it.
func (r *rest) hasRefused(d *policy.Decision) bool {
	return r != nil && d.Action == policy.Deny && (d.Rule == nil && d.Reason == "" || d.Rule != nil && r.closing != nil && *d.Rule == *r.closing)
}

// findRest returns how the policy refuses the calls of a subject that no rule allows. A rule that
// denies everything must be the last rule of its subject. If rules follow, findRest returns an
// error, because the owner probably wrote the rule to disable the rules below it.
func findRest(p *policy.Policy, subject policy.Subject) (*rest, error) {
	r := &rest{}
	sources := p.Sources()
	end := policy.EndOfOwn(sources)
	for i := range sources {
		s := &sources[i]
		switch {
		case s.Subject != subject:
		case s.From != "" && i >= end:
			return nil, errors.New("the policy extends others, whose rules would stand below the new one; write it by hand")
		case r.closing != nil:
			return nil, fmt.Errorf("the rule at %s refuses everything, with rules below it", ruleLocation(r.closing))
		case s.RefusesTheRest():
			rule := s.Rule
			r.closing = &rule
		}
	}
	if r.closing == nil {
		return r, nil
	}
	r.words = r.closing.Description
	for i := range sources {
		if sources[i].Description == r.words && sources[i].Rule != *r.closing {
			r.words = ""
		}
	}
	return r, nil
}

// findLate returns the place for the rule of a late answer.
func (k *Writer) findLate(l *Late, f *file) (*target, error) {
	t := &target{file: f, rules: f.policy, by: l.By}
	d := f.policy.Decide(&l.Call)
	own := d.Rule == nil || slices.ContainsFunc(f.policy.Rules(), func(r policy.Rule) bool { return r == *d.Rule })
	switch {
	case !own:
		return nil, fmt.Errorf("the rule is in %s, above the policy: change it there", term.VisibleValue(d.Rule.Pos.File))
	case d.Action == l.Action:
		return nil, fmt.Errorf("the policy says %s already%s", d.Action, decidedBy(&d))
	case d.Action == policy.Prompt && d.Rule != nil:
		t.rule, t.above = *d.Rule, d.Rule
		return t, nil
	case d.Action == policy.Allow && d.Rule != nil:
		if s := f.policy.Sources()[d.Rule.Index]; !s.TakesRulesAbove() {
			return nil, fmt.Errorf("the rule that allows comes from %s, which the policy extends; write one of your own above it", s.From)
		}
		t.above = d.Rule
		return t, k.askAt(t, l.Call.Subject)
	case d.Action != policy.Deny:
		return nil, fmt.Errorf("the policy says %s, and no rule of it", d.Action)
	case d.Rule == nil && d.Reason != "":
		return nil, fmt.Errorf("no rule may allow the call: %s", d.Reason)
	}
	r, err := findRest(f.policy, l.Call.Subject)
	if err == nil && !r.hasRefused(&d) {
		err = errors.New("a rule that denies is never undone by one that allows; if it says too much, change it")
	}
	if err != nil {
		return nil, fmt.Errorf("the policy denies the call%s: %w", decidedBy(&d), err)
	}
	t.rest, t.above = r, r.closing
	return t, k.askAt(t, l.Call.Subject)
}

// askAt adds a rule to t.rules at the place of the new rule. The added rule asks about every call
// of a subject. So the rule of a late answer can narrow it, like the rule of an answer to a
// question.
func (k *Writer) askAt(t *target, subject policy.Subject) error {
	asks, err := t.insertRule(policytext.WriteRule(policytext.StringPair("action", policy.Prompt.String()), policytext.StringPair(subject.RuleKey(), "**")))
	if err != nil {
		return err
	}
	if t.rules, err = policy.Parse(k.Policy, asks, k.Options); err != nil {
		return err
	}
	t.rule = t.rules.Rules()[t.index()]
	return nil
}

// loadLate reads the policy file and returns the place for the rule of a late answer.
func (k *Writer) loadLate(l *Late) (*target, error) {
	if names := view.UnusualMembers(&l.Call); len(names) > 0 {
		return nil, fmt.Errorf("beside its arguments the call carries %s, which no rule can name", joinWords(argumentWords(names)))
	}
	f, err := k.loadPolicy()
	if err != nil {
		return nil, err
	}
	return k.findLate(l, f)
}

// LateOffers lists the possible scopes of a late answer. Offers does the same for a question. The
// error is one line without control characters.
func (k *Writer) LateOffers(l *Late) (offers []view.Offer, err error) {
	t, err := k.loadLate(l)
	if err == nil {
		offers, err = k.narrowTarget(t, &l.Call, false)
	}
	offers = slices.DeleteFunc(offers, func(o view.Offer) bool {
		return o.RuleText(l.Action == policy.Allow) == "" || l.Part && o.Scope == policy.Exact.String()
	})
	switch {
	case err != nil:
		return nil, errors.New(term.VisibleText(err.Error()))
	case len(offers) == 0:
		return nil, errors.New("a rule for this call needs all of its arguments, which the record does not keep")
	}
	return offers, nil
}

// PlanLate returns the plan that writes the rule for a scope from LateOffers. The error is one
// line without control characters.
func (k *Writer) PlanLate(ctx context.Context, l *Late, word string) (*Plan, error) {
	plan, err := k.planLate(ctx, l, word)
	if err != nil {
		return nil, errors.New(term.VisibleText(err.Error()))
	}
	return plan, nil
}

func (k *Writer) planLate(ctx context.Context, l *Late, word string) (*Plan, error) {
	scope, err := policy.ParseScope(word)
	if err != nil {
		return nil, err
	}
	if l.Part && scope == policy.Exact {
		return nil, errors.New("the record does not keep the whole call, so no rule can name it exactly")
	}
	t, err := k.loadLate(l)
	if err != nil {
		return nil, err
	}
	if err := k.checkRuleWritable(t); err != nil {
		return nil, err
	}
	p, err := k.proposeAt(t, &l.Call, scope, l.Action)
	if err != nil {
		return nil, err
	}
	if l.Action == policy.Allow {
		if err := k.checkDenied(ctx, p); err != nil {
			return nil, err
		}
	}
	plan := &Plan{Text: p.text, Line: p.new.Rules()[t.index()].Pos.Line - strings.Count(p.text[:strings.Index(p.text, "[[")], "\n"), Old: p.old, New: p.new, src: t.file.src, next: p.next}
	plan.showCalls(k, p)
	return plan, nil
}

// describeCall describes a call with all its arguments. A call without arguments gets the text of
// callText.
func describeCall(c *policy.Call) string {
	args, ok := parseMembers(c.Args)
	if !ok || len(args) == 0 || len(c.Names) != 1 {
		return callText(c)
	}
	text := term.VisibleValue(c.Names[0])
	if c.Server != "" {
		text += " on " + term.VisibleValue(c.Server)
	}
	return text + describeArguments(nil, args)
}

// maxKept is the maximum number of calls in Plan.Kept.
const maxKept = 3

// showCalls fills Opened and Kept: calls whose answer changes, and similar calls that stay refused.
func (plan *Plan) showCalls(k *Writer, p *proposal) {
	judge := func(c *policy.Call, text string) Shown {
		return Shown{Call: *c, Text: text, Old: p.old.Decide(c), New: p.new.Decide(c)}
	}
	plan.Opened = []Shown{judge(p.call, describeCall(p.call))}
	w := witness{home: k.Options.Home, reads: onlyReads(p.call)}
	var further *Shown
	kept := map[policy.Rule]bool{}
	w.eachVariant(p.call, p.narrowed, func(c *policy.Call, text string) bool {
		s := judge(c, text)
		switch {
		case s.Old.Action != s.New.Action && further == nil:
			further = &s
		case s.New.Action == policy.Deny && s.Old.Action == policy.Deny && s.New.Rule != nil && !kept[*s.New.Rule] && len(kept) < maxKept && !p.rest.hasRefused(&s.Old):
			kept[*s.New.Rule] = true
			plan.Kept = append(plan.Kept, s)
		}
		return further == nil || len(kept) < maxKept
	})
	if further != nil {
		plan.Opened = append(plan.Opened, *further)
	}
}

// Apply carries out a plan. It returns an error if the file has changed since the plan was made.
// The error is one line without control characters.
func (k *Writer) Apply(ctx context.Context, plan *Plan) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	err := checkWritable(k.Policy)
	if err == nil {
		var changed bool
		if changed, err = k.replaceFile(ctx, &file{src: plan.src, policy: plan.Old}, plan.next, plan.undoes); changed {
			err = errors.New("the policy file has changed meanwhile")
		}
	}
	if err != nil {
		return errors.New(term.VisibleText(err.Error()))
	}
	return nil
}

// Next returns the new text of the file.
func (plan *Plan) Next() []byte { return plan.next }

// NewPlan returns the plan that replaces the old text of the policy (the parameter before) by the
// new text (the parameter after). The parameter rules is the text of the rules that the new text
// adds.
func NewPlan(before, after []byte, rules string) *Plan {
	return &Plan{Text: rules, src: before, next: after}
}
