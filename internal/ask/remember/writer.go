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

// Writer writes rules into one policy file. It is safe for concurrent use, also
// by several processes. A nil Writer offers nothing.
type Writer struct {
	Policy  string // path of the policy file
	Options policy.Options
	Denied  Denied                     // what must stay denied; needed
	View    view.Options               // what is known of this machine, for what needs care
	Wrote   func(before, after []byte) // is told of each text put in the place of another; may be nil
	Now     func() time.Time           // nil: time.Now

	writing sync.Mutex // one rule after the other

	mu     sync.Mutex
	last   *file               // as last read
	writes map[string]ownWrite // by the revision before: what this Writer has written
}

// Offers lists how far an answer to q could reach, narrowest first: the rules that it
// could write, and what it could hold for until the session ends. When no rule can be
// written, whyNot says so in one harmless line; it is empty when nobody wants to know.
// It reads the policy file and neither waits nor writes.
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

// Write writes the rule of the offer that scope names, as it was offered: it
// allows for gate.AllowAlways and denies for gate.DenyAlways. note says for the
// record what was written, or that the policy says so already. An error is one
// harmless line for the person; nothing is written then.
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
	errReply    = errors.New("what is asked about is an answer, and a rule written here would be about calls")
	errSeveral  = errors.New("several requests are asked about at once")
	errSeen     = errors.New("what the session has seen asks, and no rule that is written makes that unseen")
	errLimit    = errors.New("a limit is reached, and no rule that is written lifts it")
	errNoRecord = errors.New("there is no record to check a rule against")
)

// listOffers narrows the rule that asked to each scope. A scope that says nothing new is
// left out, and so is one that cannot be; if no rule can be written, the error is
// about the narrowest.
func (k *Writer) listOffers(q gate.Question) (offers []view.Offer, err error) {
	f, err := k.loadQuestionPolicy(q)
	if err != nil {
		return nil, err
	}
	rule, _, err := k.findRule(q, f)
	if err != nil {
		return nil, err
	}
	closed := k.checkRuleWritable(f, rule)
	_, careless := careReasons(q.Calls, k.View)
	call := &q.Calls[0]
	taken, rules := map[string]bool{}, 0
	for _, s := range policy.AllScopes() {
		n, failed := f.policy.Grant(rule, call, s)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if taken[n.Text] {
			continue
		}
		taken[n.Text] = true
		o := view.Offer{Scope: s.String(), Title: ruleTitle(call, n, s)}
		if q.Session && careless && s != policy.Exact {
			o.Session = k.describeRule(call, n, s)
		}
		if closed == nil {
			k.fillOffer(&o, f, rule, call, n, s)
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

// fillOffer puts the rules into an offer that "always" and "deny always" would write.
func (k *Writer) fillOffer(o *view.Offer, f *file, rule policy.Rule, call *policy.Call, n *policy.Narrowed, s policy.Scope) {
	n.SetDescription(k.describeRule(call, n, s))
	o.Allow = k.ruleComment(call, n, s, gate.AllowAlways) + n.Text
	o.Example = findExample(witness{old: f.policy, new: n.Policy, rule: rule, home: k.Options.Home, reads: onlyReads(call)}, call, n)
	if d, err := f.policy.NarrowRule(rule, call, s, policy.Deny); err == nil {
		d.SetDescription(neverText(k.describeRule(call, d, s)))
		o.Deny = k.ruleComment(call, d, s, gate.DenyAlways) + d.Text
	}
}

// checkRuleWritable says why no rule can be written above one; nil when it can.
func (k *Writer) checkRuleWritable(f *file, rule policy.Rule) error {
	if from := f.policy.Sources()[rule.Index].From; from != "" {
		return fmt.Errorf("the rule comes from %s, which the policy extends; write one of your own above it", from)
	}
	return checkWritable(k.Policy)
}

// firstError gives the first of several errors that were joined.
func firstError(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return firstError(all.Unwrap()[0])
	}
	return err
}

// loadQuestionPolicy reads the policy that a question is about.
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
		return nil, fmt.Errorf("beside its arguments the call carries %s, of which no rule can speak", joinWords(argumentWords(names)))
	}
	if k.Denied == nil {
		return nil, errNoRecord
	}
	return k.loadPolicy()
}

// findRule gives the rule of the file that asked, and what the file says of the call
// now; the rule is sought where the Writer's own writing has moved it.
func (k *Writer) findRule(q gate.Question, f *file) (policy.Rule, policy.Decision, error) {
	d := f.policy.Decide(&q.Calls[0])
	rule, followed := k.relocateRule(q.Rule, q.Revision, f.policy.Revision())
	switch {
	case !followed:
		return policy.Rule{}, d, errChanged
	case d.Action != policy.Prompt:
		return policy.Rule{}, d, fmt.Errorf("the policy file no longer asks about the call, but says %v%s", d.Action, decidedBy(&d))
	case d.Rule != nil && !slices.ContainsFunc(f.policy.Rules(), func(r policy.Rule) bool { return r == *d.Rule }):
		return policy.Rule{}, d, fmt.Errorf("the rule stands in %s, above the policy, and no answer is written there", term.VisibleValue(d.Rule.Pos.File))
	case d.Rule == nil || !isSameRule(*d.Rule, rule):
		return policy.Rule{}, d, fmt.Errorf("the policy file asks about the call%s, and not by the rule that asked", decidedBy(&d))
	}
	return *d.Rule, d, nil
}

// decidedBy names the rule of a decision; "" where none matched.
func decidedBy(d *policy.Decision) string {
	if d.Rule == nil {
		return ""
	}
	return " by the rule at " + ruleLocation(d.Rule)
}

// isSameRule says that two policies hold the same rule in the same place; the file
// may be named in two ways.
func isSameRule(a, b policy.Rule) bool {
	a.Pos.File, b.Pos.File = "", ""
	return a == b
}

// ruleComment tells the owner of the file where a rule comes from.
func (k *Writer) ruleComment(c *policy.Call, n *policy.Narrowed, s policy.Scope, r gate.Reply) string {
	now := time.Now
	if k.Now != nil {
		now = k.Now
	}
	text := fmt.Sprintf("# Written on %s after the answer %q (%s) to the rule below.\n", now().Format(time.DateOnly), r, s)
	if _, only := n.ArgsOnlyNames(); !only && (c.Subject == policy.ToolSubject || c.Subject == policy.PromptSubject) {
		text += "# Arguments it does not name stay open.\n"
	}
	if c.Extra != nil {
		text += "# So does what comes beside the arguments: no rule can speak of it.\n"
	}
	return text
}

// ruleLocation names a rule for the record.
func ruleLocation(r *policy.Rule) string {
	return fmt.Sprintf("%s:%d", filepath.Base(r.Pos.File), r.Pos.Line)
}
