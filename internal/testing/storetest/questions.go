package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// kept is how long an approval stays valid in these tests.
const kept = 10 * time.Minute

// question returns a question from laptop n.
func question(id string, n int, digest string, approvals int) store.Question {
	return store.Question{
		ID: id, Title: "<a> title", Laptop: fmt.Sprint("laptop", n), Created: began, Held: began.Add(time.Minute), Expires: began.Add(15 * time.Minute),
		Asked: enrolment.AskQuestion{Digest: digest, Server: "<files> ä\u0000", Calls: []enrolment.ShownCall{{Subject: "tool", Names: []string{"x"}, Args: []byte(`{"a":"\\u0000"}`)}}, Approvers: []string{"role:oncall"}, Approvals: approvals},
	}
}

func vote(by string, allow bool, at time.Time) store.Vote {
	return store.Vote{By: principal.Principal{Issuer: "https://id.example", Subject: by, Name: by, Groups: []string{"sre"}}, Allow: allow, Words: "w", At: at, Way: "page"}
}

func testQuestions(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	for n := range 3 {
		enrol(t, s, n)
	}
	add := func(q store.Question, most int) (store.Question, error) { return s.AddQuestion(ctx, q, most, 1<<20) }
	got, err := add(question("q1", 1, "d1", 2), 2)
	must(t, err)
	if found, err := s.FindQuestion(ctx, "q1"); err != nil || found.State != enrolment.QuestionPending || found.Asked.Server != got.Asked.Server || string(found.Asked.Calls[0].Args) != string(got.Asked.Calls[0].Args) || !found.Held.Equal(got.Held) || found.Title != "<a> title" {
		t.Errorf("%+v, %v", found, err)
	}
	_, err = other.FindQuestion(ctx, "q1")
	wants(t, err, store.ErrNone)
	_, err = add(question("q0", 9, "d1", 1), 9) // there is no laptop 9
	wants(t, err, store.ErrNone)

	// A second question about the same call must return the first question. A question from another
	// laptop or with another number of approvers must be new.
	again := question("q2", 1, "d1", 2)
	again.Created, again.Held = began.Add(time.Second), began.Add(2*time.Minute)
	if got, err = add(again, 2); err != nil || got.ID != "q1" || !got.Held.Equal(again.Held) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = add(question("q3", 2, "d1", 2), 2); err != nil || got.ID != "q3" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = add(question("q4", 1, "d1", 1), 2); err != nil || got.ID != "q4" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = add(question("q5", 1, "d5", 1), 2)
	wants(t, err, store.ErrMany)
	if n, err := s.CountPending(ctx, began); n != 3 || err != nil {
		t.Errorf("%d pending, %v", n, err)
	}

	// Two people must allow the call. A second vote of the same person must be an error. A change
	// that returns an error must store nothing.
	change := func(id string, f func(q *store.Question) error) (store.Question, error) {
		return s.ChangeQuestion(ctx, id, f)
	}
	votes := func(v store.Vote) func(q *store.Question) error {
		return func(q *store.Question) error { return q.AddVote(v, kept) }
	}
	_, err = change("q1", votes(vote("ana", true, began)))
	must(t, err)
	_, err = change("q1", votes(vote("ana", true, began)))
	wants(t, err, store.ErrVoted)
	failed := errors.New("no")
	_, err = change("q1", func(q *store.Question) error {
		_ = q.AddVote(vote("ben", true, began), kept)
		return failed
	})
	wants(t, err, failed)
	_, err = change("q1", func(q *store.Question) error { return q.Use(began) })
	wants(t, err, store.ErrOver)
	at := began.Add(5 * time.Minute)
	got, err = change("q1", votes(vote("ben", true, at)))
	if must(t, err); got.State != enrolment.QuestionApproved || !got.Expires.Equal(at.Add(kept)) || got.Given() != 2 {
		t.Errorf("%+v", got)
	}
	_, err = change("q1", votes(vote("eve", true, at)))
	wants(t, err, store.ErrOver)
	found, err := s.FindQuestion(ctx, "q1")
	if must(t, err); len(found.Votes) != 2 || found.Votes[0].By.Key() != "https://id.example#ana" || !slices.Equal(found.Votes[1].By.Groups, []string{"sre"}) || found.Votes[1].Words != "w" || !found.Decided.Equal(at) {
		t.Errorf("%+v", found.Votes)
	}

	// The next question about the same call uses the approval. An approval can be used once, and
	// only before it expires.
	again.ID, again.Created = "q6", at.Add(time.Second)
	if got, err = add(again, 2); err != nil || got.ID != "q1" || got.State != enrolment.QuestionApproved || len(got.Votes) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = change("q1", func(q *store.Question) error { return q.Use(at.Add(kept)) })
	wants(t, err, store.ErrOver)
	_, err = change("q1", func(q *store.Question) error { return q.Use(at.Add(kept - 1)) })
	must(t, err)
	_, err = change("q1", func(q *store.Question) error { return q.Use(at) })
	wants(t, err, store.ErrOver)
	if got, err = add(again, 2); err != nil || got.ID != "q6" {
		t.Errorf("a used approval counts again: %+v, %v", got, err)
	}

	// A person can deny a call until its approval is used. If this person allowed the call before,
	// the denial replaces the earlier vote.
	_, err = add(question("t", 0, "t", 2), 2)
	must(t, err)
	for _, v := range []store.Vote{vote("ana", true, began), vote("ben", true, began), vote("ana", false, began)} {
		_, err = change("t", votes(v))
		must(t, err)
	}
	found, err = s.FindQuestion(ctx, "t")
	if must(t, err); found.State != enrolment.QuestionDenied || len(found.Votes) != 2 || found.Given() != 1 {
		t.Errorf("%+v", found)
	}
	_, err = change("t", func(q *store.Question) error { return q.Use(began) })
	wants(t, err, store.ErrOver)
	_, err = change("t", votes(vote("eve", false, began)))
	wants(t, err, store.ErrOver)

	// If the clock is set back, a question or an approval must not become valid for longer.
	_, err = add(question("u", 0, "u", 1), 2)
	must(t, err)
	_, err = change("u", votes(vote("ana", true, began.Add(-2*time.Minute))))
	wants(t, err, store.ErrOver)
	_, err = change("u", votes(vote("ana", true, at)))
	must(t, err)
	_, err = change("u", func(q *store.Question) error { return q.Use(at.Add(-2 * time.Minute)) })
	wants(t, err, store.ErrOver)

	// The total size of one laptop's questions has a limit. ListPending returns the pending
	// questions, the oldest first.
	_, err = s.AddQuestion(ctx, question("v", 0, "v", 1), 9, 100)
	wants(t, err, store.ErrFull)
	waits, err := s.ListPending(ctx, began, store.Question{}, 1)
	if must(t, err); len(waits) != 1 || waits[0].ID != "q3" {
		t.Errorf("%+v", waits)
	}
	all, err := s.ListPending(ctx, began, store.Question{}, 100)
	must(t, err)
	rest, err := s.ListPending(ctx, began, waits[0], 100)
	if must(t, err); len(all) < 2 || len(rest) != len(all)-1 || rest[0].ID != all[1].ID {
		t.Errorf("%d, %d", len(all), len(rest))
	}

	// One denial ends a question. An expired question accepts no answer, and the same call then
	// makes a new question.
	got, err = change("q3", votes(vote("ana", false, began)))
	if must(t, err); got.State != enrolment.QuestionDenied {
		t.Errorf("%+v", got)
	}
	_, err = change("q4", votes(vote("ana", true, began.Add(15*time.Minute))))
	wants(t, err, store.ErrOver)
	_, err = change("q6", func(q *store.Question) error { return q.Cancel(at) })
	must(t, err)
	_, err = change("q6", votes(vote("ana", true, at)))
	wants(t, err, store.ErrOver)
	late := question("q7", 1, "d1", 1)
	late.Created = began.Add(15 * time.Minute)
	if got, err = add(late, 2); err != nil || got.ID != "q7" {
		t.Errorf("%+v, %v", got, err)
	}
	if n, err := s.CountPending(ctx, began.Add(15*time.Minute)); n != 0 || err != nil {
		t.Errorf("%d pending, %v", n, err)
	}
	_, err = change("none", votes(vote("ana", true, began)))
	wants(t, err, store.ErrNone)
	all, err = s.ListQuestions(ctx, began.Add(time.Nanosecond), 10)
	if must(t, err); len(all) != 2 || all[0].ID != "q7" || all[1].ID != "q6" {
		t.Errorf("%+v", all)
	}
	must(t, s.RemoveQuestions(ctx, began.Add(time.Second)))
	all, err = s.ListQuestions(ctx, time.Time{}, 10)
	if must(t, err); len(all) != 2 { // q6 and q7
		t.Errorf("%+v", all)
	}
}

