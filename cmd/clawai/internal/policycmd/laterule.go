package policycmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// LateRule is a possible rule about a recorded call, with the texts that the person must see first.
// All texts are safe for a terminal.
type LateRule struct {
	Then    string       // the decision about the call, and the rule that decided
	Dangers []string     // the dangers of the call, as a question would name them
	Unkept  []string     // the parts of the call that are not in the record
	Offers  []view.Offer // the scopes that the rule can have

	edit  *policyEdit
	late  *remember.Late
	plans map[int]*remember.Plan // by the index in Offers
}

// OpenRecord prepares a rule for the owner's policy. The rule would allow a recorded call.
func OpenRecord(entry *event.Entry) (*LateRule, error) {
	e, err := readPolicyEdit("", entry.Cwd)
	if err != nil {
		return nil, err
	}
	return e.planRecord(entry, policy.Allow)
}

// planRecord prepares a rule about a recorded call. After an error, the field Then of the returned
// rule may still be set, because the earlier decision may be known.
func (e *policyEdit) planRecord(entry *event.Entry, action policy.Action) (*LateRule, error) {
	shown := term.VisibleText(entry.Record)
	call, why := replay.RebuildCall(entry)
	if why != "" {
		return nil, fmt.Errorf("no rule can be made of record %s: %s", shown, why)
	}
	part, missing, ok := call.KnownPart()
	if !ok {
		return nil, fmt.Errorf("no rule can be made of record %s: the record does not keep what the call names", shown)
	}
	part.Extra, part.At = entry.Extra, time.Time{}
	l := &LateRule{edit: e, Then: "record " + shown + " of " + entry.Time.Local().Format(time.DateTime) + ": " + entry.Policy}
	if entry.RuleLine > 0 {
		l.Then += fmt.Sprintf(", by %s", renderRule(entry.RuleFile, entry.RuleLine, entry.RuleText))
	}
	l.Dangers = e.listDangers(entry, part)
	if len(missing) > 0 {
		l.Unkept = append(l.Unkept, fmt.Sprintf("The record does not keep the value of %s, so clawai cannot know whether a rule above looks at it:", cmdline.JoinNames(missing)),
			"the call may be refused or asked about all the same.")
	}
	if call.IsCut() {
		l.Unkept = append(l.Unkept, "The record does not keep all arguments: further ones are not known.")
	}
	if err := e.checkUnrecorded(entry, &call); err != nil {
		return l, err
	}
	l.late = &remember.Late{
		Call: part, Part: len(missing) > 0 || call.IsCut(), Action: action,
		By: "clawai policy " + action.String() + " --from " + entry.Record,
	}
	var err error
	if l.Offers, err = e.writer.LateOffers(l.late); err != nil {
		return l, fmt.Errorf("no rule was written: %w", err)
	}
	return l, nil
}

// tell prints the texts of the rule for the person.
func (l *LateRule) tell(e *policyEdit) {
	e.say("%s", l.Then)
	for _, danger := range l.Dangers {
		e.say("careful    %s", danger)
	}
	for _, line := range l.Unkept {
		e.say("%s", line)
	}
}

// listDangers returns the dangers of the call, as a question would name them.
func (e *policyEdit) listDangers(entry *event.Entry, call policy.Call) []string {
	o := e.writer.View
	o.ReadFile, o.Unseen, o.Project = nil, true, entry.Cwd
	v, err := view.NewQuestion([]policy.Call{call}, o)
	if err != nil {
		return nil
	}
	return v.Dangers
}

func (l *LateRule) plan(ctx context.Context, scope string) (*remember.Plan, error) {
	plan, err := l.edit.writer.PlanLate(ctx, l.late, scope)
	if err != nil {
		return nil, fmt.Errorf("no rule was written: %w", err)
	}
	return plan, nil
}

// Preview returns lines about the rule of one offer: the rule and its effects. offer is an index in
// Offers.
func (l *LateRule) Preview(ctx context.Context, offer int) ([]string, error) {
	plan, err := l.plan(ctx, l.Offers[offer].Scope)
	if err != nil {
		return nil, err
	}
	if l.plans == nil {
		l.plans = map[int]*remember.Plan{}
	}
	l.plans[offer] = plan
	return l.describePlan(plan), nil
}

// Write writes the rule that Preview has shown for an offer. It writes nothing if the policy has
// changed since then.
func (l *LateRule) Write(ctx context.Context, offer int) error {
	plan := l.plans[offer]
	if plan == nil {
		return errors.New("nothing was written: nobody has seen the rule")
	}
	return l.edit.applyPlan(ctx, plan)
}

// describePlan returns lines about a plan: its rules, their place in the policy, the changed
// decisions, and the calls that stay refused.
func (l *LateRule) describePlan(plan *remember.Plan) []string {
	lines := []string{"", fmt.Sprintf("This goes into %s, at line %d:", term.VisibleText(l.edit.file), plan.Line), ""}
	for line := range strings.Lines(plan.Text) {
		lines = append(lines, "  "+term.VisibleText(strings.TrimRight(line, "\n")))
	}
	lines = append(lines, "", map[policy.Action]string{policy.Allow: "It opens", policy.Deny: "It closes"}[l.late.Action])
	for i := range plan.Opened {
		s := &plan.Opened[i]
		lines = append(lines, "  "+s.Text, "    was "+describeDecision(&s.Old), "    is  "+describeDecision(&s.New))
	}
	if len(plan.Kept) > 0 {
		lines = append(lines, "It stays refused")
	}
	for i := range plan.Kept {
		lines = append(lines, "  "+plan.Kept[i].Text, "    by  "+describeDecision(&plan.Kept[i].New))
	}
	return append(lines, "Of all calls: "+diff.ComparePolicies(plan.Old, plan.New).Summary(), "")
}
