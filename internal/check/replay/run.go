package replay

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/policy"
)

// Class tells how the answer to a call changes.
type Class string

// Values of Class. For calls, those that permit more come first.
const (
	NewlyAllowed Class = "newly_allowed"
	NewlyAsked   Class = "newly_asked"
	NewlyDenied  Class = "newly_denied"
	Unchanged    Class = "unchanged"

	// Values of Class that only replies have.
	NewlyWarned   Class = "newly_warned"
	NewlyFenced   Class = "newly_fenced"
	NewlyRedacted Class = "newly_redacted"
	NewlyWithheld Class = "newly_withheld"

	NotJudged Class = "not_judged"
)

// Classes returns the classes for calls, in the order of a report.
func Classes() []Class { return []Class{NewlyAllowed, NewlyAsked, NewlyDenied, Unchanged, NotJudged} }

// FormatClass returns the class in words for people.
func (c Class) FormatClass() string { return strings.ReplaceAll(string(c), "_", " ") }

// newly is the class of a changed reply, by the strictest new action.
var newly = [...]Class{policy.Deny: NewlyWithheld, policy.Prompt: NewlyAsked, policy.Redact: NewlyRedacted,
	policy.Fence: NewlyFenced, policy.Warn: NewlyWarned, policy.Allow: NewlyAllowed}

// AnswerClasses returns the classes for replies, in the order of a report.
func AnswerClasses() []Class {
	return []Class{NewlyAllowed, NewlyWarned, NewlyFenced, NewlyRedacted, NewlyAsked, NewlyWithheld, Unchanged, NotJudged}
}

// Example is one recorded call or reply of a class. Its texts come from the record and are not
// harmless.
type Example struct {
	Class   Class          `json:"class"`
	Why     Why            `json:"why,omitempty"` // why the call could not be judged; "" if it could
	Record  string         `json:"record"`
	Time    time.Time      `json:"time"`
	Server  string         `json:"server,omitempty"`
	Method  string         `json:"method"`
	Names   []string       `json:"names,omitempty"`
	Args    string         `json:"args,omitempty"`  // JSON, at most 500 bytes
	Finds   []string       `json:"finds,omitempty"` // kinds of findings in the reply
	Was     string         `json:"was"`             // the old answer
	Is      string         `json:"is,omitempty"`    // the new answer
	OldRule *check.RuleRef `json:"old_rule,omitempty"`
	NewRule *check.RuleRef `json:"new_rule,omitempty"`
	Reason  string         `json:"reason,omitempty"` // the reason for the new answer, if no rule decides
	Action  policy.Action  `json:"-"`
}

// Report is the result of Run.
type Report struct {
	Revision  string        `json:"policy_revision"`
	Decisions int           `json:"decisions"` // number of recorded decisions in which rules took part
	Observed  int           `json:"observed"`  // number of decisions that were recorded but not enforced
	Counts    map[Class]int `json:"counts"`
	NotJudged map[Why]int   `json:"not_judged"`
	Sessions  int           `json:"sessions"`
	First     time.Time     `json:"first"`
	Last      time.Time     `json:"last"`
	Damaged   int           `json:"damaged"` // number of places in the record that cannot be read
	Examples  []Example     `json:"examples"`
	Answers   *Answers      `json:"answers,omitempty"` // nil if there are no rules about replies and no altered replies
}

// Answers is the result for replies to calls and for entries of lists.
type Answers struct {
	Total     int            `json:"total"`
	Observed  int            `json:"observed"` // number of replies for which the rules were not enforced
	Counts    map[Class]int  `json:"counts"`
	Now       map[string]int `json:"now"` // number of judged replies, by the strictest new action
	NotJudged map[Why]int    `json:"not_judged"`
	Examples  []Example      `json:"examples"`

	shown map[string]bool
}

// HasChanges reports whether the policy would treat some reply differently.
func (a *Answers) HasChanges() bool {
	return a != nil && a.Total > a.Counts[Unchanged]+a.Counts[NotJudged]
}

// SummarizeAnswers returns one line with the numbers of replies.
func (a *Answers) SummarizeAnswers() string {
	parts := []string{fmt.Sprintf("%d unchanged", a.Counts[Unchanged])}
	for _, class := range AnswerClasses() {
		if n := a.Counts[class]; n > 0 && class != Unchanged {
			parts = append(parts, fmt.Sprintf("%d %s", n, class.FormatClass()))
		}
	}
	observed := ""
	if a.Observed > 0 {
		observed = fmt.Sprintf(" (%d only observed)", a.Observed)
	}
	return fmt.Sprintf("%d answers and entries of lists%s: %s", a.Total, observed, strings.Join(parts, ", "))
}

