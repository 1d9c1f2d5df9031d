package prove

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Nearly all rules about replies look only at a name, a server and one kind of finding at a time
// (policy.DecideReply). So one text for each outcome of the globs is enough, and asking both policies
// about every combination decides the question. For each rule that looks at more, both policies are
// also asked about an example call in all combinations. Such examples are no proof.

// Reply is a reply that two policies treat differently.
type Reply struct {
	On policy.On
	// Call is the call that the reply answers, or the call that would name the list entry.
	// Call.Finds holds the findings in the reply. A Call without a subject stands for an unknown
	// call.
	Call     policy.Call
	Old, New policy.Decision // for the whole reply
}

// CompareReplies lists replies that two policies treat differently: one example for each pair of
// deciding rules. Both policies have judged each example. whole means that every difference has an
// example, so that an empty list proves that there is no difference.
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

// AlikeReplies reports whether the rules about replies, lists and uploads are the same.
func AlikeReplies(p, q *policy.Policy) bool {
	return p.AltersAlike(q, policy.OnReply) && p.AltersAlike(q, policy.OnList) && p.AltersAlike(q, policy.OnUpload)
}

func alikePacks(p, q *policy.Policy) bool {
	return slices.EqualFunc(p.Packs(), q.Packs(), func(a, b policy.Pack) bool { return bytes.Equal(a.Text(), b.Text()) })
}

// replies is the comparison of two policies' rules about replies.
type replies struct {
	before, after *policy.Policy
	on            policy.On
	subject       policy.Subject
	whole         bool
	found         []Reply
	told          map[string]bool
}

// compareRules tries all cases that the rules about r.subject distinguish. If r.subject is
// policy.NoSubject, the answered call is unknown, and rules has the rules about all subjects.
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
	texts := [][]*string{{nil}, append([]*string{new("")}, r.distinctTexts(servers, false)...)} // a server may have no name
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

// distinctTexts returns the nonempty texts that globs distinguish. For URIs, the result is not
// complete, because a URI has more readings.
func (r *replies) distinctTexts(globs []string, uri bool) (texts []*string) {
	all := listOutcomes(slices.Clone(globs), uri, uri)
	if all == nil {
		for _, g := range globs {
			all = append(all, new(strings.NewReplacer("**", "x/x", "*", "x", "?", "x").Replace(g)), new(strings.NewReplacer("*", "x/x", "?", "x").Replace(g)))
		}
		r.whole, all = false, append(all, new("x"))
	}
	r.whole = r.whole && (!uri || len(globs) == 0) // without globs, the other readings of a URI do not matter
	return slices.DeleteFunc(all, func(t *string) bool { return *t == "" })
}

// compareDecisions compares the decisions about a reply with one kind of finding, or without
// findings if kind is "". It records a difference only if the decisions about this reading alone
// differ, and if no example with the same rules and outcomes is recorded.
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

// singleOutcome returns what a policy does with a reply in one reading, and the indexes of the
// deciding rules, as text.
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

// DescribeOutcome returns a decision in words: the answer and the alterations.
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

// plainReply reports whether a rule looks only at the name, the server and the
// findings.
func plainReply(s *policy.Source) bool {
	known := func(c policy.Stated) bool {
		key, found := policy.CallKeyOf(c.Key)
		return found && (key.Proof == policy.ServerNames || key.Proof == policy.FoundKinds)
	}
	all := slices.Concat(s.Calls, s.Not.Calls)
	return len(s.Args)+len(s.Where)+len(s.Not.Args) == 0 && !s.Further.Only && !slices.ContainsFunc(all, func(c policy.Stated) bool { return !known(c) })
}

// exampleCall returns a call that meets a rule's conditions as far as examples
// are known.
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
