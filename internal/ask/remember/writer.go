package remember

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// Writer writes rules into one policy file. It is safe for concurrent use; several processes may
// also use the same file. A nil Writer has no offers.
type Writer struct {
	Policy  string // path of the policy file
	Options policy.Options
	Denied  Denied                     // the denied calls in the record; no rule may allow them; required
	View    view.Options               // facts about this machine, needed to find reasons for care
	Wrote   func(before, after []byte) // called before each write with the old and the new text; may be nil
	Journal string                     // folder for the replaced texts; "" for none
	Now     func() time.Time           // nil: time.Now

	writing sync.Mutex // held while a rule is written

	mu     sync.Mutex
	last   *file               // the policy file when it was last read
	writes map[string]ownWrite // writes of this Writer, by the revision before the write
}

// Offers lists the possible scopes of an answer to q, the narrowest first. An offer has the rules
// that "always" and "deny always" would write, and the scope of a session answer. If no rule can be
// written, whyNot is the reason in one line without control characters; for a nil Writer it is "". Offers reads the
// policy file. It does not wait and does not write.
func (k *Writer) Offers(q gate.Question) (offers []view.Offer, whyNot string) {
	if k == nil {
		return nil, ""
	}
	offers, err := k.listOffers(q)
	if err != nil {
		whyNot = term.VisibleText(err.Error())
	}
	return offers, whyNot
}

// Write writes the rule that was offered for this scope: r is gate.AllowAlways for a rule that
// allows, gate.DenyAlways for one that denies. note tells, for the record, what was written, or
// that the policy already has the rule. After an error nothing is written; the error is one
// line for the person, without control characters.
func (k *Writer) Write(ctx context.Context, q gate.Question, scope string, r gate.Reply) (note string, err error) {
	if k == nil {
		return "", errors.New("no rule can be written here")
	}
	note, err = k.writeRule(ctx, q, scope, r)
	if err != nil {
		return "", errors.New(term.VisibleText(err.Error()))
	}
	return note, nil
}

var (
	errChanged  = errors.New("the policy file has changed since the rule asked")
	errReply    = errors.New("the question is about a reply, and a rule written here would be about calls")
	errSeveral  = errors.New("several requests are asked about at once")
	errSeen     = errors.New("the labels of this session ask, and no new rule removes a label")
	errLimit    = errors.New("a limit is reached, and no rule that is written lifts it")
	errNoRecord = errors.New("there is no record to check a rule against")
)

// listOffers makes an offer for each scope. It leaves out a scope that is impossible or gives the
// same rule as a narrower one. If no rule can be written, the error is the reason for the narrowest
// scope.
func (k *Writer) listOffers(q gate.Question) (offers []view.Offer, err error) {
	f, err := k.loadQuestionPolicy(q)
	if err != nil {
		return nil, err
	}
	t, _, err := k.findTarget(q, f)
	if err != nil {
		return nil, err
	}
	_, careless := careReasons(q.Calls, k.View)
	return k.narrowTarget(t, &q.Calls[0], q.Session && careless)
}

// narrowTarget makes an offer for each scope from the rule t.rule.
func (k *Writer) narrowTarget(t *target, call *policy.Call, session bool) (offers []view.Offer, err error) {
	closed := k.checkRuleWritable(t)
	taken, rules := map[string]bool{}, 0
	for _, s := range policy.AllScopes() {
		n, failed := t.rules.Grant(t.rule, call, s)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if taken[n.Text] {
			continue
		}
		taken[n.Text] = true
		o := view.Offer{Scope: s.String(), Title: ruleTitle(call, n, s)}
		if session && s != policy.Exact {
			o.Session = k.describeRule(call, n, s)
		}
		if closed == nil {
			k.fillOffer(&o, t, call, n, s)
			rules++
		}
		if o.Allow != "" || o.Session != "" {
			offers = append(offers, o)
		}
	}
	switch {
	case closed != nil:
		return offers, closed
	case rules > 0:
		return offers, nil
	}
	return offers, firstError(err)
}

// fillOffer sets the texts of the rules that "always" and "deny always" would write.
func (k *Writer) fillOffer(o *view.Offer, t *target, call *policy.Call, n *policy.Narrowed, s policy.Scope) {
	n.SetDescription(k.describeRule(call, n, s))
	o.Allow = k.ruleComment(t, call, n, s, gate.AllowAlways) + n.Text
	o.Example = findExample(witness{old: t.rules, new: n.Policy, rule: t.rule, home: k.Options.Home, reads: onlyReads(call)}, call, n)
	if d, err := t.rules.NarrowRule(t.rule, call, s, policy.Deny); err == nil {
		d.SetDescription(neverText(k.describeRule(call, d, s)))
		o.Deny = k.ruleComment(t, call, d, s, gate.DenyAlways) + d.Text
	}
}

