package remember

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
)

// Keeper writes rules into one policy file. It is safe for concurrent use. A nil
// Keeper offers nothing.
type Keeper struct {
	Policy  string // path of the policy file
	Options policy.Options
	Denied  Denied // what must stay denied; needed
}

// Exact is the narrowest scope: this very call.
const Exact = "exact"

// proposal is a rule that could be written, and the policy with and without it.
type proposal struct {
	call     policy.Call
	rule     policy.Rule // the one that asked
	text     string      // of the new one
	src      []byte      // of the file, before and after
	next     []byte
	old, new *policy.Policy
}

// Offers lists the rules that an answer to q could write, narrowest first. When
// there is none, whyNot says so in one harmless line; it is empty when nobody
// wants to know. It reads the policy file and neither waits nor writes.
func (k *Keeper) Offers(q gate.Question) (offers []queue.Offer, whyNot string) {
	if k == nil {
		return nil, ""
	}
	p, err := k.propose(q)
	if err != nil {
		return nil, term.Text(err.Error())
	}
	return []queue.Offer{{Scope: Exact, Title: "this exact call", Allow: p.text}}, ""
}

// Write writes the rule of the offer that scope names: it allows for
// gate.AllowAlways and denies for gate.DenyAlways. note says for the record what
// was written. An error is one harmless line for the person; nothing is written
// then.
func (k *Keeper) Write(ctx context.Context, q gate.Question, scope string, r gate.Reply) (note string, err error) {
	switch {
	case k == nil:
		return "", errors.New("rules cannot be written here")
	case scope != Exact || r != gate.AllowAlways:
		return "", errors.New("such a rule is not offered")
	}
	p, err := k.propose(q)
	if err == nil {
		err = k.check(ctx, p)
	}
	if err == nil {
		err = atomicfile.Write(k.Policy, p.next, atomicfile.Options{Was: p.src})
	}
	if err != nil {
		return "", errors.New(term.Text(err.Error()))
	}
	return fmt.Sprintf("wrote an allow rule above %s:%d", filepath.Base(p.rule.Pos.File), p.rule.Pos.Line), nil
}

func (k *Keeper) propose(q gate.Question) (*proposal, error) {
	if len(q.Calls) != 1 {
		return nil, errors.New("several requests are asked about at once")
	}
	if k.Denied == nil {
		return nil, errors.New("there is no record to check a rule against")
	}
	p := proposal{call: q.Calls[0]}
	var err error
	if p.src, err = os.ReadFile(k.Policy); err != nil {
		return nil, err
	}
	if p.old, err = policy.Parse(k.Policy, p.src, k.Options); err != nil {
		return nil, fmt.Errorf("the policy file does not load: %w", err)
	}
	if q.Revision != "" && q.Revision != p.old.Revision() {
		return nil, errors.New("the policy file has changed since the rule asked")
	}
	d := p.old.Decide(&p.call)
	if d.Action != policy.Prompt || d.Rule == nil || !same(*d.Rule, q.Rule) {
		return nil, errors.New("the policy file has changed since the rule asked")
	}
	p.rule = *d.Rule
	n, err := p.old.Narrow(p.rule, &p.call, policy.Exact, policy.Allow)
	if err != nil {
		return nil, err
	}
	p.text = n.Text
	if p.next, err = policy.InsertAbove(p.src, p.rule, p.text); err != nil {
		return nil, err
	}
	if p.new, err = policy.Parse(k.Policy, p.next, k.Options); err != nil {
		return nil, fmt.Errorf("the policy would not load with the rule: %w", err)
	}
	if p.new.Decide(&p.call).Action != policy.Allow {
		return nil, errors.New("a rule above still stops this call")
	}
	return &p, nil
}

// same says that two policies hold the same rule in the same place; the file
// may be named in two ways.
func same(a, b policy.Rule) bool {
	a.Pos.File, b.Pos.File = "", ""
	return a == b
}
