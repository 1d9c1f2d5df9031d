package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/clawai/clawai/policy"
)

// Condition is a condition on one argument: one of the globs must match its value.
type Condition struct {
	Arg   string
	Globs []string
}

// Rule is a proposed rule.
type Rule struct {
	Action     policy.Action
	Subject    policy.Subject
	Name       string // exact name; for a resource, a glob
	Server     string
	Conditions []Condition
	Absent     []string     // arguments that a call must not have
	Open       []string     // arguments of the recorded calls for which the rule has no condition
	Above      *policy.Rule // the rule of the extended policy that asks about the calls; nil if no rule matches them
	Class      ToolClass
	Tally      tally

	links bool        // the rule also checks where symbolic links lead
	asked bool        // a rule asked about some of the calls
	calls []*sighting // the recorded calls from which the rule is learned
}

// tool holds the recorded calls of one tool.
type tool struct {
	calls  []*sighting
	class  ToolClass
	places map[string]bool // names of the arguments that hold a path or an address
	names  map[string]bool // names of all arguments in the calls
}

func toolKey(c *policy.Call) string {
	if c.Subject == policy.ResourceSubject {
		return c.Server + "\x00" + c.Method[:0] + "\x00resource"
	}
	return c.Server + "\x00" + c.Method + "\x00" + c.Names[0]
}

// groupByTool groups the recorded calls by tool.
func (l *Learner) groupByTool() map[string]*tool {
	all := map[string]*tool{}
	for _, s := range l.order {
		t := all[toolKey(&s.call)]
		if t == nil {
			t = &tool{class: Reads, places: map[string]bool{}, names: map[string]bool{}}
			switch s.call.Subject {
			case policy.ToolSubject:
				t.class = ClassOf(s.call.Names[0])
			case policy.SamplingSubject, policy.ElicitationSubject:
				t.class = Executes
			}
			all[toolKey(&s.call)] = t
		}
		t.calls = append(t.calls, s)
		for i := range s.args {
			t.names[s.args[i].name] = true
			if s.args[i].isPlace() {
				t.places[s.args[i].name] = true
			}
		}
	}
	return all
}

// findPools returns the folders that rules may name, by poolKey: the tools of one server and one
// class share their folders. It uses only calls that no rule asked about or that a person approved.
// It uses no calls of tools that execute.
func (l *Learner) findPools(tools map[string]*tool) map[string][]folder {
	trees := map[string]map[string]*tree{}
	add := func(key, text string) {
		p, why := l.protected.parseLocation(text)
		if why != "" || p.glob != "" {
			return
		}
		if trees[key] == nil {
			trees[key] = map[string]*tree{}
		}
		if trees[key][p.root] == nil {
			trees[key][p.root] = &tree{}
		}
		trees[key][p.root].addPath(p.names)
	}
	for _, t := range tools {
		for _, s := range t.calls {
			if t.class == Executes || s.asked && s.tally.Approved == 0 {
				continue
			}
			if s.call.Subject == policy.ResourceSubject {
				add(poolKey(t, s), s.call.Names[0])
			}
			for i := range s.args {
				if t.places[s.args[i].name] {
					for _, text := range s.args[i].texts {
						add(poolKey(t, s), text)
					}
				}
			}
		}
	}
	found := map[string][]folder{}
	for key, roots := range trees {
		var fs []folder
		for _, root := range slices.Sorted(maps.Keys(roots)) {
			roots[root].findFolders(&l.protected, root, nil, &fs)
		}
		slices.SortStableFunc(fs, func(a, b folder) int { return cmp.Compare(len(b.names), len(a.names)) })
		found[key] = fs
	}
	return found
}

func poolKey(t *tool, s *sighting) string {
	return s.call.Server + "\x00" + s.call.Subject.RuleKey() + "\x00" + t.class.String()
}

// maxRules is the maximum number of proposed rules. The rules with the most calls are kept.
const maxRules = 200

// Propose returns the proposed rules in the order of Compose. In Skipped it counts the calls from
// which no rule is learned.
func (l *Learner) Propose() []*Rule {
	l.byTool = l.groupByTool()
	tools := l.byTool
	pools := l.findPools(tools)
	found := map[string]*Rule{}
	for _, key := range slices.Sorted(maps.Keys(tools)) {
		t := tools[key]
		for _, s := range t.calls {
			r, why := l.shapeRule(t, s, pools[poolKey(t, s)])
			if why != "" {
				l.Skipped[why] += s.tally.Calls
				continue
			}
			id := r.ruleKey()
			if found[id] == nil {
				found[id] = r
			}
			found[id].addSighting(s)
		}
	}
	var rules []*Rule
	for _, id := range slices.Sorted(maps.Keys(found)) {
		r := found[id]
		if why := l.decideAction(r); why != "" {
			l.Skipped[why] += r.Tally.Calls
			continue
		}
		rules = append(rules, r)
	}
	if rules = l.joinRules(rules); len(rules) > maxRules {
		slices.SortStableFunc(rules, func(a, b *Rule) int { return cmp.Compare(b.Tally.Calls, a.Tally.Calls) })
		for _, r := range rules[maxRules:] {
			l.Skipped["more rules than a person reads"] += r.Tally.Calls
		}
		rules = rules[:maxRules]
	}
	slices.SortStableFunc(rules, l.compareRules)
	return l.orderRules(l.verifyTogether(l.verifyRules(rules)))
}

