package diff

import (
	"encoding/json"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/replay"
)

// Document is the report as JSON, for programs. docs/diff.md describes its members. Later versions
// may add members, but never rename one.
type Document struct {
	OldRevision string             `json:"old_policy_revision"`
	NewRevision string             `json:"new_policy_revision"`
	Changed     bool               `json:"changed"`
	Counts      map[ChangeKind]int `json:"counts"`
	Changes     []ChangeDocument   `json:"changes"`
	Undecided   []DoubtDocument    `json:"undecided"`
	Replies     *ReplyDocument     `json:"replies,omitempty"`
	Fixtures    *FixtureSection    `json:"fixtures,omitempty"`
	Record      *RecordSection     `json:"record,omitempty"`
}

// AnswerDocument is the answer of a policy.
type AnswerDocument struct {
	Action    string        `json:"action"`
	OutOfBand bool          `json:"out_of_band,omitempty"`
	Approval  string        `json:"approval,omitempty"`
	Rule      *RuleDocument `json:"rule"` // null if no rule decided
}

// RuleDocument identifies a rule.
type RuleDocument struct {
	Index int `json:"index"` // index in the policy, from 0
	check.RuleRef
}

// ChangeDocument is one class of calls whose answer changes.
type ChangeDocument struct {
	Kind    ChangeKind      `json:"kind"`
	Old     AnswerDocument  `json:"old"`
	New     AnswerDocument  `json:"new"`
	Example string          `json:"example"`           // a call of the class on one line
	Fixture json.RawMessage `json:"fixture,omitempty"` // the example as a fixture that expects the new answer
}

// DoubtDocument is a possible change: no call shows the change, and no proof excludes it.
type DoubtDocument struct {
	Old    AnswerDocument `json:"old"`
	New    AnswerDocument `json:"new"`
	Reason string         `json:"reason"`
}

// FixtureSection is the result for fixtures.
type FixtureSection struct {
	Judged  int               `json:"judged"`
	Changes []FixtureDocument `json:"changes"`
}

// FixtureDocument is one fixture that the policies answer differently.
type FixtureDocument struct {
	Fixture  string         `json:"fixture"`
	Kind     ChangeKind     `json:"kind"`
	Old      AnswerDocument `json:"old"`
	New      AnswerDocument `json:"new"`
	Expected string         `json:"expected,omitempty"`
}

// RecordSection is the result for recorded decisions.
type RecordSection struct {
	Decisions int                `json:"decisions"`
	Unchanged int                `json:"unchanged"`
	Counts    map[ChangeKind]int `json:"counts"`
	NotJudged map[string]int     `json:"not_judged"`
	Damaged   int                `json:"damaged"`
	Examples  []RecordedDocument `json:"examples"`
	Answers   *replay.Answers    `json:"answers,omitempty"`
}

// RecordedDocument is one recorded call that the policies answer differently.
type RecordedDocument struct {
	Kind   ChangeKind     `json:"kind"`
	Record string         `json:"record"`
	Time   time.Time      `json:"time"`
	Call   string         `json:"call"` // the call on one line
	Times  int            `json:"times"`
	Old    AnswerDocument `json:"old"`
	New    AnswerDocument `json:"new"`
}

func answerDocument(a *Answer) AnswerDocument {
	d := AnswerDocument{Action: a.Action.String(), OutOfBand: a.OutOfBand, Approval: a.Approval}
	if r := a.Rule; r != nil {
		d.Rule = &RuleDocument{r.Index, *check.RefOf(r)}
	}
	return d
}

// Document returns the report in the form of JSON.
func (r *Report) Document() Document {
	d := Document{
		OldRevision: r.OldRevision, NewRevision: r.NewRevision, Changed: r.HasChanges(), Counts: r.CountChanges(),
		Changes: []ChangeDocument{}, Undecided: []DoubtDocument{}, Replies: r.Replies.replyDocument(),
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		d.Changes = append(d.Changes, ChangeDocument{c.Kind, answerDocument(&c.Old), answerDocument(&c.New), c.describeCall(), c.Fixture})
	}
	for i := range r.Doubts {
		c := &r.Doubts[i]
		d.Undecided = append(d.Undecided, DoubtDocument{answerDocument(&c.Old), answerDocument(&c.New), c.Reason})
	}
	if r.Fixtures != nil {
		d.Fixtures = r.Fixtures.fixtureSection()
	}
	if r.Record != nil {
		d.Record = r.Record.recordSection()
	}
	return d
}

func (f *Fixtures) fixtureSection() *FixtureSection {
	s := &FixtureSection{Judged: f.Judged, Changes: []FixtureDocument{}}
	for i := range f.Changes {
		c := &f.Changes[i]
		doc := FixtureDocument{Fixture: c.Path, Kind: c.Kind, Old: answerDocument(&c.Old), New: answerDocument(&c.New)}
		if c.Expected != nil {
			doc.Expected = c.Expected.String()
		}
		s.Changes = append(s.Changes, doc)
	}
	return s
}

func (r *Record) recordSection() *RecordSection {
	s := &RecordSection{
		Decisions: r.Decisions, Unchanged: r.Unchanged, Counts: r.Counts, NotJudged: map[string]int{},
		Damaged: r.Damaged, Examples: []RecordedDocument{}, Answers: r.Answers,
	}
	for why, n := range r.NotJudged {
		s.NotJudged[string(why)] = n
	}
	for i := range r.Examples {
		x := &r.Examples[i]
		s.Examples = append(s.Examples, RecordedDocument{x.Kind, x.ID, x.Time, oneLine(&x.Call), x.Times, answerDocument(&x.Old), answerDocument(&x.New)})
	}
	return s
}
