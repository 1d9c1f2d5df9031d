package diff

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Fixtures holds the fixtures that the two policies answer differently.
type Fixtures struct {
	Judged  int
	Changes []FixtureChange // the most dangerous change comes first
}

// FixtureChange is one fixture that the two policies answer differently.
type FixtureChange struct {
	Path     string
	Kind     ChangeKind
	Old, New Answer
	Expected *policy.Action // the answer that the fixture expects; nil if it expects none
}

// AddFixtures judges fixtures by both policies. server is the name of the server for fixtures
// without one.
func (r *Report) AddFixtures(before, after *policy.Policy, fixtures []check.Fixture, server string) {
	if r.Fixtures == nil {
		r.Fixtures = &Fixtures{}
	}
	for _, fx := range fixtures {
		r.Fixtures.Judged++
		was, is := check.JudgeFixture(before, fx, server), check.JudgeFixture(after, fx, server)
		old, now := prove.AnswerBy(was.Action, was.Rule), prove.AnswerBy(is.Action, is.Rule)
		if kind := KindOf(old, now); kind != "" {
			r.Fixtures.Changes = append(r.Fixtures.Changes, FixtureChange{fx.Path, kind, old, now, fx.Expected})
		}
	}
	slices.SortStableFunc(r.Fixtures.Changes, func(a, b FixtureChange) int {
		return dangerRank(a.Kind, &a.Old) - dangerRank(b.Kind, &b.Old)
	})
}

// Record holds the recorded calls that the two policies answer differently.
type Record struct {
	Decisions int
	Unchanged int
	Counts    map[ChangeKind]int
	NotJudged map[replay.Why]int
	Damaged   int // number of places in the record that cannot be read
	Examples  []Recorded
	Answers   *replay.Answers // the results for replies; nil if neither policy has rules about replies
}

// Recorded is a recorded call that the policies answer differently. If the record has the call
// several times, only Times grows.
type Recorded struct {
	Kind     ChangeKind
	ID       string
	Time     time.Time
	Call     policy.Call
	Old, New Answer
	Times    int // how often the call is in the record
}

// HasChanges reports whether some recorded call is answered differently.
func (r *Record) HasChanges() bool { return len(r.Counts) > 0 || r.Answers.HasChanges() }

// maxDistinct is the maximum number of different calls that are counted separately.
const maxDistinct = 1 << 12

// AddRecord judges the recorded calls and replies by both policies. It keeps up to n examples of
// each kind of change. It compares the two policies with each other, and not with the recorded
// answers.
func (r *Report) AddRecord(before, after *replay.Judge, records iter.Seq2[event.Entry, error], n int) error {
	rec := &Record{Counts: map[ChangeKind]int{}, NotJudged: map[replay.Why]int{}}
	r.Record = rec
	var replies replay.Replies
	known, kept := map[string]int{}, map[ChangeKind]int{}
	for e, err := range records {
		var damage *event.Damage
		if errors.As(err, &damage) {
			rec.Damaged++
			continue
		}
		if err != nil {
			return err
		}
		for _, reply := range replies.TakeReplies(&e) {
			if before.HasReplyRules(&reply) || after.HasReplyRules(&reply) {
				x := replay.CompareReplyAnswers(before, after, &reply)
				rec.Answers = rec.Answers.AddExample(&x, n)
			}
		}
		if !replay.IsJudged(&e) {
			continue
		}
		rec.Decisions++
		x, why := compareRecorded(before, after, &e)
		switch {
		case why != "":
			rec.NotJudged[why]++
			continue
		case x.Kind == "":
			rec.Unchanged++
			continue
		}
		rec.Counts[x.Kind]++
		key := string(x.Kind) + "\x00" + x.Call.Server + "\x00" + oneLine(&x.Call)
		if at, again := known[key]; again {
			rec.Examples[at].Times++
		} else if kept[x.Kind] < n && len(known) < maxDistinct {
			known[key] = len(rec.Examples)
			kept[x.Kind]++
			rec.Examples = append(rec.Examples, x)
		}
	}
	slices.SortStableFunc(rec.Examples, func(a, b Recorded) int { return dangerRank(a.Kind, &a.Old) - dangerRank(b.Kind, &b.Old) })
	return nil
}

func compareRecorded(before, after *replay.Judge, e *event.Entry) (Recorded, replay.Why) {
	c, why := replay.RebuildCall(e)
	if why != "" {
		return Recorded{}, why
	}
	old, why := before.JudgeCall(&c)
	if why != "" {
		return Recorded{}, why
	}
	now, why := after.JudgeCall(&c)
	if why != "" {
		return Recorded{}, why
	}
	x := Recorded{ID: e.Record, Time: e.Time, Call: c.Call, Old: prove.AnswerBy(old.Action, old.Rule), New: prove.AnswerBy(now.Action, now.Rule), Times: 1}
	x.Kind = KindOf(x.Old, x.New)
	return x, ""
}
