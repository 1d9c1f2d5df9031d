package gate

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// noteScreens stores whether rules of p need an Inspector. Such rules are about replies, lists,
// uploads, or the contents of calls.
func (s *Session) noteScreens(p Policy) {
	_, replies := p.Screens(policy.OnReply)
	_, lists := p.Screens(policy.OnList)
	_, uploads := p.Screens(policy.OnUpload)
	kinds, calls := p.Screens(policy.OnCall)
	s.screens.Store(replies || lists || slices.Contains(kinds, "schema")) // the schemas for arguments come from lists
	s.lists.Store(lists)
	s.uploads.Store(uploads)
	s.finds.Store(calls)
}

// Screens reports whether rules look at replies. If so, the transport must keep a call until its
// reply is judged.
func (s *Session) Screens() bool { return s.screens.Load() }

// ScreensUploads reports whether rules look at messages to a model.
func (s *Session) ScreensUploads() bool { return s.uploads.Load() }

// looksAt reports whether rules look at messages like x: uploads or replies.
func (s *Session) looksAt(x *Exchange) bool {
	if x.Upload {
		return s.uploads.Load()
	}
	return (x.reply || x.Unasked) && s.screens.Load()
}

// OriginalRaw returns the bytes that were received, without any alterations.
func (x *Exchange) OriginalRaw() []byte {
	if x.received != nil {
		return x.received
	}
	return x.Raw
}

// inspectReply applies the rules about replies. It withholds a reply that could not be
// inspected.
func (s *Session) inspectReply(x *Exchange, v *Verdict) bool {
	if !s.looksAt(x) {
		return false
	}
	x.Raw, x.asks, x.Event.Release = x.OriginalRaw(), "", ""
	p := *s.policy.Load()
	found, err := s.o.Inspector.Inspect(x, p)
	if err != nil {
		x.Event.Digest = sha256.Sum256(x.Raw)
		*v = Verdict{Code: CodeWithheld, Reason: "it could not be looked at as the owner's rules ask for", owner: err.Error(), unruled: true}
		return true
	}
	return s.releaseReply(x, v, p, &found) || s.applyInspection(x, v, &found)
}

// applyInspection carries out the decision of an inspection.
func (s *Session) applyInspection(x *Exchange, v *Verdict, found *Inspection) bool {
	d := &found.Decision
	if d.Action != policy.Allow && d.Action != policy.Prompt {
		d.Action = policy.Deny
	}
	x.Event.Finds, x.Event.Looked = findingLines(found.Found), found.Looked
	if d.Action != policy.Deny && !s.o.ObserveOnly {
		x.Event.Altered = found.Altered // set even when no text was altered, because a replay compares these words
	}
	if d.Action == policy.Allow && found.Sent == nil {
		return false
	}
	x.Event.Digest = sha256.Sum256(x.Raw)
	owner := strings.TrimSpace(d.Reason + " " + found.Why)
	if s.o.ObserveOnly {
		*v = Verdict{Action: policy.Allow, Policy: d.Action, Rule: d.Rule, Stage: StageObserve, Code: CodeNotEnforced, owner: owner, unruled: true, noted: true}
		return true
	}
	if d.Action != policy.Deny && found.Sent != nil {
		x.received, x.Raw = x.Raw, found.Sent
		x.Event.Sent = sha256.Sum256(x.Raw)
	}
	*v = Verdict{Action: d.Action, Policy: d.Action, Rule: d.Rule, unruled: true, owner: owner}
	switch d.Action {
	case policy.Allow:
		v.Code, v.noted = CodeAltered, true
		if len(d.Alters) > 0 {
			v.Rule = d.Alters[0].Rule
		}
	case policy.Prompt:
		if x.asks = "its answer is held: " + findingText(found.Found); x.Upload {
			x.asks = "it would go to the service of the model: " + findingText(found.Found)
		}
	default:
		v.Action, v.Code, v.Reason, v.Releasable = policy.Deny, CodeWithheld, "a rule stops what it carries"+kindsText(found.Found), x.Event.Release != ""
		if d.Kind != "" && !slices.ContainsFunc(found.Found, func(f Found) bool { return f.Kind == d.Kind }) {
			v.Reason = "not all of it could be looked at for what may not go on (" + d.Kind + ")"
			v.owner = strings.TrimSpace(v.owner + " not all of it was looked at for " + d.Kind)
		}
		if found.Why != "" {
			v.Reason = "a rule takes out what it carries, and that cannot be done here"
		}
	}
	return true
}