// AddExample counts an example. It keeps up to n examples of each class, and each change only once.
// It returns a; if a is nil, it returns new Answers.
func (a *Answers) AddExample(x *Example, n int) *Answers {
	if a == nil {
		a = &Answers{Counts: map[Class]int{}, Now: map[string]int{}, NotJudged: map[Why]int{}, Examples: []Example{}, shown: map[string]bool{}}
	}
	a.Total++
	a.Counts[x.Class]++
	if x.Class == NotJudged {
		a.NotJudged[x.Why]++
	} else {
		a.Now[x.Action.String()]++
	}
	kept := 0
	for i := range a.Examples {
		if a.Examples[i].Class == x.Class {
			kept++
		}
	}
	key := string(x.Class) + x.Method + firstName(x.Names) + x.Args + x.Is
	if x.Class != Unchanged && kept < n && !a.shown[key] {
		a.shown[key] = true
		a.Examples = append(a.Examples, *x)
	}
	return a
}

// HasChanges reports whether the policy would answer some call differently.
func (r *Report) HasChanges() bool {
	return r.Counts[NewlyAllowed]+r.Counts[NewlyAsked]+r.Counts[NewlyDenied] > 0 || r.Answers.HasChanges()
}

// maxSessions is the maximum number of sessions that are counted separately.
const maxSessions = 1 << 16

// Run judges the records. It keeps up to n examples of each class, and each call only once. It
// keeps no other record in memory.
func Run(j *Judge, records iter.Seq2[event.Entry, error], n int) (*Report, error) {
	r := &Report{Revision: j.Policy().Revision(), Counts: map[Class]int{}, NotJudged: map[Why]int{}, Examples: []Example{}}
	var replies Replies
	sessions, kept, shown := map[string]bool{}, map[Class]int{}, map[string]bool{}
	for e, err := range records {
		var damage *event.Damage
		if errors.As(err, &damage) {
			r.Damaged++
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, reply := range replies.TakeReplies(&e) {
			if j.HasReplyRules(&reply) || reply.isAltered() {
				x := j.CompareReply(&reply)
				if r.Answers = r.Answers.AddExample(&x, n); e.Stage == "observe" {
					r.Answers.Observed++
				}
			}
		}
		if !IsJudged(&e) {
			continue
		}
		r.countEntry(&e, sessions)
		x := j.CompareEntry(&e)
		r.Counts[x.Class]++
		if x.Class == NotJudged {
			r.NotJudged[x.Why]++
		}
		key := string(x.Class) + x.Method + firstName(x.Names) + x.Args
		if x.Class != Unchanged && kept[x.Class] < n && !shown[key] {
			kept[x.Class]++
			shown[key] = true
			r.Examples = append(r.Examples, x)
		}
	}
	return r, nil
}

func (r *Report) countEntry(e *event.Entry, sessions map[string]bool) {
	r.Decisions++
	if e.Stage == "observe" {
		r.Observed++
	}
	if !sessions[e.Session] && len(sessions) < maxSessions {
		sessions[e.Session] = true
		r.Sessions++
	}
	if r.First.IsZero() {
		r.First = e.Time
	}
	r.Last = e.Time
}

// maxArgs is the maximum number of bytes of an example's arguments.
const maxArgs = 500

// CompareEntry judges one record and compares the answers. IsJudged must be true for the record.
func (j *Judge) CompareEntry(e *event.Entry) Example {
	x := Example{
		Record: e.Record, Time: e.Time, Server: e.Server, Method: e.Method, Names: shortenNames(e.Names),
		Args: shownArgs(e), Was: e.Policy,
	}
	if e.RuleLine > 0 {
		x.OldRule = &check.RuleRef{File: e.RuleFile, Line: e.RuleLine, Description: e.RuleText}
	}
	c, why := RebuildCall(e)
	var d policy.Decision
	if why == "" {
		d, why = j.JudgeCall(&c)
	}
	if why != "" {
		x.Class, x.Why = NotJudged, why
		return x
	}
	x.Action, x.Is, x.Reason = d.Action, d.Action.String(), d.Reason
	x.NewRule = check.RefOf(d.Rule)
	x.Class = classOf(c.Was, d.Action)
	return x
}

func shownArgs(e *event.Entry) string {
	args := escape.ReadableJSON(e.Args)
	if len(args) > maxArgs {
		args = args[:maxArgs] + "…"
	}
	return args
}

func classOf(was, is policy.Action) Class {
	switch {
	case was == is:
		return Unchanged
	case is == policy.Allow:
		return NewlyAllowed
	case is == policy.Prompt:
		return NewlyAsked
	}
	return NewlyDenied
}

func firstName(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// shortenNames shortens a list of names for an example.
func shortenNames(names []string) []string {
	const few, long = 3, 300
	var kept []string
	for i, name := range names {
		if i == few {
			return append(kept, "…")
		}
		if len(name) > long {
			name = name[:long] + "…"
		}
		kept = append(kept, name)
	}
	return kept
}
