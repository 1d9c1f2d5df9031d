package replay

import (
	"errors"
	"iter"
	"time"

	"github.com/clawai/clawai/internal/escape"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check"
)

// Class is how the answer to a call changes.
type Class string

// The classes, the one that opens something first.
const (
	NewlyAllowed Class = "newly_allowed"
	NewlyAsked   Class = "newly_asked"
	NewlyDenied  Class = "newly_denied"
	Unchanged    Class = "unchanged"
	NotJudged    Class = "not_judged"
)

// Classes lists them in the order of a report.
func Classes() []Class { return []Class{NewlyAllowed, NewlyAsked, NewlyDenied, Unchanged, NotJudged} }

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
	Args    string         `json:"args,omitempty"` // JSON, cut at 500 bytes
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
}

// Changed says that some call would be answered differently.
func (r *Report) Changed() bool {
	return r.Counts[NewlyAllowed]+r.Counts[NewlyAsked]+r.Counts[NewlyDenied] > 0
}

// maxSessions bounds the sessions that are told apart.
const maxSessions = 1 << 16

// Run judges the records and keeps up to n examples of each class, of each
// change once. It holds no more of the record than those.
func Run(j *Judge, records iter.Seq2[event.Entry, error], n int) (*Report, error) {
	r := &Report{Revision: j.Policy().Revision(), Counts: map[Class]int{}, NotJudged: map[Why]int{}, Examples: []Example{}}
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
		if !Judged(&e) {
			continue
		}
		r.count(&e, sessions)
		x := j.Compare(&e)
		r.Counts[x.Class]++
		if x.Class == NotJudged {
			r.NotJudged[x.Why]++
		}
		key := string(x.Class) + x.Method + first(x.Names) + x.Args
		if x.Class != Unchanged && kept[x.Class] < n && !shown[key] {
			kept[x.Class]++
			shown[key] = true
			r.Examples = append(r.Examples, x)
		}
	}
	return r, nil
}

func (r *Report) count(e *event.Entry, sessions map[string]bool) {
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

// Compare judges one record for which Judged holds.
func (j *Judge) Compare(e *event.Entry) Example {
	x := Example{
		Record: e.Record, Time: e.Time, Server: e.Server, Method: e.Method, Names: shorten(e.Names),
		Args: escape.Readable(e.Args), Was: e.Policy,
	}
	if len(x.Args) > maxArgs {
		x.Args = x.Args[:maxArgs] + "…"
	}
	if e.RuleLine > 0 {
		x.OldRule = &check.RuleRef{File: e.RuleFile, Line: e.RuleLine, Description: e.RuleText}
	}
	c, why := Rebuild(e)
	var d policy.Decision
	if why == "" {
		d, why = j.Judge(&c)
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

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// shorten keeps what an example shows of many names.
func shorten(names []string) []string {
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