// alterRequest applies the alterations of d to a server's request to the client. It
// returns a deny when they cannot be applied.
func (s *Session) alterRequest(x *Exchange, d policy.Decision, p Policy) policy.Decision {
	x.Raw = x.OriginalRaw()
	sent, words, err := s.o.Inspector.Alter(x, d.Alters, p)
	if err != nil || x.reply {
		return policy.Decision{Rule: d.Alters[0].Rule, Reason: "a rule takes something out of it, and that cannot be done here"}
	}
	x.received, x.Raw = x.Raw, sent
	x.Event.Sent, x.Event.Altered = sha256.Sum256(sent), words
	return d
}

// inspectArguments returns the calls with the findings in their arguments, if a rule with the
// condition `find` may match one of them. The result holds copies, because an Approver may be
// reading the originals. If no such rule may match, the calls are returned without a search. For an
// unsearched call the condition `find` is a maybe.
func (s *Session) inspectArguments(p Policy, x *Exchange, cs []policy.Call) []policy.Call {
	if !s.finds.Load() {
		return cs
	}
	asked := false
	for i := range cs {
		asked = asked || p.FindsIn(&cs[i])
	}
	if !asked {
		return cs
	}
	cs = slices.Clone(cs)
	x.Event.Looked, _ = p.Screens(policy.OnCall)
	for i := range cs {
		found, err := s.o.Inspector.Carries(&cs[i], p)
		if err != nil {
			cs[i].Screened, x.Event.Looked = false, nil // the condition `find` becomes a maybe
			continue
		}
		cs[i].Screened, cs[i].Finds = true, nil
		for _, f := range found {
			if f.Advice != "" {
				x.advice = f.Advice
			}
			if !slices.Contains(cs[i].Finds, f.Kind) {
				cs[i].Finds = append(cs[i].Finds, f.Kind)
			}
		}
		for _, line := range findingLines(found) {
			if !slices.Contains(x.Event.Finds, line) {
				x.Event.Finds = append(x.Event.Finds, line)
			}
		}
	}
	return cs
}

// isMarker reports whether a line of findings is about clawai's own mark in a text.
func isMarker(line string) bool { return strings.HasPrefix(line, "marker ") }

// maxFinds is how many findings of one message are reported.
const maxFinds = 32

// findingLines returns findings as lines for the record: kind, number and place. Every kind has a
// line, because a later replay of the record depends on the kinds.
func findingLines(found []Found) (all []string) {
	if len(found) > maxFinds {
		found = firstOfEach(found)
	}
	for i, f := range found {
		if i == maxFinds {
			return append(all, fmt.Sprintf("and %d more", len(found)-i))
		}
		all = append(all, fmt.Sprintf("%s %d %s", f.Kind, f.N, f.At))
	}
	return all
}

// firstOfEach returns the findings in another order: the first finding of each kind comes before
// all other findings.
func firstOfEach(found []Found) []Found {
	var first, more []Found
	for _, f := range found {
		if slices.ContainsFunc(first, func(o Found) bool { return o.Kind == f.Kind }) {
			more = append(more, f)
		} else {
			first = append(first, f)
		}
	}
	return append(first, more...)
}

// findingText returns a short description of the findings for the person at the prompt.
func findingText(found []Found) string {
	const most = 5
	var all []string
	for i, f := range found {
		if i == most {
			all = append(all, fmt.Sprintf("and more at %d places", len(found)-i))
			break
		}
		all = append(all, fmt.Sprintf("%s (%d) at %s", f.Kind, f.N, f.At))
	}
	if len(all) == 0 {
		return "a rule asks about all of them"
	}
	return "found " + strings.Join(all, ", ")
}

// kindsText returns the kinds of the findings for the agent. It leaves out the places, because a
// place may hold a text of the server.
func kindsText(found []Found) string {
	counts := map[string]int{}
	for _, f := range found {
		counts[f.Kind] += f.N
	}
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s (%d)", kind, counts[kind]))
	}
	if len(all) == 0 {
		return ""
	}
	return ": found " + strings.Join(all, ", ")
}

// shownCalls returns the calls to show to a person, as the rules judged them. For a reply that a
// rule asks about, it also returns the calls that the reply answers.
func (x *Exchange) shownCalls() []policy.Call {
	if x.asks == "" {
		return x.judgedCalls
	}
	all := slices.Concat(x.Answered, x.Calls)
	for _, one := range x.Replies {
		all = append(all, one.Answered...)
	}
	if len(all) == 0 {
		all = []policy.Call{{Server: x.Event.Server, Method: x.Event.Method, Subject: policy.MethodSubject, Names: []string{x.Event.Method}}}
	}
	return all
}