func (r *Rule) addSighting(s *sighting) {
	r.calls = append(r.calls, s)
	r.asked = r.asked || s.asked
	r.Tally.mergeTally(&s.tally)
	named := map[string]bool{}
	for _, c := range r.Conditions {
		named[c.Arg] = true
	}
	for _, m := range s.args {
		if !named[m.name] && !slices.Contains(r.Open, m.name) {
			r.Open = append(r.Open, m.name)
		}
	}
}

// ruleKey returns a text that is equal for rules with the same conditions.
func (r *Rule) ruleKey() string {
	above := -1
	if r.Above != nil {
		above = r.Above.Index
	}
	return fmt.Sprintf("%q %d %q %d %q %q", r.Server, r.Subject, r.Name, above, r.Conditions, r.Absent)
}

const whyRefused = "a person said no to too many of such calls"

// decideAction sets the action of a rule. It returns a reason if the rule must be dropped,
// otherwise "". It counts the answers to all calls that the rule would match, even if another rule
// was learned from such a call.
func (l *Learner) decideAction(r *Rule) string {
	if why := l.decideByOwn(r); why != "" || r.Action != policy.Allow {
		return why
	}
	var all tally
	asked := false
	key := policy.Call{Subject: r.Subject, Server: r.Server, Method: r.calls[0].call.Method, Names: []string{r.Name}}
	for _, s := range l.byTool[toolKey(&key)].calls {
		if r.matchesSighting(s) {
			all.mergeTally(&s.tally)
			asked = asked || s.asked
		}
	}
	switch {
	case all.approvedShare() < l.o.MinShare:
		return whyRefused
	case asked && !isEnough(r.Tally.Approved, l.o.MinCount):
		r.Action = policy.Prompt // a rule asked about such calls, so only enough answers of a person can make this rule allow
	}
	return ""
}

// decideByOwn does the work of decideAction, but counts only the calls from which the rule is
// learned.
func (l *Learner) decideByOwn(r *Rule) string {
	t, n := &r.Tally, l.o.MinCount
	question := r.Subject == policy.SamplingSubject || r.Subject == policy.ElicitationSubject
	const seldom = "seen too seldom, or too long ago"
	switch {
	case t.approvedShare() < l.o.MinShare:
		return whyRefused
	case question:
		r.Action = policy.Prompt
		if !isEnough(t.Approved+t.Passed+t.Observed, n) {
			return seldom
		}
		return ""
	case isEnough(t.Approved, n) || !r.asked && isEnough(t.Approved+t.Passed, n):
		r.Action = policy.Allow
	case r.asked && l.judge != nil:
		return "asked about, and answered too seldom"
	case r.asked:
		r.Action = policy.Prompt
		if t.Calls < n {
			return seldom
		}
	case !isEnough(t.Approved+t.Passed+t.Observed, n):
		return seldom
	default:
		r.Action = l.actionFor(r.Class)
	}
	if r.Action == policy.Allow && r.Class != Reads && len(r.Conditions) == 0 && len(r.Open) > 0 && r.Subject == policy.ToolSubject {
		return l.whyUnvaried(r)
	}
	return ""
}

// actionFor returns the action of a rule that is learned only from observed calls. c is the class
// of its tool.
func (l *Learner) actionFor(c ToolClass) policy.Action {
	if c == Reads && l.o.Observed >= AllowReads || c == Acts && l.o.Observed >= AllowActs {
		return policy.Allow
	}
	return policy.Prompt
}

// whyUnvaried returns the reason to drop a rule that has no conditions and whose tool does more
// than read; otherwise "". Enough different calls, or Options.Observed, can keep such a rule.
// Repetitions of one call cannot keep it, because they show nothing about calls with other
// arguments.
func (l *Learner) whyUnvaried(r *Rule) string {
	if len(r.calls) < l.o.MinCount && l.o.Observed < AllowActs {
		return "always the same call of a tool that changes things, without an argument for a condition"
	}
	return ""
}
