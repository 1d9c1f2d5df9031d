package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
)

func testDeliveries(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	_, err := s.FindDelivery(ctx, "q1", "slack C1")
	wants(t, err, store.ErrNone)
	d := store.Delivery{Question: "q1", Way: "slack C1", Reference: "1.2", Told: "pending 0", Open: true, Tries: 3, Next: began}
	none := store.Delivery{}
	must(t, s.ReplaceDelivery(ctx, none, d))
	closed := store.Delivery{Question: "q2", Way: "slack C1"}
	must(t, s.ReplaceDelivery(ctx, none, closed))
	must(t, s.ReplaceDelivery(ctx, none, store.Delivery{Question: "q1", Way: "webhook a", Open: true}))
	must(t, other.ReplaceDelivery(ctx, none, store.Delivery{Question: "q1", Way: "slack C1", Open: true}))
	for _, want := range []store.Delivery{d, closed} {
		if got, err := s.FindDelivery(ctx, want.Question, want.Way); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if open, err := s.ListOpen(ctx, "slack C1"); !slices.Equal(open, []store.Delivery{d}) || err != nil {
		t.Errorf("%+v, %v", open, err)
	}
	found := d
	d.Told, d.Open, d.Tries, d.Next = "denied 1", false, 0, time.Time{}
	must(t, s.ReplaceDelivery(ctx, found, d))
	if open, err := s.ListOpen(ctx, "slack C1"); len(open) != 0 || err != nil {
		t.Errorf("%+v, %v", open, err)
	}
	// If several centres try to claim the same delivery, only one of them may succeed.
	for _, found := range []store.Delivery{{Question: "q9", Way: "w"}, {Question: "q9", Way: "w2", Told: "pending 0", Open: true, Next: began.Add(time.Hour)}} {
		if found.Told != "" {
			must(t, s.ReplaceDelivery(ctx, none, found))
		}
		errs := make(chan error, 20)
		for i := range cap(errs) {
			claim := found
			claim.Next = began.Add(time.Duration(i) * time.Second)
			go func() { errs <- s.ReplaceDelivery(ctx, found, claim) }()
		}
		won := 0
		for range cap(errs) {
			if err := <-errs; err == nil {
				won++
			} else {
				wants(t, err, store.ErrTwice)
			}
		}
		if kept, err := s.FindDelivery(ctx, found.Question, found.Way); err != nil || won != 1 || kept.Told != found.Told || !kept.Next.Before(began.Add(time.Minute)) {
			t.Errorf("%d of %d may send: %+v, %v", won, cap(errs), kept, err)
		}
		wants(t, s.ReplaceDelivery(ctx, found, found), store.ErrTwice)
	}
	// The deliveries of a question are removed together with the question.
	enrol(t, s, 1)
	q, err := s.AddQuestion(ctx, question("q3", 1, "d1", 1), 10, 1<<20)
	must(t, err)
	must(t, s.ReplaceDelivery(ctx, none, store.Delivery{Question: q.ID, Way: "w"}))
	must(t, s.RemoveQuestions(ctx, began.Add(24*time.Hour)))
	_, err = s.FindDelivery(ctx, q.ID, "w")
	wants(t, err, store.ErrNone)
	_, err = s.FindDelivery(ctx, d.Question, d.Way)
	must(t, err)
}

func testWhoSignedIn(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	ana := principal.Principal{Issuer: "https://idp.example", Subject: "1", Name: "ana", Email: "Ana@Example.com", Groups: []string{"old"}, GroupsKnown: true}
	must(t, s.AddSession(ctx, "1", ana, began, began.Add(time.Hour)))
	ana.Groups = []string{"new"}
	must(t, s.AddSession(ctx, "2", ana, began.Add(time.Minute), began.Add(time.Hour)))
	second := ana
	second.Subject, second.Email = "2", "ana@example.com"
	bare := ana
	bare.Subject, bare.Email = "3", ""
	for i, p := range []principal.Principal{second, bare} {
		must(t, s.AddSession(ctx, string(rune('a'+i)), p, began, began.Add(time.Hour)))
	}
	names := func(name string) (all []string) {
		found, err := s.ListPeople(ctx, name)
		must(t, err)
		for _, o := range found {
			all = append(all, o.Subject+" "+o.Groups[0]+" "+o.Seen.Format(time.TimeOnly))
		}
		return all
	}
	at, later := began.Format(time.TimeOnly), began.Add(time.Minute).Format(time.TimeOnly)
	for name, want := range map[string][]string{
		ana.Key(): {"1 new " + later}, "ANA@example.com": {"1 new " + later, "2 new " + at}, bare.Key(): {"3 new " + at}, "": nil, "x@example.com": nil, "https://other#1": nil,
	} {
		if got := names(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if found, err := other.ListPeople(ctx, ana.Key()); len(found) > 0 || err != nil {
		t.Errorf("another organisation's: %+v, %v", found, err)
	}
}
