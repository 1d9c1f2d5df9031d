package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// Approval lists the people at a team's centre who may allow a call that a rule asks about. A
// person at the machine itself cannot allow it.
type Approval struct {
	Approvers []string // "role:NAME", "group:NAME" or "person:NAME"; at least one
	Votes     int      // how many different persons must allow it; 1 to MaxVotes
	NotSelf   bool     // the owner of the machine that asks does not count as an approver
}

// MaxVotes is the largest number of persons that a rule may require.
const MaxVotes = 10

// approverKinds are the words before the colon of an approver.
var approverKinds = []string{"role", "group", "person"}

// SplitApprover returns the parts of an approver, such as "role" and "oncall". ok is false for a
// text that names no approver.
func SplitApprover(text string) (kind, name string, ok bool) {
	kind, name, ok = strings.Cut(text, ":")
	ok = ok && slices.Contains(approverKinds, kind) && name != "" && len(name) <= 200 &&
		strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	return kind, name, ok
}

// IsEqual reports whether both Approvals ask the same persons in the same way. A nil Approval asks
// the person at the machine.
func (a *Approval) IsEqual(other *Approval) bool {
	if a == nil || other == nil {
		return a == other
	}
	return a.Votes == other.Votes && a.NotSelf == other.NotSelf && slices.Equal(a.sortApprovers(), other.sortApprovers())
}

// sortApprovers returns each approver once, in sorted order, so that equal requirements give equal
// lists.
func (a *Approval) sortApprovers() []string {
	who := slices.Clone(a.Approvers)
	slices.Sort(who)
	return slices.Compact(who)
}

// String returns the requirement in words, in the same words for equal requirements: "2 of
// role:oncall, person:ana@team.example, not its owner".
func (a *Approval) String() string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %s", a.Votes, listWords(a.sortApprovers()))
	if a.NotSelf {
		text += ", not its owner"
	}
	return text
}

// approval returns the approval of the current rule. It adds an approval with one vote if the rule
// has none yet.
func (p *parser) approval() *Approval {
	r := p.currentRule()
	if r.Approval == nil {
		r.Approval = &Approval{Votes: 1}
	}
	return r.Approval
}

// readApprovers reads approvers = ["role:oncall"].
func (p *parser) readApprovers(k ruleKey, e toml.Expression) {
	if !e.Value.IsList() {
		p.wrongType(label{key: k}, "a list of strings", e.Key, e.Value, `such as ["role:oncall"]`)
		return
	}
	a := p.approval()
	none := true
	e.Value.EachElement(func(v toml.Value) {
		none = false
		if !v.IsString() {
			p.wrongType(label{key: k}, "a list of strings", e.Key, v, "")
			return
		}
		if _, _, ok := SplitApprover(v.Text()); !ok {
			start, end, _ := v.Span() // no error: the position of a string is known
			p.fail(start, end, fmt.Sprintf("%q is no approver", v.Text()), `write "role:NAME", "group:NAME" or "person:NAME"`)
			return
		}
		a.Approvers = append(a.Approvers, v.Text())
	})
	if none {
		p.fail(e.Key[0].Start, e.Key[0].End, ruleKeys[k]+" is an empty list", "nobody could answer; write who may, or leave the key out")
	}
}

// readApprovals reads approvals = 2.
func (p *parser) readApprovals(k ruleKey, e toml.Expression) {
	var n int64
	if e.Value.IsNumber() {
		if got, err := e.Value.ParseNumber(); err == nil {
			n, _ = got.(int64)
		}
	}
	if n < 1 || n > MaxVotes {
		p.wrongType(label{key: k}, fmt.Sprintf("a whole number from 1 to %d", MaxVotes), e.Key, e.Value, "")
		return
	}
	p.approval().Votes = int(n)
}

// readNotSelf reads not_self = true.
func (p *parser) readNotSelf(k ruleKey, e toml.Expression) {
	p.approval().NotSelf = p.readBool(k, e)
}

// checkApprovers reports an error if a rule with approvers is not a prompt rule, or is about
// replies or lists. It makes a rule with approvers OutOfBand, because the client's own form cannot
// tell who answers.
func (p *parser) checkApprovers(r *ruleSource) {
	p.refuseUnasked(approversKey, r)
	if at := p.given[approversKey] - 1; at >= 0 && r.On != OnCall {
		name := ruleKeys[approversKey]
		p.fail(at, at+len(name), name+" in a rule about replies or lists", "a team's centre is asked about calls only")
	}
	if r.Approval != nil {
		r.OutOfBand = true
	}
}

// checkWithApprovers returns a check that reports the key k in a rule without approvers.
func checkWithApprovers(k ruleKey) func(p *parser, r *ruleSource) {
	return func(p *parser, _ *ruleSource) {
		if at := p.given[k] - 1; at >= 0 && p.given[approversKey] == 0 {
			name := ruleKeys[k]
			p.fail(at, at+len(name), name+" without approvers", `write who may answer, such as approvers = ["role:oncall"]`)
		}
	}
}

func (r *ruleSource) writeApproval(line func(key, toml string)) {
	a := r.Approval
	if a == nil {
		return
	}
	line(ruleKeys[approversKey], policytext.FormatList(policytext.QuoteAll(a.Approvers)))
	if a.Votes != 1 {
		line(ruleKeys[approvalsKey], strconv.Itoa(a.Votes))
	}
	if a.NotSelf {
		line(ruleKeys[notSelfKey], "true")
	}
}

// dropApproval removes the approval keys from the new rule, because an allow or a deny asks no one.
func (n *narrower) dropApproval() error {
	n.rule.Approval = nil
	return nil
}

// clashReason is the reason why a call is denied if two rules ask different approvers about it. A
// question has one list of approvers, and the approvers of one rule alone could not allow the call.
const clashReason = "two of the rules that ask want different approvers"

// clashes reports whether two rules both ask approvers, but different ones.
func (r *Rule) clashes(other *Rule) bool {
	return r != nil && other != nil && r.Approval != nil && other.Approval != nil && !r.Approval.IsEqual(other.Approval)
}

// mergeOutcome merges the outcome o into worst, the strictest outcome so far. The outcome o comes
// from another rule, reading or name. mergeOutcome reports whether worst has changed.
func (p *Policy) mergeOutcome(worst *outcome, o outcome) bool {
	switch {
	case o.rank < worst.rank:
		*worst = o
	case o.rank == asksApprovers && worst.rank == asksApprovers && p.sources[worst.rule].clashes(&p.sources[o.rule].Rule):
		*worst = outcome{rule: -1, reason: clashReason}
	default:
		return false
	}
	return true
}
