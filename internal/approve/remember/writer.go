package remember

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
)

// Writer writes rules into one policy file. It is safe for concurrent use, also
// by several processes. A nil Writer offers nothing.
type Writer struct {
	Policy  string // path of the policy file
	Options policy.Options
	Denied  Denied                     // what must stay denied; needed
	Wrote   func(before, after []byte) // is told of each text put in the place of another; may be nil
	Now     func() time.Time           // nil: time.Now

	writing sync.Mutex // one rule after the other

	mu     sync.Mutex
	last   *file               // as last read
	writes map[string]ownWrite // by the revision before: what this Writer has written
}

// Offers lists the rules that an answer to q could write, narrowest first. When
// there is none, whyNot says so in one harmless line; it is empty when nobody
// wants to know. It reads the policy file and neither waits nor writes.
func (k *Writer) Offers(q gate.Question) (offers []queue.Offer, whyNot string) {
	if k == nil {
		return nil, ""
	}
	offers, err := k.offers(q)
	if err != nil {
		return nil, term.Text(err.Error())
	}
	return offers, ""
}

// Write writes the rule of the offer that scope names, as it was offered: it
// allows for gate.AllowAlways and denies for gate.DenyAlways. note says for the
// record what was written, or that the policy says so already. An error is one
// harmless line for the person; nothing is written then.
func (k *Writer) Write(ctx context.Context, q gate.Question, scope string, r gate.Reply) (note string, err error) {
	if k == nil {
		return "", errors.New("no rule can be written here")
	}
	note, err = k.write(ctx, q, scope, r)
	if err != nil {
		return "", errors.New(term.Text(err.Error()))
	}
	return note, nil
}

var (
	errChanged  = errors.New("the policy file has changed since the rule asked")
	errSeveral  = errors.New("several requests are asked about at once")
	errLimit    = errors.New("a limit is reached, and no rule that is written lifts it")
	errNoRecord = errors.New("there is no record to check a rule against")
)

// offers narrows the rule that asked to each scope. A scope that says nothing
// new is left out, and so is one that cannot be written; if none can, the error
// is about the narrowest.
func (k *Writer) offers(q gate.Question) (offers []queue.Offer, err error) {
	f, err := k.asked(q)
	if err != nil {
		return nil, err
	}
	rule, _, err := k.find(q, f)
	if err != nil {
		return nil, err
	}
	call := &q.Calls[0]
	taken := map[string]bool{}
	for _, s := range policy.Scopes() {
		n, failed := f.policy.Narrow(rule, call, s, policy.Allow)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if taken[n.Text] {
			continue
		}
		taken[n.Text] = true
		o := queue.Offer{
			Scope:   s.String(),
			Title:   title(call, n, s),
			Allow:   k.comment(call, s, gate.AllowAlways) + n.Text,
			Example: example(witness{old: f.policy, new: n.Policy, rule: rule, home: k.Options.Home}, call, n),
		}
		if n, err := f.policy.Narrow(rule, call, s, policy.Deny); err == nil {
			o.Deny = k.comment(call, s, gate.DenyAlways) + n.Text
		}
		offers = append(offers, o)
	}
	if len(offers) > 0 {
		return offers, nil
	}
	return nil, first(err)
}

// first is the first of several errors that were joined.
func first(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return first(all.Unwrap()[0])
	}
	return err
}

// asked reads the policy that a question is about.
func (k *Writer) asked(q gate.Question) (*file, error) {
	if len(q.Calls) != 1 {
		return nil, errSeveral
	}
	if q.Rule.Action != policy.Prompt {
		return nil, errLimit
	}
	if names := view.Unusual(&q.Calls[0]); len(names) > 0 {
		return nil, fmt.Errorf("beside its arguments the call carries %s, of which no rule can speak", list(words(names)))
	}
	if k.Denied == nil {
		return nil, errNoRecord
	}
	return k.load()
}

// find gives the rule of the file that asked, and what the file says of the call
// now; the rule is sought where the Writer's own writing has moved it.
func (k *Writer) find(q gate.Question, f *file) (policy.Rule, policy.Decision, error) {
	d := f.policy.Decide(&q.Calls[0])
	rule, followed := k.relocate(q.Rule, q.Revision, f.policy.Revision())
	if !followed || d.Action != policy.Prompt || d.Rule == nil || !same(*d.Rule, rule) {
		return policy.Rule{}, d, errChanged
	}
	return *d.Rule, d, nil
}

// same says that two policies hold the same rule in the same place; the file
// may be named in two ways.
func same(a, b policy.Rule) bool {
	a.Pos.File, b.Pos.File = "", ""
	return a == b
}

// comment tells the owner of the file where a rule comes from.
func (k *Writer) comment(c *policy.Call, s policy.Scope, r gate.Reply) string {
	now := time.Now
	if k.Now != nil {
		now = k.Now
	}
	text := fmt.Sprintf("# Written on %s after the answer %q (%s) to the rule below.\n", now().Format(time.DateOnly), r, s)
	if c.Subject == policy.ToolSubject || c.Subject == policy.PromptSubject {
		text += "# Arguments it does not name stay open.\n"
	}
	if c.Extra != nil {
		text += "# So does what comes beside the arguments: no rule can speak of it.\n"
	}
	return text
}

// location names a rule for the record.
func location(r *policy.Rule) string {
	return fmt.Sprintf("%s:%d", filepath.Base(r.Pos.File), r.Pos.Line)
}
