package replay

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
)

// Reply is a recorded reply to a call, or one entry of a recorded list.
type Reply struct {
	on       policy.On
	entry    *event.Entry
	answered *event.Entry // the record of the call; nil for a list entry, and if unknown
	call     Call         // the call; for a list entry, the call that would have its name
	why      Why          // why the rules cannot judge the reply; "" if they can
	found    []string     // kinds of findings in the reply or the list entry
	stray    []string     // kinds of findings in the list, if the record does not tell in which entries they are

	// Was is the recorded action. words are the recorded alterations.
	Was    policy.Action
	words  []string
	failed bool // the reply was withheld, because a required alteration was impossible
}

// Replies finds the replies in a sequence of records.
type Replies struct {
	young, old map[string]*event.Entry // records of calls that have no reply yet, by record id
	bytes      int                     // bytes of the lines in young
}

// Limits of the map young. When a limit is reached, the calls in the map old are dropped, and the
// calls in young move to old.
const (
	maxWaiting      = 1 << 11
	maxWaitingBytes = 8 << 20
)

// TakeReplies returns the replies in a record: the entries of a list, or one reply. It returns nil
// for a message that is no reply, and if no rule took part in the decision.
func (rs *Replies) TakeReplies(e *event.Entry) []Reply {
	switch {
	case e.Ref == "":
		rs.keepCall(e)
		return nil
	case e.Kind != event.Outcome && e.Kind != event.Listed && e.Kind != event.Decision, e.Server == "" && e.ServerGuess == "hub":
		return nil // rules do not judge the hub's own messages
	}
	r := Reply{on: policy.OnReply, entry: e, answered: rs.takeCall(e.Ref), found: findsOf(e)}
	if !r.readOutcome() || r.answered != nil && r.answered.Method == builtin.Method { // rules do not see the replies of an agent's own tools
		return nil
	}
	if len(e.Declared) > 0 {
		return r.listEntries()
	}
	r.words = slices.DeleteFunc(r.words, func(word string) bool { return !isOfRule(word) })
	r.rebuildCall()
	return []Reply{r}
}

// keepCall keeps the record of a call until its reply comes.
func (rs *Replies) keepCall(e *event.Entry) {
	if e.Kind != event.Passed && (e.Kind != event.Decision || e.Decision != "allow") {
		return
	}
	if rs.young == nil || len(rs.young) == maxWaiting || rs.bytes > maxWaitingBytes {
		rs.old, rs.young, rs.bytes = rs.young, map[string]*event.Entry{}, 0
	}
	call := *e
	call.Raw = nil
	rs.young[e.Record], rs.bytes = &call, rs.bytes+len(e.Raw)
}

func (rs *Replies) takeCall(ref string) *event.Entry {
	for _, waiting := range []map[string]*event.Entry{rs.young, rs.old} {
		if e := waiting[ref]; e != nil {
			delete(waiting, ref)
			return e
		}
	}
	return nil
}

// readOutcome reads what was done to the reply. It returns false if no rule about replies decided.
func (r *Reply) readOutcome() bool {
	e := r.entry
	if e.Code == gate.CodeReleased { // a person has released the reply
		return false
	}
	r.Was, r.words = policy.Allow, slices.Sorted(slices.Values(e.Altered))
	switch {
	case e.Kind != event.Decision:
	case e.Policy != "": // this is a decision about calls inside the reply
		return false
	case e.Stage == "ask":
		r.Was = policy.Prompt
	case e.Stage == "reply":
		r.Was, r.words = policy.Deny, nil
		r.failed = e.Reason != "" && !strings.HasPrefix(e.Reason, "read as ")
	default:
		return false
	}
	return true
}

// isOfRule reports whether a recorded alteration was made because of a rule. It returns false for
// an alteration for a pin, and for the removal of members that only clawai may write.
func isOfRule(word string) bool {
	action, _, _ := strings.Cut(word, " ")
	return action == policy.Redact.String() || action == policy.Fence.String() || action == policy.Warn.String()
}

// isAltered reports whether the reply was altered or stopped.
func (r *Reply) isAltered() bool { return r.Was != policy.Allow || len(r.words) > 0 }

