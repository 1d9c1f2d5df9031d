package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

const questionColumns = "id, laptop, asked, created, held, expires, state, decided, title"

func readQuestion(r scanner) (q store.Question, err error) {
	var asked string
	var created, held, expires, decided int64
	err = r.Scan(&q.ID, &q.Laptop, &asked, &created, &held, &expires, &q.State, &decided, &q.Title)
	q.Created, q.Held, q.Expires, q.Decided = fromNanos(created), fromNanos(held), fromNanos(expires), fromNanos(decided)
	if err == nil {
		err = json.Unmarshal([]byte(asked), &q.Asked)
	}
	return q, err
}

func readVote(r scanner) (v store.Vote, err error) {
	var by string
	var allows, at int64
	err = r.Scan(&by, &allows, &v.Words, &at, &v.Way)
	v.Allow, v.At = allows == 1, fromNanos(at)
	if err == nil {
		err = json.Unmarshal([]byte(by), &v.By)
	}
	return v, err
}

const votesOf = "SELECT principal, allows, words, at, way FROM vote WHERE org = ? AND question = ? ORDER BY place"

// asksOf returns a text that is equal for two questions with the same approvers and the same conditions
// on their approval.
func asksOf(a *enrolment.AskQuestion) string {
	return (&policy.Approval{Approvers: a.Approvers, Votes: a.Approvals, NotSelf: a.NotSelf}).String()
}

