package prove

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Nearly all rules about replies look only at a name, a server, and one kind of finding at a time
// (policy.DecideReply). So it is enough to take one text for each outcome of the globs, and to let
// both policies judge every combination. For each rule that looks at more, both policies also judge
// an example call in all combinations. Such examples are no proof.

// Reply is a reply that two policies treat differently.
type Reply struct {
	On policy.On
	// Call is the call to which the reply belongs; for a list entry, the call that would have its
	// name. Call.Finds are the findings in the reply. If Call has no subject, the call is unknown.
	Call     policy.Call
	Old, New policy.Decision // the decisions of the two policies about the whole reply
}

// CompareReplies returns replies that two policies treat differently, one example for each pair of
// rules that decide. Both policies have judged each example. The result whole means that every
// difference has an example; an empty list then proves that there is no difference.
func CompareReplies(before, after *policy.Policy) (found []Reply, whole bool) {
	layers := len(before.Layers()) + len(after.Layers())
	if AlikeReplies(before, after) && layers == 0 {
		return nil, true
	}
	r := replies{before: before, after: after, told: map[string]bool{}}
	r.whole = layers == 0 && alikePacks(before, after)
	for r.on = policy.OnReply; r.on < policy.OnCount; r.on++ {
		var rules []policy.Source
		for _, p := range []*policy.Policy{before, after} {
			rules = append(rules, slices.DeleteFunc(p.Sources(), func(s policy.Source) bool { return s.On != r.on })...)
		}
		if len(rules) == 0 {
			continue
		}
		for _, s := range []policy.Subject{policy.ToolSubject, policy.ResourceSubject, policy.PromptSubject, policy.MethodSubject, policy.NoSubject} {
			r.subject = s
			if s != policy.NoSubject {
				r.compareRules(slices.DeleteFunc(slices.Clone(rules), func(x policy.Source) bool { return x.About != s && !x.CoversAllSubjects() }))
			} else if r.on != policy.OnList {
				r.compareRules(rules)
			}
		}
	}
	return r.found, r.whole
}

// AlikeReplies reports whether two policies have the same rules about replies, lists and uploads.
func AlikeReplies(p, q *policy.Policy) bool {
	return p.AltersAlike(q, policy.OnReply) && p.AltersAlike(q, policy.OnList) && p.AltersAlike(q, policy.OnUpload)
}

func alikePacks(p, q *policy.Policy) bool {
	return slices.EqualFunc(p.Packs(), q.Packs(), func(a, b policy.Pack) bool { return bytes.Equal(a.Text(), b.Text()) })
}

// replies compares the rules of two policies about replies.
type replies struct {
	before, after *policy.Policy
	on            policy.On
	subject       policy.Subject
	whole         bool
	found         []Reply
	told          map[string]bool
}