// rebuildCall sets call, the call of the reply.
func (r *Reply) rebuildCall() {
	e := r.answered
	switch {
	case r.entry.Method == "batch":
		r.why = Several
	case e == nil:
		r.why = NoCall
	case e.Kind == event.Decision:
		r.call, r.why = RebuildCall(e)
	case strings.HasPrefix(e.Method, "tasks/"):
		r.why = Unrecorded // the record does not have the call that started the task
	default:
		r.call.Call = policy.Call{Server: e.Server, Method: e.Method, Subject: policy.MethodSubject, Names: []string{e.Method}}
	}
	r.prepareCall()
}

// prepareCall prepares the call for rules about replies. These rules use the time of the reply, and
// the findings in the reply instead of those in the call.
func (r *Reply) prepareCall() { r.call.At, r.call.empty = r.entry.Time, true }

// listEntries returns the entries of a list, each with its findings and what was done to it.
func (r *Reply) listEntries() (all []Reply) {
	e := r.entry
	places := findsAt(e)
	for n, name := range e.Declared {
		one := *r
		one.on, one.answered, one.found = policy.OnList, nil, places[strconv.Itoa(n)]
		if places == nil {
			one.stray = r.found
		}
		one.call.Call = check.OfferedCall(e.Method, name)
		one.call.Server = e.Server
		one.why = markOf(name)
		one.prepareCall()
		if r.Was != policy.Deny {
			one.readEntryOutcome(name)
		}
		all = append(all, one)
	}
	return all
}

// readEntryOutcome reads what was done to one list entry from the alterations of the list.
func (r *Reply) readEntryOutcome(name string) {
	alterations := r.words
	r.words = nil
	for _, word := range alterations {
		switch {
		case word == "leave out "+name:
			r.Was = policy.Deny
		case word == "redact "+name:
			r.words = []string{"redact"}
		case word == "keep "+name+" as approved", strings.HasPrefix(word, "leave out "+name+" ("):
			r.why = Pinned
		case markOf(word) != "":
			r.why = markOf(word)
		}
	}
}

// findsAt returns the kinds of findings by the index of the list entry; nil if the record lacks
// positions.
func findsAt(e *event.Entry) map[string][]string {
	places := map[string][]string{}
	for _, line := range e.Finds {
		kind, at, _ := strings.Cut(line, " ")
		_, at, whole := strings.Cut(at, " ")
		path := strings.Split(at, "/") // the parts are "", "result", "tools", "0"
		if !whole || !slices.Contains(policy.FindingKinds(), kind) {
			return nil
		}
		if len(path) > 3 {
			if n, err := strconv.Atoi(path[3]); err != nil || n >= len(e.Declared) {
				return nil
			}
			places[path[3]] = append(places[path[3]], kind)
		}
	}
	return places
}

