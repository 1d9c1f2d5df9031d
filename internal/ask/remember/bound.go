package remember

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// bound decides which further calls a session answer allows. It holds a policy with the rule that
// "always" would write; this rule is not in the policy file.
type bound struct {
	policy *policy.Policy
	title  string
	shown  []string // reasons for care that the person saw for the first call
	view   view.Options
}

var _ gate.Bound = (*bound)(nil)

func (b *bound) Title() string { return b.title }

// Covers reports whether the session answer allows the calls. There are two conditions. The policy
// must allow the calls. And each reason why the calls need care must be a reason that the person
// saw for the first call.
func (b *bound) Covers(cs []policy.Call) bool {
	if b.policy.DecideAll(cs).Action != policy.Allow {
		return false
	}
	reasons, ok := careReasons(cs, b.view)
	return ok && !slices.ContainsFunc(reasons, func(why string) bool { return !slices.Contains(b.shown, why) })
}

// careReasons returns the reasons for care of the calls. It returns false if one of the reasons
// cannot be covered by an answer to another call.
func careReasons(cs []policy.Call, o view.Options) ([]string, bool) {
	o.ReadFile, o.Unseen = nil, true
	v, err := view.NewQuestion(cs, o)
	if err != nil {
		return nil, false
	}
	return view.BoundReasons(v.Dangers)
}

// Bound returns the bound of a session answer with a scope from the offers. note describes the
// bound for the record. The error is one line for the person, without
// control characters.
func (k *Writer) Bound(ctx context.Context, q gate.Question, scope string) (b gate.Bound, note string, err error) {
	if k == nil {
		return nil, "", errors.New("no answer reaches beyond its call here")
	}
	if b, err = k.makeBound(ctx, q, scope); err != nil {
		return nil, "", errors.New(term.VisibleText(err.Error()))
	}
	return b, "for this session: " + b.Title(), nil
}

func (k *Writer) makeBound(ctx context.Context, q gate.Question, word string) (gate.Bound, error) {
	scope, err := policy.ParseScope(word)
	if err != nil {
		return nil, err
	}
	f, err := k.loadQuestionPolicy(q)
	if err != nil {
		return nil, err
	}
	rule, _, err := k.findRule(q, f)
	if err != nil {
		return nil, err
	}
	call := &q.Calls[0]
	shown, ok := careReasons(q.Calls, k.View)
	if !q.Session || !ok {
		return nil, fmt.Errorf("an answer for the session cannot reach beyond this call")
	}
	n, err := f.policy.Grant(rule, call, scope)
	if err != nil {
		return nil, err
	}
	p := &proposal{call: call, rule: rule, stated: f.policy.Sources()[rule.Index].Calls, old: f.policy, new: n.Policy}
	if err := k.checkDenied(ctx, p); err != nil {
		return nil, err
	}
	return &bound{policy: n.Policy, title: k.describeRule(call, n, scope), shown: shown, view: k.View}, nil
}