// compareRules tries all cases that the rules about r.subject distinguish. If r.subject is
// policy.NoSubject, the call is unknown, and rules holds the rules about all subjects.
func (r *replies) compareRules(rules []policy.Source) {
	if len(rules) == 0 {
		return
	}
	var names, servers []string
	kinds, calls := []string{""}, []policy.Call{{}}
	for i := range rules {
		s := &rules[i]
		names, servers = slices.Concat(names, s.Names, s.Not.Names), slices.Concat(servers, s.Servers)
		for _, c := range s.Not.Calls {
			servers = append(servers, c.Globs...)
		}
		for _, kind := range s.Finds {
			if kind == "*" {
				kinds = append(kinds, r.before.KindsOn(r.on)...)
			} else {
				kinds = append(kinds, kind)
			}
		}
		if !plainReply(s) {
			r.whole = false
			calls = append(calls, exampleCall(s))
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	texts := [][]*string{{nil}, append([]*string{new("")}, r.distinctTexts(servers, false)...)} // also a server without a name
	if r.subject != policy.NoSubject {
		texts[0] = r.distinctTexts(names, r.subject == policy.ResourceSubject)
	}
	if len(texts[0]) == 0 { // the rules do not distinguish names
		texts[0] = []*string{new("x")}
	}
	if len(texts[0])*len(texts[1])*len(kinds)*len(calls) > maxCells {
		r.whole, calls = false, calls[:1]
		for i := range texts {
			texts[i] = texts[i][:min(len(texts[i]), 64)]
		}
	}
	for _, base := range calls {
		visitCombinations([]cell{{texts: texts[0]}, {texts: texts[1]}}, func(at []*string) {
			c := base
			c.Subject, c.Server, c.Method = r.subject, *at[1], methods[r.subject]
			if at[0] != nil {
				c.Names = []string{*at[0]}
			}
			if r.subject == policy.MethodSubject {
				c.Method = *at[0]
			}
			for _, kind := range kinds {
				r.compareDecisions(c, kind)
			}
		})
	}
}

// distinctTexts returns texts, none of them empty, that the globs distinguish. For URIs some may be
// missing, because URIs have more readings.
func (r *replies) distinctTexts(globs []string, uri bool) (texts []*string) {
	all := listOutcomes(slices.Clone(globs), uri, uri)
	if all == nil {
		for _, g := range globs {
			all = append(all, new(strings.NewReplacer("**", "x/x", "*", "x", "?", "x").Replace(g)), new(strings.NewReplacer("*", "x/x", "?", "x").Replace(g)))
		}
		r.whole, all = false, append(all, new("x"))
	}
	r.whole = r.whole && (!uri || len(globs) == 0) // if there are no globs, other readings of a URI do not matter
	return slices.DeleteFunc(all, func(t *string) bool { return *t == "" })
}

// compareDecisions compares the decisions about a reply with one kind of finding, or without
// findings if kind is "". It records a difference if the decisions about this reading differ, and
// if no example with the same rules and outcomes is recorded yet.
func (r *replies) compareDecisions(c policy.Call, kind string) {
	var kinds []string
	if kind != "" {
		kinds = []string{kind}
	}
	old, now := r.before.DecideReply(r.on, []policy.Call{c}, kinds), r.after.DecideReply(r.on, []policy.Call{c}, kinds)
	if DescribeOutcome(&old) == DescribeOutcome(&now) {
		return
	}
	c.Screened, c.Finds = true, kinds
	was, wasBy := singleOutcome(r.before.PolicyFor(r.on), &c)
	is, isBy := singleOutcome(r.after.PolicyFor(r.on), &c)
	key := strings.Join([]string{r.on.String(), r.subject.RuleKey(), was, wasBy, is, isBy}, "\x00")
	if was == is || r.told[key] {
		return
	}
	r.told[key] = true
	r.found = append(r.found, Reply{r.on, c, old, now})
}

// singleOutcome returns, as texts, what a policy does with a reply in one reading, and the indexes
// of the rules that decide.
func singleOutcome(p *policy.Policy, c *policy.Call) (done, by string) {
	if p == nil {
		return policy.Allow.String(), ""
	}
	d := p.Decide(c)
	rules := []*policy.Rule{d.Rule}
	for _, a := range d.Alters {
		rules = append(rules, a.Rule)
	}
	for _, r := range rules {
		if r != nil {
			by += " " + strconv.Itoa(r.Index)
		}
	}
	return DescribeOutcome(&d), by
}

// DescribeOutcome returns a decision in words: the action and the alterations.
func DescribeOutcome(d *policy.Decision) string {
	var words []string
	for _, a := range d.Alters {
		word := a.Rule.Action.String()
		if a.Kind != "" {
			word += " " + a.Kind
		}
		words = append(words, word)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	switch {
	case d.Action == policy.Prompt && d.Rule != nil && d.Rule.OutOfBand:
		words = slices.Insert(words, 0, "prompt (out of band)")
	case d.Action != policy.Allow || len(words) == 0:
		words = slices.Insert(words, 0, d.Action.String())
	}
	return strings.Join(words, ", ")
}

// plainReply reports whether a rule looks only at the name, the server and the findings.
func plainReply(s *policy.Source) bool {
	known := func(c policy.Stated) bool {
		key, found := policy.CallKeyOf(c.Key)
		return found && (key.Proof == policy.ServerNames || key.Proof == policy.FoundKinds)
	}
	all := slices.Concat(s.Calls, s.Not.Calls)
	return len(s.Args)+len(s.Where)+len(s.Not.Args) == 0 && !s.Further.Only && !slices.ContainsFunc(all, func(c policy.Stated) bool { return !known(c) })
}

// exampleCall returns a call that meets the conditions of a rule, as far as examples are known.
func exampleCall(s *policy.Source) (c policy.Call) {
	var args []value
	for _, a := range s.Args {
		args = append(args, value{a.Path, unstarGlob(a.Globs[0])})
	}
	for _, w := range s.Where {
		if some := exampleValues(w.Key, w.Text); len(some) > 0 {
			args = append(args, value{w.Path, some[0]})
		}
	}
	if len(args) > 0 {
		c.Args = encodeArguments(args)
	}
	for _, t := range s.Calls {
		t.MeetCondition(&c)
	}
	return c
}
