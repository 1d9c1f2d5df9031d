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

// Class is how the answer to a call changes.
type Class string

// The classes, the one that opens something first.
const (
	NewlyAllowed Class = "newly_allowed"
	NewlyAsked   Class = "newly_asked"
	NewlyDenied  Class = "newly_denied"
	Unchanged    Class = "unchanged"

	// Of what comes back, beside those above.
	NewlyWarned   Class = "newly_warned"
	NewlyFenced   Class = "newly_fenced"
	NewlyRedacted Class = "newly_redacted"
	NewlyWithheld Class = "newly_withheld"

	NotJudged Class = "not_judged"
)

// Classes lists them in the order of a report.
func Classes() []Class { return []Class{NewlyAllowed, NewlyAsked, NewlyDenied, Unchanged, NotJudged} }

// FormatClass gives the class for people.
func (c Class) FormatClass() string { return strings.ReplaceAll(string(c), "_", " ") }

// newly is the class of what comes back and is something else now, by the strictest of it.
var newly = [...]Class{policy.Deny: NewlyWithheld, policy.Prompt: NewlyAsked, policy.Redact: NewlyRedacted,
	policy.Fence: NewlyFenced, policy.Warn: NewlyWarned, policy.Allow: NewlyAllowed}

// AnswerClasses lists those of what comes back, in the order of a report.
func AnswerClasses() []Class {
	return []Class{NewlyAllowed, NewlyWarned, NewlyFenced, NewlyRedacted, NewlyAsked, NewlyWithheld, Unchanged, NotJudged}
}

// Example is one recorded call of a class. Its texts come from the record and
// may be anything.
type Example struct {
	Class   Class          `json:"class"`
	Why     Why            `json:"why,omitempty"` // of what was not judged
	Record  string         `json:"record"`
	Time    time.Time      `json:"time"`
	Server  string         `json:"server,omitempty"`
	Method  string         `json:"method"`
	Names   []string       `json:"names,omitempty"`
	Args    string         `json:"args,omitempty"`  // JSON, cut at 500 bytes
	Finds   []string       `json:"finds,omitempty"` // kinds, of what came back
	Was     string         `json:"was"`
	Is      string         `json:"is,omitempty"`
	OldRule *check.RuleRef `json:"old_rule,omitempty"`
	NewRule *check.RuleRef `json:"new_rule,omitempty"`
	Reason  string         `json:"reason,omitempty"` // why, when no new rule says it
	Action  policy.Action  `json:"-"`
}

// Report is the outcome of a replay.
type Report struct {
	Revision  string        `json:"policy_revision"`
	Decisions int           `json:"decisions"` // of the record, that rules had a part in
	Observed  int           `json:"observed"`  // of them, that were not enforced
	Counts    map[Class]int `json:"counts"`
	NotJudged map[Why]int   `json:"not_judged"`
	Sessions  int           `json:"sessions"`
	First     time.Time     `json:"first"`
	Last      time.Time     `json:"last"`
	Damaged   int           `json:"damaged"` // places of the record that cannot be read
	Examples  []Example     `json:"examples"`
	Answers   *Answers      `json:"answers,omitempty"` // nil: no rule is about what came back, and none was
}

// Answers is the outcome for what came back: answers to calls, and entries of lists.
type Answers struct {
	Total     int            `json:"total"`
	Observed  int            `json:"observed"` // of them, where nothing was enforced
	Counts    map[Class]int  `json:"counts"`
	Now       map[string]int `json:"now"` // by the strictest action: what becomes of those that are judged
	NotJudged map[Why]int    `json:"not_judged"`
	Examples  []Example      `json:"examples"`

	shown map[string]bool
}

// HasChanges says that something that came back would be answered differently.
func (a *Answers) HasChanges() bool {
	return a != nil && a.Total > a.Counts[Unchanged]+a.Counts[NotJudged]
}

// SummarizeAnswers gives what became of all of them, in one line.
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

// AddExample counts one, and keeps up to n examples of each class, of each change once.
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

// HasChanges says that some call would be answered differently.
func (r *Report) HasChanges() bool {
	return r.Counts[NewlyAllowed]+r.Counts[NewlyAsked]+r.Counts[NewlyDenied] > 0 || r.Answers.HasChanges()
}

// maxSessions bounds the sessions that are told apart.
const maxSessions = 1 << 16

// Run judges the records and keeps up to n examples of each class, of each
// change once. It holds no more of the record than those.
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

// maxArgs is how much of the arguments an example keeps.
const maxArgs = 500

// CompareEntry judges one record for which Judged holds.
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

// shortenNames keeps what an example shows of many names.
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
