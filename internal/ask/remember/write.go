package remember

import (
	"context"
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// proposal is a rule that can be written, with the policies before and after it.
type proposal struct {
	call     *policy.Call
	rule     policy.Rule     // the rule that led to the question
	rest     *rest           // set if the call is refused only because no rule allows it; otherwise nil
	stated   []policy.Stated // conditions in the field rule about the whole call; the new rule has them too
	narrowed *policy.Narrowed
	text     string // the rule with its comment
	next     []byte // the file with the new rule
	old, new *policy.Policy
}

// maxTries is how often a write is tried if others change the file in between.
const maxTries = 3

func (k *Writer) writeRule(ctx context.Context, q gate.Question, word string, r gate.Reply) (note string, err error) {
	scope, err := policy.ParseScope(word)
	if err != nil {
		return "", err
	}
	action := policy.Allow
	switch r {
	case gate.AllowAlways:
	case gate.DenyAlways:
		action = policy.Deny
	default:
		return "", fmt.Errorf("the answer %q writes no rule", r)
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := checkWritable(k.Policy); err != nil {
		return "", err
	}
	for range maxTries {
		f, err := k.loadQuestionPolicy(q)
		if err != nil {
			return "", err
		}
		p, note, err := k.proposeRule(q, f, scope, action)
		if err != nil || note != "" {
			return note, err
		}
		// Only a rule that allows must be checked against the denied calls in the record.
		if action == policy.Allow {
			if err := k.checkDenied(ctx, p); err != nil {
				return "", err
			}
		}
		k.noteWrite(f.policy.Revision(), newOwnWrite(f, p))
		changed, err := k.replaceFile(ctx, f, p.next, "")
		if err != nil {
			return "", err
		}
		if changed {
			continue
		}
		return fmt.Sprintf("wrote a rule to %s (%s) above %s", action, scope, ruleLocation(&p.rule)), nil
	}
	return "", errors.New("the policy file is being written by others all the time")
}

// proposeRule returns the new rule with its policies. If the policy already has such a rule, it
// returns a note instead.
func (k *Writer) proposeRule(q gate.Question, f *file, s policy.Scope, action policy.Action) (p *proposal, note string, err error) {
	t, d, err := k.findTarget(q, f)
	if err != nil {
		// Perhaps another process has written the same answer in the meantime.
		if d.Action == action && d.Rule != nil {
			return nil, fmt.Sprintf("a rule to %s is already at %s", action, ruleLocation(d.Rule)), nil
		}
		return nil, "", err
	}
	p, err = k.proposeAt(t, &q.Calls[0], s, action)
	return p, "", err
}

// proposeAt returns the new policy with a rule for a call at the place t.
func (k *Writer) proposeAt(t *target, call *policy.Call, s policy.Scope, action policy.Action) (*proposal, error) {
	p := &proposal{call: call, rule: t.rule, rest: t.rest, stated: t.rules.Sources()[t.rule.Index].Calls, old: t.file.policy}
	n, err := t.rules.NarrowRule(t.rule, call, s, action)
	if err != nil {
		return nil, err
	}
	what := k.describeRule(call, n, s)
	if action == policy.Deny {
		what = neverText(what)
	}
	n.SetDescription(what)
	p.narrowed = n
	p.text = k.ruleComment(t, call, n, s, actionReply(action)) + n.Text
	if p.next, err = t.insertRule(p.text); err != nil {
		return nil, err
	}
	if p.new, err = policy.Parse(k.Policy, p.next, k.Options); err != nil {
		return nil, fmt.Errorf("the policy would not load with the rule: %w", err)
	}
	if p.new.Decide(call).Action != action {
		return nil, errors.New("a rule above still says otherwise")
	}
	return p, nil
}

func actionReply(a policy.Action) gate.Reply {
	if a == policy.Allow {
		return gate.AllowAlways
	}
	return gate.DenyAlways
}