// testApprovers lets fifty approvers answer at the same time, and then lets fifty retries of the
// call use the approval at the same time. There must be one decision and one use.
func testApprovers(t *testing.T, s, _ store.Store) {
	ctx := t.Context()
	enrol(t, s, 1)
	_, err := s.AddQuestion(ctx, question("q", 1, "d", 2), 9, 1<<20)
	must(t, err)
	var mu sync.Mutex
	counts := map[string]int{}
	note := func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			counts[what]++
		} else if !errors.Is(err, store.ErrOver) && !errors.Is(err, store.ErrVoted) {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			_, err := s.ChangeQuestion(ctx, "q", func(q *store.Question) error { return q.AddVote(vote(fmt.Sprint("ana", i/2), true, began), kept) })
			note("votes", err)
		})
	}
	all.Wait()
	if counts["votes"] != 2 {
		t.Errorf("%d votes counted, want 2", counts["votes"])
	}
	for range 50 {
		all.Go(func() {
			_, err := s.ChangeQuestion(ctx, "q", func(q *store.Question) error { return q.Use(began) })
			note("uses", err)
		})
		all.Go(func() {
			q, err := s.AddQuestion(ctx, question("r", 1, "e", 1), 1, 1<<20)
			if err == nil && q.Asked.Digest == "e" {
				note("added", nil)
			}
		})
	}
	all.Wait()
	if counts["uses"] != 1 || counts["added"] != 50 {
		t.Errorf("%d uses of one approval; %d of 50 joined one question", counts["uses"], counts["added"])
	}
}
