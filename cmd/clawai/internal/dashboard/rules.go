package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/policy"
)

// usedRule is a rule with the calls that it decided.
type usedRule struct {
	overview.Rule
	overview.Used
	action string // action of the rule; "" if the policy no longer has the rule
	what   string // subject, names and servers of the rule
}

// renderRules returns the view of the rules. It shows which rules have decided calls and which have
// not.
func (v *Views) renderRules(_ context.Context, f *filter) (*web.Element, error) {
	s := v.model.Sum(f.wanted())
	rules, fault := v.model.LoadPolicy()
	used, never, gone, replies := splitRules(rules, s.Rules)
	body := newNode("div", "view", v.newPolicyFault(), newNode("div", "bar", newNode("h2", "", "Rules"), newPeriods(f, "/rules")), f.newFilterLine("/rules", "server", "tool"), v.newProgress(&s))
	highest := 1
	for _, r := range slices.Concat(used, gone) {
		highest = max(highest, r.Total())
	}
	if len(used) == 0 && fault == "" {
		body.Add(newNode("p", "empty", "No rule of the policy decided a call in this time."))
	} else if len(used) > 0 {
		body.Add(newNode("section", "panel", newNode("h2", "", "Used"), v.newRuleList(used, highest)))
	}
	if len(never) > 0 {
		text := countText(len(never), "1 rule of the policy decided no call in this time.", "rules of the policy decided no call in this time.")
		body.Add(newNode("section", "panel", newNode("h2", "", "Never used"), newNode("p", "quiet", text), v.newRuleList(never, highest)))
	}
	if len(gone) > 0 {
		title, what := "Not of the policy as it is now", "What decided without a rule, and rules that were changed or removed since."
		if fault != "" {
			title, what = "What decided", "Which of these the policy still has is not known."
		}
		body.Add(newNode("section", "panel", newNode("h2", "", title), newNode("p", "quiet", what), v.newRuleList(gone, highest)))
	}
	if replies > 0 {
		body.Add(newNode("p", "quiet", countText(replies, "1 rule about replies and lists is not counted here.", "rules about replies and lists are not counted here.")))
	}
	return body, nil
}

// splitRules sorts the rules into three lists:
//   - used: rules of the policy that decided calls
//   - never: rules of the policy that decided no call
//   - gone: rules that decided calls but are no longer in the policy
//
// replies is the number of rules that cannot decide calls.
func splitRules(p *policy.Policy, counted map[overview.Rule]overview.Used) (used, never, gone []usedRule, replies int) {
	known := map[overview.Rule]bool{}
	if p != nil {
		sources := p.Sources()
		for i := range sources {
			s := &sources[i]
			if s.Subject == policy.NoSubject {
				replies++
				continue
			}
			r := usedRule{Rule: overview.NewRule(s.Pos.File, s.Pos.Line, s.Description), action: s.Action.String(), what: sourceText(s)}
			r.Used = counted[r.Rule]
			known[r.Rule] = true
			if r.Total() > 0 {
				used = append(used, r)
			} else {
				never = append(never, r)
			}
		}
	}
	for rule, n := range counted {
		if !known[rule] {
			gone = append(gone, usedRule{Rule: rule, Used: n})
		}
	}
	most := func(a, b usedRule) int { return cmp.Or(b.Total()-a.Total(), cmp.Compare(a.Place(), b.Place())) }
	slices.SortStableFunc(used, most)
	slices.SortStableFunc(gone, most)
	return used, never, gone, replies
}

// sourceText returns the subject, the names and the servers of a rule as a text.
func sourceText(s *policy.Source) string {
	text := s.Subject.RuleKey() + " " + strings.Join(s.Names, ", ")
	if len(s.Servers) > 0 {
		text += " of " + strings.Join(s.Servers, ", ")
	}
	return text
}

// mostRules is the maximum number of rules in a list.
const mostRules = 100

func (v *Views) newRuleList(rules []usedRule, highest int) *web.Element {
	list := newNode("ol", "rules")
	for _, r := range rules[:min(len(rules), mostRules)] {
		place := cmdline.ShortenHome(r.Place(), v.home)
		if r.Line == 0 {
			place = "no rule: the policy's default, a limit, or a message that is refused whatever the rules say"
		}
		row := newNode("li", "", newNode("span", "name", newNode("strong", "", cmp.Or(r.Text, r.what, place))))
		detail := newNode("span", "quiet")
		if r.action != "" {
			detail.Add(r.action + " " + r.what + " · ")
		}
		row.Add(detail.Add(newNode("code", "", place)))
		if r.Total() > 0 {
			row.Add(newBar(r.Counts, highest), newNode("span", "tally", newLink(page.Address("/calls", "rule", r.Place()), countText(r.Total(), "1 call", "calls")), " ", newCounts(r.Counts, false), newNode("span", "quiet", " last ", newTime(r.Last, v.now()))))
		}
		list.Add(row)
	}
	if more := len(rules) - mostRules; more > 0 {
		list.Add(newNode("li", "quiet", fmt.Sprintf("and %d more", more)))
	}
	return list
}