// unknownKinds returns those kinds for which the record does not show whether they were found.
func (r *Reply) unknownKinds(kinds []string) (all []string) {
	for _, kind := range kinds {
		looked := slices.Contains(r.entry.Looked, kind) && slices.Contains(policy.FindingKinds(), kind) && !slices.Contains(r.stray, kind)
		if !looked && !slices.Contains(r.found, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// JudgeReply decides a recorded reply. Rules judge each kind of finding separately. For some kinds
// the record may not show whether they were found; the answer is certain only if no such kind could
// change it.
func (j *Judge) JudgeReply(r *Reply) (policy.Decision, Why) {
	kinds, ruled := j.policy.Screens(r.on)
	switch {
	case !ruled:
		return policy.Decision{Action: policy.Allow}, ""
	case r.why != "":
		return policy.Decision{}, r.why
	}
	unknown := r.unknownKinds(kinds)
	readings := append(slices.Clone(r.found), unknown...)
	for i := range j.replies[r.on] {
		if why := r.whyDoubtful(&j.replies[r.on][i], readings); why != "" {
			return policy.Decision{}, why
		}
	}
	calls := []policy.Call{r.call.Call}
	d := j.policy.DecideReply(r.on, calls, r.found)
	for _, kind := range unknown {
		with := j.policy.DecideReply(r.on, calls, append(slices.Clone(r.found), kind))
		if r.describeOutcome(&with) != r.describeOutcome(&d) {
			return policy.Decision{}, Unrecorded
		}
	}
	if r.failed && d.Action != policy.Deny || r.on == policy.OnList && r.Was == policy.Deny && d.Action == policy.Allow && len(d.Alters) > 0 {
		return policy.Decision{}, Uncarried
	}
	return d, ""
}

// whyDoubtful returns why the record has too little data for a rule that may apply to one of the
// readings; "" if it has enough.
func (r *Reply) whyDoubtful(l *layer, readings []string) Why {
	rules, why := doubtfulRules(l.policy, l.sources, &r.call)
	if len(rules) == 0 {
		return ""
	}
	steps := r.call.traceUnscreened(l.policy)
	for _, i := range rules {
		finds := l.sources[i].Finds
		concerned := finds == nil || slices.ContainsFunc(readings, func(kind string) bool {
			return slices.Contains(finds, kind) || slices.Contains(finds, "*")
		})
		if concerned && !r.call.isSpared(&steps[i]) {
			return why
		}
	}
	return ""
}

// alterationWords returns the alterations of a decision in the words of the record.
func (r *Reply) alterationWords(d *policy.Decision) (words []string) {
	for _, a := range d.Alters {
		word := a.Rule.Action.String()
		if a.Rule.Action == policy.Redact && r.on == policy.OnReply {
			word += " " + a.Kind
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// CompareReply judges a recorded reply and compares the decision with what was recorded.
func (j *Judge) CompareReply(r *Reply) Example {
	x := r.makeExample(joinOutcome(r.Was, r.words))
	if r.entry.RuleLine > 0 && r.on == policy.OnReply {
		x.OldRule = &check.RuleRef{File: r.entry.RuleFile, Line: r.entry.RuleLine, Description: r.entry.RuleText}
	}
	d, why := j.JudgeReply(r)
	x.setOutcome(r, &d, why)
	return x
}

// CompareReplyAnswers compares the decisions of two policies about a recorded reply. It ignores
// what was recorded.
func CompareReplyAnswers(before, after *Judge, r *Reply) Example {
	old, why := before.JudgeReply(r)
	x := r.makeExample(r.describeOutcome(&old))
	x.OldRule = decidingRule(&old)
	d := policy.Decision{}
	if why == "" {
		d, why = after.JudgeReply(r)
	}
	x.setOutcome(r, &d, why)
	return x
}

// HasReplyRules reports whether the policy has rules about replies of this kind.
func (j *Judge) HasReplyRules(r *Reply) bool {
	_, ruled := j.policy.Screens(r.on)
	return ruled
}

func (r *Reply) makeExample(was string) Example {
	x := Example{Record: r.entry.Record, Time: r.entry.Time, Server: r.entry.Server, Method: r.entry.Method, Finds: r.found, Was: was}
	switch {
	case r.on == policy.OnList:
		x.Names = shortenNames(r.call.Names)
	case r.answered != nil:
		x.Names, x.Args = shortenNames(r.answered.Names), shownArgs(r.answered)
	}
	return x
}

// setOutcome sets the new answer of the example.
func (x *Example) setOutcome(r *Reply, d *policy.Decision, why Why) {
	if why != "" {
		x.Class, x.Why = NotJudged, why
		return
	}
	x.Is, x.Reason, x.NewRule, x.Action = r.describeOutcome(d), d.Reason, decidingRule(d), check.StrictestAction(d)
	if r.isWithheld(d) {
		x.Action = policy.Deny
	}
	if x.Class = Unchanged; x.Is != x.Was {
		x.Class = newly[x.Action]
	}
}

// decidingRule returns the rule that decides; if there is none, the first rule that alters the
// reply.
func decidingRule(d *policy.Decision) *check.RuleRef {
	if d.Rule == nil && len(d.Alters) > 0 {
		return check.RefOf(d.Alters[0].Rule)
	}
	return check.RefOf(d.Rule)
}

// joinOutcome returns the action and the alterations as one text.
func joinOutcome(a policy.Action, words []string) string {
	switch {
	case len(words) == 0:
		return a.String()
	case a == policy.Prompt:
		words = append([]string{a.String()}, words...)
	}
	return strings.Join(words, ", ")
}

// isWithheld reports whether the client gets nothing of the reply. A list entry with a prompt is
// withheld, because the proxy asks no person about list entries.
func (r *Reply) isWithheld(d *policy.Decision) bool {
	return d.Action == policy.Deny || d.Action == policy.Prompt && r.on == policy.OnList
}

// describeOutcome returns a decision in words.
func (r *Reply) describeOutcome(d *policy.Decision) string {
	if r.isWithheld(d) {
		return policy.Deny.String()
	}
	return joinOutcome(d.Action, r.alterationWords(d))
}
