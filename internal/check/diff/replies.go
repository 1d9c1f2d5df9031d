package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// Replies tells how two policies differ in their treatment of replies.
type Replies struct {
	Same    bool // the rules about replies are equal
	Changes []ReplyChange
	// Whole means that Changes has an example of every difference. Otherwise Changes only has the
	// examples that were found.
	Whole bool
}

// ReplyChange is an example of a reply that the policies treat differently. Old and New are the two
// decisions.
type ReplyChange struct {
	prove.Reply
	Fixture []byte // the example as a fixture that expects the new answer; nil if no fixture can show it
}

func compareReplies(before, after *policy.Policy) *Replies {
	about := func(p *policy.Policy) bool {
		return p.PolicyFor(policy.OnReply) != nil || p.PolicyFor(policy.OnList) != nil || p.PolicyFor(policy.OnUpload) != nil
	}
	if !about(before) && !about(after) {
		return nil
	}
	r := &Replies{Same: prove.AlikeReplies(before, after)}
	var found []prove.Reply
	found, r.Whole = prove.CompareReplies(before, after)
	for _, x := range found {
		c := ReplyChange{Reply: x}
		if fx, err := check.ComposeReply(x.On, &x.Call, check.StrictestAction(&x.New)); err == nil {
			c.Fixture = fx.Text
		}
		r.Changes = append(r.Changes, c)
	}
	slices.SortStableFunc(r.Changes, func(a, b ReplyChange) int { return cmp.Compare(a.openingRank(), b.openingRank()) })
	return r
}

// openingRank sorts changes: a change that permits more has a lower rank.
func (c *ReplyChange) openingRank() int {
	return int(check.StrictestAction(&c.Old)) - int(check.StrictestAction(&c.New))
}

// describeReply returns the reply on one line.
func (c *ReplyChange) describeReply() string {
	call := c.Call
	call.Finds = nil
	s := "answer to "
	switch {
	case c.On == policy.OnList:
		s = "in a list, what is called by "
	case c.On == policy.OnUpload && call.Subject == policy.NoSubject:
		s = "what goes to a model and cannot be read"
	case c.On == policy.OnUpload:
		s = "what goes to a model, of "
	case call.Subject == policy.NoSubject:
		s = "answer to a call that is not known"
	}
	s += oneLine(&call)
	if len(c.Call.Finds) > 0 {
		s += ", found " + strings.Join(c.Call.Finds, ", ")
	}
	return s
}

// describeOutcome tells what a decision does to a reply, and names the rule.
func describeOutcome(d *policy.Decision) string {
	return formatWithRule(prove.DescribeOutcome(d), ruleOf(d))
}

// ruleOf returns the rule that decides; if there is none, the first rule that alters the reply.
func ruleOf(d *policy.Decision) *check.RuleRef {
	if d.Rule == nil && len(d.Alters) > 0 {
		return check.RefOf(d.Alters[0].Rule)
	}
	return check.RefOf(d.Rule)
}

// Summary returns the result of the comparison as a part of a sentence.
func (r *Replies) Summary() string {
	n := len(r.Changes)
	s := fmt.Sprintf("of what comes back, %d kinds of answers or entries become something else", n)
	switch {
	case r.Same && r.Whole:
		return "the rules about replies are the same"
	case n == 0 && r.Whole:
		return "the rules about replies have the same effect"
	case n == 0:
		s = "for replies, no example was found that is answered differently; this is not a proof"
	case n == 1:
		s = "of what comes back, 1 kind of answers or entries becomes something else"
	}
	if n > 0 && !r.Whole {
		s += "; others may, for these are the examples that were found"
	}
	return s
}

// ReplyDocument is the comparison as JSON, for programs.
type ReplyDocument struct {
	Same    bool                  `json:"same"`
	Proved  bool                  `json:"proved"` // Changes has all differences
	Changes []ReplyChangeDocument `json:"changes"`
}

// ReplyChangeDocument is one example of a reply that the policies treat differently.
type ReplyChangeDocument struct {
	On      string              `json:"on"`
	Finds   []string            `json:"finds,omitempty"`
	Old     ReplyAnswerDocument `json:"old"`
	New     ReplyAnswerDocument `json:"new"`
	Example string              `json:"example"`
	Fixture json.RawMessage     `json:"fixture,omitempty"`
}

// ReplyAnswerDocument tells what one policy does to a reply.
type ReplyAnswerDocument struct {
	Done string         `json:"done"` // in the words of the report for people
	Rule *check.RuleRef `json:"rule"` // null if no rule decided
}

func (r *Replies) replyDocument() *ReplyDocument {
	if r == nil {
		return nil
	}
	d := &ReplyDocument{Same: r.Same, Proved: r.Whole, Changes: []ReplyChangeDocument{}}
	for i := range r.Changes {
		c := &r.Changes[i]
		d.Changes = append(d.Changes, ReplyChangeDocument{
			On: c.On.String(), Finds: c.Call.Finds, Example: c.describeReply(), Fixture: c.Fixture,
			Old: ReplyAnswerDocument{prove.DescribeOutcome(&c.Old), ruleOf(&c.Old)}, New: ReplyAnswerDocument{prove.DescribeOutcome(&c.New), ruleOf(&c.New)},
		})
	}
	return d
}