// checkRuleWritable returns the reason why no rule can be written at the place t; nil if one can.
func (k *Writer) checkRuleWritable(t *target) error {
	if s := t.rules.Sources()[t.rule.Index]; !s.TakesRulesAbove() {
		return fmt.Errorf("the rule comes from %s, which the policy extends; write one of your own above it", s.From)
	}
	return checkWritable(k.Policy)
}

// firstError returns the first error of a joined error.
func firstError(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return firstError(all.Unwrap()[0])
	}
	return err
}

// loadQuestionPolicy reads the policy file for an answer to q. It returns an error if no rule can
// be written for q.
func (k *Writer) loadQuestionPolicy(q gate.Question) (*file, error) {
	if q.Reply {
		return nil, errReply
	}
	if len(q.Calls) != 1 {
		return nil, errSeveral
	}
	if q.Rule.Action != policy.Prompt {
		if q.Why != "" {
			return nil, errSeen
		}
		return nil, errLimit
	}
	if names := view.UnusualMembers(&q.Calls[0]); len(names) > 0 {
		return nil, fmt.Errorf("beside its arguments the call carries %s, which no rule can name", joinWords(argumentWords(names)))
	}
	if k.Denied == nil {
		return nil, errNoRecord
	}
	return k.loadPolicy()
}

// findRule returns the rule in the file that led to the question, and the decision of the file's
// policy about the call. The rule may have moved, because this Writer has added rules in the
// meantime.
func (k *Writer) findRule(q gate.Question, f *file) (policy.Rule, policy.Decision, error) {
	d := f.policy.Decide(&q.Calls[0])
	rule, followed := k.relocateRule(q.Rule, q.Revision, f.policy.Revision())
	switch {
	case !followed:
		return policy.Rule{}, d, errChanged
	case d.Action != policy.Prompt:
		return policy.Rule{}, d, fmt.Errorf("the policy file no longer asks about the call, but says %v%s", d.Action, decidedBy(&d))
	case d.Rule != nil && !slices.ContainsFunc(f.policy.Rules(), func(r policy.Rule) bool { return r == *d.Rule }):
		return policy.Rule{}, d, fmt.Errorf("the rule is in %s, above the policy, and no answer is written there", term.VisibleValue(d.Rule.Pos.File))
	case d.Rule == nil || !isSameRule(*d.Rule, rule):
		return policy.Rule{}, d, fmt.Errorf("the policy file asks about the call%s, and not by the rule that asked", decidedBy(&d))
	}
	return *d.Rule, d, nil
}

// findTarget returns the place for the rule of an answer to q, and the decision of the file's
// policy about the call.
func (k *Writer) findTarget(q gate.Question, f *file) (*target, policy.Decision, error) {
	rule, d, err := k.findRule(q, f)
	if err != nil {
		return nil, d, err
	}
	return &target{file: f, rules: f.policy, rule: rule, above: &rule}, d, nil
}

// decidedBy returns " by the rule at" and the rule's location; "" if no rule matched.
func decidedBy(d *policy.Decision) string {
	if d.Rule == nil {
		return ""
	}
	return " by the rule at " + ruleLocation(d.Rule)
}

// isSameRule reports whether a and b are the same rule at the same place. The name of the file may
// differ.
func isSameRule(a, b policy.Rule) bool {
	a.Pos.File, b.Pos.File = "", ""
	return a == b
}

func (k *Writer) now() time.Time {
	if k.Now != nil {
		return k.Now()
	}
	return time.Now()
}

// ruleComment returns the comment above a written rule. It tells the owner of the file where the
// rule comes from.
func (k *Writer) ruleComment(t *target, c *policy.Call, n *policy.Narrowed, s policy.Scope, r gate.Reply) string {
	asked := "the rule below"
	if from := t.rules.Sources()[t.rule.Index].From; from != "" {
		asked = "a rule of " + term.VisibleText(from)
	}
	text := fmt.Sprintf("# Written on %s after the answer %q (%s) to %s.\n", k.now().Format(time.DateOnly), r, s, asked)
	if t.by != "" {
		text = fmt.Sprintf("# Written on %s by %s (%s).\n", k.now().Format(time.DateOnly), t.by, s)
	}
	if _, only := n.ArgsOnlyNames(); !only && (c.Subject == policy.ToolSubject || c.Subject == policy.PromptSubject) {
		text += "# Arguments it does not name stay open.\n"
	}
	if c.Extra != nil {
		text += "# So does what comes beside the arguments: no rule can speak of it.\n"
	}
	return text
}

// ruleLocation returns the file and line of a rule, for the record.
func ruleLocation(r *policy.Rule) string {
	return fmt.Sprintf("%s:%d", filepath.Base(r.Pos.File), r.Pos.Line)
}