// AddQuestion implements store.Questions.
func (s *Store) AddQuestion(ctx context.Context, q store.Question, most int, kept int64) (store.Question, error) {
	asked, err := json.Marshal(q.Asked)
	if err != nil {
		return q, err
	}
	err = s.change(ctx, func(t *transaction) error {
		// AddQuestion locks the row of the laptop, so that two questions of one laptop are added one
		// after the other.
		var id string
		if err := t.row("SELECT id FROM laptop WHERE org = ? AND id = ?"+s.d.lock, s.org, q.Laptop).Scan(&id); err != nil {
			return err
		}
		open := " FROM question WHERE org = ? AND laptop = ? AND state IN (?, ?) AND expires > ?"
		values := []any{s.org, q.Laptop, enrolment.QuestionPending, enrolment.QuestionApproved, nanos(q.Created)}
		same, err := readQuestion(t.row("SELECT "+questionColumns+open+" AND digest = ? AND asks = ? ORDER BY created DESC LIMIT 1", append(values, q.Asked.Digest, asksOf(&q.Asked))...))
		if err == nil {
			same.Held = q.Held
			q = same
			if q.Votes, err = t.votes(s.org, q.ID); err != nil {
				return err
			}
			_, err = t.exec("UPDATE question SET held = ? WHERE org = ? AND id = ?", nanos(q.Held), s.org, q.ID)
			return err
		}
		if !errors.Is(explain(err), store.ErrNone) {
			return err
		}
		var waiting int
		values[3] = enrolment.QuestionPending // an approved question does not wait any more, so only pending questions count
		if err := t.row("SELECT count(*)"+open, values...).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= most {
			return store.ErrMany
		}
		var size int64
		if err := t.row("SELECT COALESCE(sum(octet_length(asked)), 0) FROM question WHERE org = ? AND laptop = ?", s.org, q.Laptop).Scan(&size); err != nil {
			return err
		}
		if size+int64(len(asked)) > kept {
			return store.ErrFull
		}
		q.State = enrolment.QuestionPending
		_, err = t.exec("INSERT INTO question (org, id, laptop, digest, asks, asked, created, held, expires, state, title) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.org, q.ID, q.Laptop, q.Asked.Digest, asksOf(&q.Asked), string(asked), nanos(q.Created), nanos(q.Held), nanos(q.Expires), q.State, q.Title)
		if err != nil {
			return err
		}
		return t.tell(s.org, q.ID)
	})
	return q, err
}

func (t *transaction) votes(org, question string) ([]store.Vote, error) {
	rows, err := t.rows(votesOf, org, question)
	return collect(rows, err, readVote)
}

// FindQuestion implements store.Questions.
func (s *Store) FindQuestion(ctx context.Context, id string) (store.Question, error) {
	q, err := readQuestion(s.row(ctx, "SELECT "+questionColumns+" FROM question WHERE org = ? AND id = ?", s.org, id))
	if err != nil {
		return q, explain(err)
	}
	q.Votes, err = list(ctx, s, readVote, votesOf, s.org, id)
	return q, err
}

// ListPending implements store.Questions.
func (s *Store) ListPending(ctx context.Context, now time.Time, behind store.Question, most int) ([]store.Question, error) {
	return s.listQuestions(ctx, "state = ? AND expires > ? AND (created, id) > (?, ?) ORDER BY created, id LIMIT ?",
		enrolment.QuestionPending, nanos(now), nanos(behind.Created), behind.ID, most)
}

// ListQuestions implements store.Questions.
func (s *Store) ListQuestions(ctx context.Context, since time.Time, most int) ([]store.Question, error) {
	return s.listQuestions(ctx, "created >= ? ORDER BY created DESC, id LIMIT ?", nanos(since), most)
}

// listQuestions returns questions with their votes. The parameters are the SQL condition for the
// questions (which) and the values in this condition (values).
func (s *Store) listQuestions(ctx context.Context, which string, values ...any) ([]store.Question, error) {
	all, err := list(ctx, s, readQuestion, "SELECT "+questionColumns+" FROM question WHERE org = ? AND "+which, append([]any{s.org}, values...)...)
	for i := range all {
		if err == nil {
			all[i].Votes, err = list(ctx, s, readVote, votesOf, s.org, all[i].ID)
		}
	}
	return all, err
}

// CountPending implements store.Questions.
func (s *Store) CountPending(ctx context.Context, now time.Time) (n int, err error) {
	err = s.row(ctx, "SELECT count(*) FROM question WHERE org = ? AND state = ? AND expires > ?", s.org, enrolment.QuestionPending, nanos(now)).Scan(&n)
	return n, explain(err)
}

// ChangeQuestion implements store.Questions.
func (s *Store) ChangeQuestion(ctx context.Context, id string, change func(*store.Question) error) (q store.Question, err error) {
	err = s.change(ctx, func(t *transaction) error {
		if q, err = readQuestion(t.row("SELECT "+questionColumns+" FROM question WHERE org = ? AND id = ?"+s.d.lock, s.org, id)); err != nil {
			return err
		}
		if q.Votes, err = t.votes(s.org, id); err != nil {
			return err
		}
		if err := change(&q); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM vote WHERE org = ? AND question = ?", s.org, id); err != nil {
			return err
		}
		for i := range q.Votes {
			v := &q.Votes[i]
			by, err := json.Marshal(v.By)
			if err != nil {
				return err
			}
			allows := 0
			if v.Allow {
				allows = 1
			}
			if _, err := t.exec("INSERT INTO vote (org, question, voter, place, principal, allows, words, at, way) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				s.org, id, v.By.Key(), i, string(by), allows, v.Words, nanos(v.At), v.Way); err != nil {
				return err
			}
		}
		_, err := t.exec("UPDATE question SET held = ?, expires = ?, state = ?, decided = ? WHERE org = ? AND id = ?",
			nanos(q.Held), nanos(q.Expires), q.State, nanos(q.Decided), s.org, id)
		if err != nil {
			return err
		}
		return t.tell(s.org, id)
	})
	return q, err
}

// RemoveQuestions implements store.Questions.
func (s *Store) RemoveQuestions(ctx context.Context, before time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		if _, err := t.exec("DELETE FROM vote WHERE org = ? AND question IN (SELECT id FROM question WHERE org = ? AND created < ?)", s.org, s.org, nanos(before)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM delivery WHERE org = ? AND question IN (SELECT id FROM question WHERE org = ? AND created < ?)", s.org, s.org, nanos(before)); err != nil {
			return err
		}
		_, err := t.exec("DELETE FROM question WHERE org = ? AND created < ?", s.org, nanos(before))
		return err
	})
}
