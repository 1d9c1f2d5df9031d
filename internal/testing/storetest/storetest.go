// Package storetest tests whether an implementation of store.Store meets the requirements of the
// interface. The tests of each database call Run.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// admin is the person who allows and denies in these tests.
var admin = principal.Principal{Issuer: "https://idp.example", Subject: "7", Name: "ana's <b>", Email: "ana@example.com", Groups: []string{"old"}, GroupsKnown: true}

var began = time.Date(2026, 11, 30, 10, 0, 0, 123456789, time.UTC)

// Run runs all tests. The function open creates an empty database. The result of open is a function
// that opens the store of one organisation in this database. If several centres can share the
// database, Run opens two stores of one organisation, as for two centres. The stores must not poll,
// because a poll would hide a missing notification.
func Run(t *testing.T, open func(t *testing.T) func(org string) store.Store) {
	for name, test := range map[string]func(t *testing.T, s, other store.Store){
		"enrolments": testEnrolments, "laptops": testLaptops, "bundles": testBundles, "proposals": testProposals, "segments": testSegments, "records": testRecords, "labels": testLabels, "people": testPeople, "deliveries": testDeliveries, "who signed in": testWhoSignedIn,
		"races": testRaces, "questions": testQuestions, "racing approvers": testApprovers, "checkpoints": testCheckpoints, "racing checkpoints": testRacingCheckpoints, "keys": testKeys, "workloads": testWorkloads,
	} {
		t.Run(name, func(t *testing.T) {
			of := open(t)
			test(t, of("one"), of("two"))
		})
	}
	t.Run("racing proposals", func(t *testing.T) {
		of := open(t)
		testRacingProposals(t, of("one"), of("one"))
	})
	t.Run("news", func(t *testing.T) {
		of := open(t)
		testNews(t, of("one"), of("one"), of("two"))
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
}

func wish(n int) store.Enrolment {
	return store.Enrolment{
		DeviceHash: fmt.Sprint("device", n), UserHash: fmt.Sprint("user", n), Ask: enrolment.AskEnrolment{Name: "ana's <laptop> ä", OS: "linux", Version: "1"},
		Address: "127.0.0.1", Created: began, Expires: began.Add(time.Minute), Interval: 2 * time.Second,
	}
}

// enrol enrols laptop n and returns its id.
func enrol(t *testing.T, s store.Store, n int) string {
	t.Helper()
	must(t, s.AddEnrolment(t.Context(), wish(n), 100))
	must(t, s.DecideEnrolment(t.Context(), fmt.Sprint("user", n), store.Allowed, admin))
	id, err := s.AddLaptop(t.Context(), fmt.Sprint("device", n), store.Laptop{ID: fmt.Sprint("laptop", n), Enrolled: began}, fmt.Sprint("token", n))
	must(t, err)
	return id
}

func testEnrolments(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	must(t, s.AddEnrolment(ctx, wish(1), 2))
	must(t, s.AddEnrolment(ctx, wish(2), 2))
	wants(t, s.AddEnrolment(ctx, wish(3), 2), store.ErrMany)
	late := wish(4)
	late.Created = began.Add(2 * time.Minute) // the other enrolments have expired
	must(t, s.AddEnrolment(ctx, late, 2))
	if _, err := s.FindEnrolment(ctx, "user1"); !errors.Is(err, store.ErrNone) {
		t.Errorf("an expired wish is still there: %v", err)
	}
	if _, err := other.FindEnrolment(ctx, "user4"); !errors.Is(err, store.ErrNone) {
		t.Errorf("another organisation's wish: %v", err)
	}
	e, err := s.FindEnrolment(ctx, "user4")
	must(t, err)
	late.Status = store.Pending
	if e != late {
		t.Errorf("%+v, want %+v", e, late)
	}
	_, err = s.AddLaptop(ctx, "device4", store.Laptop{ID: "x", Enrolled: began}, "token")
	wants(t, err, store.ErrTwice) // the enrolment is not allowed
	before, err := s.PollEnrolment(ctx, "device4", func(e *store.Enrolment) { e.Polled, e.Interval = began, time.Minute })
	must(t, err)
	after, err := s.PollEnrolment(ctx, "device4", func(*store.Enrolment) {})
	must(t, err)
	if !before.Polled.IsZero() || !after.Polled.Equal(began) || after.Interval != time.Minute {
		t.Errorf("polls: %+v, %+v", before, after)
	}
	_, err = s.PollEnrolment(ctx, "nobody", func(*store.Enrolment) {})
	wants(t, err, store.ErrNone)
	must(t, s.DecideEnrolment(ctx, "user4", store.Allowed, admin))
	wants(t, s.DecideEnrolment(ctx, "user4", store.Denied, admin), store.ErrTwice)
	id, err := s.AddLaptop(ctx, "device4", store.Laptop{ID: "a", Enrolled: began}, "token1")
	must(t, err)
	// The client repeats the call, because it did not get the first answer.
	again, err := s.AddLaptop(ctx, "device4", store.Laptop{ID: "b", Enrolled: began}, "token2")
	must(t, err)
	l, hash, err := s.FindLaptop(ctx, id)
	must(t, err)
	if id != "a" || again != "a" || hash != "token2" || l.Name != late.Ask.Name || l.By != admin.String() || !reflect.DeepEqual(l.Owner, store.Owner{Principal: admin, Seen: began}) {
		t.Errorf("%q, %q, %q, %+v", id, again, hash, l)
	}
	must(t, s.TouchLaptop(ctx, "a", began))
	_, err = s.AddLaptop(ctx, "device4", store.Laptop{ID: "b", Enrolled: began}, "token3")
	wants(t, err, store.ErrTwice)
}

func testLaptops(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	id := enrol(t, s, 1)
	enrol(t, other, 1)
	must(t, s.TouchLaptop(ctx, id, began))
	report := enrolment.Report{Counter: 7, Version: "2", Error: "<b>", Backlog: 5, Time: began}
	must(t, s.AddReport(ctx, id, report, began.Add(time.Hour)))
	must(t, s.TouchLaptop(ctx, id, began.Add(time.Minute))) // an earlier time must not replace a later time
	l, _, err := s.FindLaptop(ctx, id)
	must(t, err)
	if l.Report != report || l.Version != "2" || !l.Seen.Equal(began.Add(time.Hour)) || !l.Enrolled.Equal(began) || !l.Revoked.IsZero() {
		t.Errorf("%+v", l)
	}
	wants(t, s.AddReport(ctx, "nobody", report, began), store.ErrNone)
	wants(t, s.RevokeLaptop(ctx, "nobody", "ana", began), store.ErrNone)
	must(t, s.RevokeLaptop(ctx, id, "ana", began))
	wants(t, s.RevokeLaptop(ctx, id, "ana", began), store.ErrTwice)
	l, hash, err := s.FindLaptop(ctx, id)
	must(t, err)
	if hash != "" || l.Revoked.IsZero() || l.RevokedBy != "ana" {
		t.Errorf("revoked: %q, %+v", hash, l)
	}
	if l, _, err := other.FindLaptop(ctx, id); err != nil || !l.Revoked.IsZero() {
		t.Errorf("another organisation's laptop: %+v, %v", l, err)
	}
	if all, err := s.ListLaptops(ctx); err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], l) {
		t.Errorf("%+v, %v", all, err)
	}
}

func testBundles(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	_, err := s.FindNewestBundle(ctx)
	wants(t, err, store.ErrNone)
	b := store.Bundle{Counter: 7, Digest: "d", Created: began, Published: began, Key: "k", By: "ci <b> (machine#7)", Bytes: []byte{0, 1, 0xff, '\n'}}
	must(t, s.AddBundle(ctx, b))
	for _, counter := range []uint64{7, 6, 0} {
		b.Counter = counter
		wants(t, s.AddBundle(ctx, b), store.ErrOlder)
	}
	b.Counter = 1<<53 - 1
	must(t, s.AddBundle(ctx, b))
	must(t, other.AddBundle(ctx, store.Bundle{Counter: 1, Published: began, Bytes: []byte("x")}))
	newest, err := s.FindNewestBundle(ctx)
	must(t, err)
	if newest.Counter != b.Counter || newest.By != b.By || !bytes.Equal(newest.Bytes, b.Bytes) || !newest.Created.Equal(began) {
		t.Errorf("%+v", newest)
	}
	_, err = s.FindBundle(ctx, 8)
	wants(t, err, store.ErrNone)
	_, err = s.FindBundleBefore(ctx, 7)
	wants(t, err, store.ErrNone)
	for _, find := range []func() (store.Bundle, error){
		func() (store.Bundle, error) { return s.FindBundle(ctx, 7) },
		func() (store.Bundle, error) { return s.FindBundleBefore(ctx, 1<<53-1) },
	} {
		if first, err := find(); err != nil || first.Counter != 7 || !bytes.Equal(first.Bytes, b.Bytes) {
			t.Errorf("%+v, %v", first, err)
		}
	}
	if all, err := s.ListBundles(ctx, 10); err != nil || len(all) != 2 || all[1].Counter != 7 || all[0].Bytes != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

const segment = "20261130T100203.123456789Z-k3f9x2m7qa.ndjson"

func record(n int, at time.Time, look store.Look, tool string) store.Record {
	return store.Record{
		Laptop: "laptop1", Session: "k3f9x2m7qa", Seq: uint64(n), Time: at, Kind: "decision", Look: look, Server: "files", Subject: "tool", Name: tool, Method: "tools/call",
		About: "\x1b[2J<b>'\"", Code: "policy", Reason: "why", Rule: "policy.toml:7", RuleText: "text", Ref: "", Segment: segment, Offset: int64(n * 10), Length: 9,
	}
}

// extend adds text to the end of the segment that these tests use.
func extend(t *testing.T, s store.Store, text string, complete bool, x store.Extension) error {
	t.Helper()
	return s.ExtendSegment(t.Context(), "laptop1", "k3f9x2m7qa", segment, func(h store.Holding) (store.Extension, error) {
		x.Part, x.Segment = []byte(text), h.Segment()
		x.Segment.Size += int64(len(text))
		x.Segment.Complete, x.Segment.Changed = complete, began
		x.Segment.Arrival.Checked = x.Segment.Size
		return x, nil
	})
}

func testSegments(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	wants(t, extend(t, s, "x", false, store.Extension{}), store.ErrNone) // no laptop is enrolled
	enrol(t, s, 1)
	enrol(t, other, 1)
	_, err := s.FindSegment(ctx, "laptop1", segment)
	wants(t, err, store.ErrNone)
	finding := store.Finding{Laptop: "laptop1", Segment: segment, Line: 3, What: "a finding", Found: began}
	note := store.Finding{Laptop: "laptop1", Segment: segment, What: "a note", Note: true, Found: began.Add(time.Hour)}
	must(t, extend(t, s, "hello ", false, store.Extension{Findings: []store.Finding{finding, note}}))
	must(t, extend(t, s, "", false, store.Extension{Findings: []store.Finding{finding}}))
	must(t, extend(t, s, "big ", false, store.Extension{}))
	must(t, extend(t, s, "world", true, store.Extension{}))
	broken := errors.New("broken")
	wants(t, s.ExtendSegment(ctx, "laptop1", "k3f9x2m7qa", segment, func(store.Holding) (store.Extension, error) { return store.Extension{Part: []byte("lost")}, broken }), broken)
	g, err := s.FindSegment(ctx, "laptop1", segment)
	must(t, err)
	want := store.Segment{Laptop: "laptop1", Session: "k3f9x2m7qa", Name: segment, Size: 15, Complete: true, Arrival: audit.Arrival{Checked: 15}, Changed: began}
	if g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	const whole = "hello big world"
	for from := range len(whole) + 1 {
		for length := 1; length < 20; length++ {
			text, err := s.ReadSegment(ctx, "laptop1", segment, int64(from), length)
			if want := whole[from:min(len(whole), from+length)]; err != nil || string(text) != want {
				t.Fatalf("%d+%d: %q, %v, want %q", from, length, text, err, want)
			}
		}
	}
	later := "20261130T110203.123456789Z-k3f9x2m7qa.ndjson"
	must(t, s.ExtendSegment(ctx, "laptop1", "k3f9x2m7qa", later, func(h store.Holding) (store.Extension, error) {
		all, err := h.ListSession()
		if err != nil || len(all) != 1 || all[0] != want {
			t.Errorf("%+v, %v", all, err)
		}
		if text, err := h.ReadHeld(0, 10); len(text) > 0 || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		return store.Extension{Segment: h.Segment()}, nil
	}))
	must(t, s.ExtendSegment(ctx, "laptop1", "k3f9x2m7qb", "20261130T110203.123456789Z-k3f9x2m7qb.ndjson", func(h store.Holding) (store.Extension, error) {
		if all, ofSession, err := h.CountSegments(); all != 2 || ofSession != 0 || err != nil {
			t.Errorf("%d segments, %d of the session, %v", all, ofSession, err)
		}
		if all, notes, err := h.CountFindings(); all != 2 || notes != 1 || err != nil {
			t.Errorf("%d findings, %d notes, %v", all, notes, err)
		}
		return store.Extension{Segment: h.Segment()}, nil
	}))
	var pages [][2]string
	for at := (store.Segment{}); ; {
		page, err := s.ListChangedSegments(ctx, "laptop1", time.Time{}, at.Session, at.Name, 2)
		must(t, err)
		for _, at = range page {
			pages = append(pages, [2]string{at.Session, at.Name})
		}
		if len(page) == 0 {
			break
		}
	}
	if want := [][2]string{{"k3f9x2m7qa", segment}, {"k3f9x2m7qa", later}, {"k3f9x2m7qb", "20261130T110203.123456789Z-k3f9x2m7qb.ndjson"}}; !slices.Equal(pages, want) {
		t.Errorf("%v, want %v", pages, want)
	}
	if all, err := s.ListChangedSegments(ctx, "laptop1", began, "", "", 9); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("changed since the first: %+v, %v", all, err)
	}
	must(t, other.ExtendSegment(ctx, "laptop1", "k3f9x2m7qa", later, func(h store.Holding) (store.Extension, error) {
		all, _, err := h.CountSegments()
		found, _, err2 := h.CountFindings()
		if all != 0 || found != 0 || err != nil || err2 != nil {
			t.Errorf("%d segments and %d findings of another organisation, %v, %v", all, found, err, err2)
		}
		return store.Extension{Segment: h.Segment()}, nil
	}))
	found, err := s.ListFindings(ctx, "", "", 10)
	must(t, err)
	// The list is in the order of time, and note is newer than finding.
	if len(found) != 2 || found[0] != finding || found[1] != note {
		t.Errorf("%+v", found)
	}
	for _, of := range [][2]string{{"laptop2", ""}, {"laptop1", later}} {
		if found, err := s.ListFindings(ctx, of[0], of[1], 10); len(found) > 0 || err != nil {
			t.Errorf("%q: %+v, %v", of, found, err)
		}
	}
	must(t, s.Check(ctx))
	l, _, err := s.FindLaptop(ctx, "laptop1")
	if err != nil || l.Bytes != 15 || l.Findings != 1 || !l.Shipped.Equal(began) {
		t.Errorf("%+v, %v", l, err)
	}
}

func testRecords(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	enrol(t, s, 1)
	enrol(t, other, 1)
	looks := []store.Look{store.LookAllowed, store.LookAsked, store.LookRefused}
	var all []store.Record
	for n := range 60 {
		// Each group of four records has the same time.
		all = append(all, record(n, began.Add(time.Duration(n/4)*10*time.Minute), looks[n%3], fmt.Sprint("tool", n%5)))
	}
	// Lists that contain such texts must be read as they were written.
	all[7].About, all[8].About, all[9].About = `NULL`, `{"a\\b","c'd",}`, ""
	all[10].Kind = "answered"
	all[13].Labels, all[14].Labels, all[17].Labels = policy.Untrusted, policy.Untrusted|policy.PrivateData|policy.Secret, policy.Untrusted // asked, refused, refused
	must(t, extend(t, s, "x", false, store.Extension{Records: all}))
	if err := extend(t, s, "y", false, store.Extension{Records: all[:1]}); err == nil {
		t.Error("a record at the same place was kept twice")
	}
	var pages []store.Record
	for q := (store.Query{Most: 7}); ; {
		some, err := s.ListRecords(ctx, q)
		must(t, err)
		pages = append(pages, some...)
		if len(some) < q.Most {
			break
		}
		q.Before = store.Place{Time: some[6].Time, ID: some[6].ID}
	}
	if len(pages) != len(all) {
		t.Fatalf("%d records on the pages", len(pages))
	}
	for i := range pages {
		got := pages[i]
		one, err := s.FindRecord(ctx, got.ID)
		must(t, err)
		if got.ID = 0; one.ID == 0 || got != all[len(all)-1-i] {
			t.Fatalf("%+v, want %+v", got, all[len(all)-1-i])
		}
	}
	for _, c := range []struct {
		q store.Query
		n int
	}{
		{store.Query{Laptop: "laptop1"}, 60}, {store.Query{Laptop: "laptop2"}, 0}, {store.Query{Session: "k3f9x2m7qa"}, 60}, {store.Query{Tool: "tool1"}, 12},
		{store.Query{Server: "files", Look: store.LookRefused}, 20}, {store.Query{Look: store.LookRefused, Tool: "tool2"}, 4}, {store.Query{Kind: "outcome"}, 0},
		{store.Query{Rule: "policy.toml:7"}, 60}, {store.Query{Tool: "tool1' OR '1'='1"}, 0},
		{store.Query{Look: store.LookAllowed, Laptop: "laptop1"}, 20}, {store.Query{Look: store.LookRefused, Laptop: "laptop1", Server: "files"}, 20}, {store.Query{Look: store.LookAsked, Rule: "policy.toml:7"}, 20},
		{store.Query{Look: store.LookAsked, Session: "k3f9x2m7qa"}, 20}, {store.Query{Kind: "answered"}, 1}, {store.Query{Kind: "answered", Tool: "tool0"}, 1}, {store.Query{Kind: "answered", Look: store.LookAsked}, 1}, {store.Query{Kind: "answered", Look: store.LookRefused}, 0},
		{store.Query{Kind: "answered", Laptop: "laptop1", Tool: "tool1"}, 0},
		{store.Query{Label: policy.Untrusted}, 3}, {store.Query{Label: policy.Secret}, 1}, {store.Query{Label: policy.Untrusted, Look: store.LookRefused}, 2}, {store.Query{Label: policy.PrivateData, Look: store.LookAsked}, 0},
		{store.Query{Label: policy.Untrusted, Session: "k3f9x2m7qa"}, 3}, {store.Query{Label: policy.Untrusted, Laptop: "laptop2"}, 0}, {store.Query{Label: policy.Untrusted, Tool: "tool3", Server: "files", Kind: "decision"}, 1},
		{store.Query{Since: began.Add(10 * time.Minute), Until: began.Add(20 * time.Minute)}, 4},
	} {
		c.q.Most = 1000
		if some, err := s.ListRecords(ctx, c.q); err != nil || len(some) != c.n {
			t.Errorf("%+v: %d, %v", c.q, len(some), err)
		}
	}
	if some, err := other.ListRecords(ctx, store.Query{Most: 10}); err != nil || len(some) > 0 {
		t.Errorf("another organisation's records: %d, %v", len(some), err)
	}
	if _, err := other.FindRecord(ctx, pages[0].ID); !errors.Is(err, store.ErrNone) {
		t.Errorf("another organisation's record: %v", err)
	}
	near, err := s.ListNeighbours(ctx, "laptop1", "k3f9x2m7qa", 3, 5)
	if err != nil || len(near) != 3 || near[0].Seq != 3 || near[2].Seq != 5 {
		t.Errorf("%+v, %v", near, err)
	}
	sums, err := s.CountHours(ctx, began.Truncate(time.Hour))
	total := 0
	for _, sum := range sums {
		total += sum.N
	}
	if err != nil || total != 60 || sums[0].Hour != began.Truncate(time.Hour) || sums[0].Look != store.LookAllowed || sums[0].N != 8 {
		t.Errorf("%+v, %v", sums, err)
	}
	tools, err := s.CountTools(ctx, store.LookRefused, began.Truncate(time.Hour), 2)
	if err != nil || !slices.Equal(tools, []store.Sum{{Server: "files", Tool: "tool0", Look: store.LookRefused, N: 4, Of: 12}, {Server: "files", Tool: "tool1", Look: store.LookRefused, N: 4, Of: 12}}) {
		t.Errorf("%+v, %v", tools, err)
	}
}

func testLabels(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	enrol(t, s, 1)
	enrol(t, other, 1)
	none, earlier, later, answered := record(1, began, store.LookAsked, "x"), record(2, began.Add(-2*time.Hour), store.LookAsked, "x"), record(3, began, store.LookAsked, "x"), record(4, began, "", "x")
	refused := record(5, began.Add(time.Hour), store.LookRefused, "y")
	earlier.Labels, later.Labels, answered.Labels, refused.Labels = policy.Untrusted, policy.Untrusted, policy.Secret, policy.Untrusted|policy.PrivateData
	must(t, extend(t, s, "x", false, store.Extension{Records: []store.Record{none, earlier, later, answered}}))
	must(t, extend(t, s, "x", false, store.Extension{Records: []store.Record{refused}}))
	for since, want := range map[time.Time][]store.Sum{
		began.Truncate(time.Hour):  {{Label: policy.Untrusted, Look: store.LookAsked, N: 1}, {Label: policy.Untrusted, Look: store.LookRefused, N: 1}, {Label: policy.PrivateData, Look: store.LookRefused, N: 1}},
		began.Add(-24 * time.Hour): {{Label: policy.Untrusted, Look: store.LookAsked, N: 2}, {Label: policy.Untrusted, Look: store.LookRefused, N: 1}, {Label: policy.PrivateData, Look: store.LookRefused, N: 1}},
		began.Add(2 * time.Hour):   nil,
	} {
		if got, err := s.CountLabels(ctx, since); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %+v, %v", since, got, err)
		}
	}
	if got, err := other.CountLabels(ctx, began.Add(-24*time.Hour)); err != nil || len(got) > 0 {
		t.Errorf("another organisation's labels: %+v, %v", got, err)
	}
}

func testPeople(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	must(t, s.AddLink(ctx, "first", "ana", began.Add(time.Hour)))
	must(t, s.AddLink(ctx, "second", "ana", began.Add(time.Hour))) // ends the first link
	must(t, s.AddLink(ctx, "old", "bob", began))
	for _, hash := range []string{"first", "old", "none", ""} {
		wants(t, s.UseLink(ctx, hash, "session", began, began.Add(time.Hour)), store.ErrNone)
	}
	wants(t, other.UseLink(ctx, "second", "session", began, began.Add(time.Hour)), store.ErrNone)
	must(t, s.UseLink(ctx, "second", "session", began, began.Add(time.Hour)))
	wants(t, s.UseLink(ctx, "second", "another", began, began.Add(time.Hour)), store.ErrNone)
	local := principal.Principal{Issuer: principal.Local, Subject: "ana", Name: "ana", GroupsKnown: true}
	if p, ends, err := s.FindSession(ctx, "session", began); !reflect.DeepEqual(p, local) || !ends.Equal(began.Add(time.Hour)) || err != nil {
		t.Errorf("%+v, %v, %v", p, ends, err)
	}
	_, _, err := s.FindSession(ctx, "session", began.Add(time.Hour))
	wants(t, err, store.ErrNone)
	_, _, err = other.FindSession(ctx, "session", began)
	wants(t, err, store.ErrNone)
	must(t, s.EndSession(ctx, "session"))
	_, _, err = s.FindSession(ctx, "session", began)
	wants(t, err, store.ErrNone)

	// A sign-in must change the groups only of the person's own laptops. Roles must not be stored.
	mine, foreign := enrol(t, s, 1), enrol(t, other, 1)
	p := admin
	p.Groups, p.GroupsKnown, p.Roles = []string{"new", "<b>"}, true, []string{"root"}
	must(t, s.AddSession(ctx, "hers", p, began.Add(time.Minute), began.Add(time.Hour)))
	wants(t, s.EndSession(ctx, "nobody's"), store.ErrNone)
	p.Roles = nil
	if got, _, err := s.FindSession(ctx, "hers", began); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	stranger := p
	stranger.Subject, stranger.Groups = "another", nil
	must(t, s.AddSession(ctx, "theirs", stranger, began.Add(2*time.Minute), began.Add(time.Hour)))
	if l, _, err := s.FindLaptop(ctx, mine); err != nil || !reflect.DeepEqual(l.Owner, store.Owner{Principal: p, Seen: began.Add(time.Minute)}) {
		t.Errorf("%+v, %v", l.Owner, err)
	}
	if l, _, err := other.FindLaptop(ctx, foreign); err != nil || !reflect.DeepEqual(l.Owner, store.Owner{Principal: admin, Seen: began}) {
		t.Errorf("another organisation's laptop: %+v, %v", l.Owner, err)
	}
	// All other sessions have expired at this time.
	must(t, s.AddSession(ctx, "late", p, began.Add(time.Hour), began.Add(2*time.Hour)))
	_, _, err = s.FindSession(ctx, "hers", began)
	wants(t, err, store.ErrNone)
}

// testRaces sends requests at the same time. There must be exactly one successful sign-in with the
// link, one stored bundle for each counter, and one successful decision about the enrolment. The
// parts of a segment must not overlap.
func testRaces(t *testing.T, s, _ store.Store) {
	ctx := t.Context()
	enrol(t, s, 1)
	must(t, s.AddLink(ctx, "link", "ana", began.Add(time.Hour)))
	must(t, s.AddEnrolment(ctx, wish(2), 10))
	var mu sync.Mutex
	var links, bundles, decisions, parts int
	count := func(n *int, err error, also ...error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			*n++
		} else if !slices.ContainsFunc(also, func(want error) bool { return errors.Is(err, want) }) {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	elsewhere := errors.New("elsewhere")
	for i := range 20 {
		all.Go(func() {
			count(&links, s.UseLink(ctx, "link", fmt.Sprint("session", i), began, began.Add(time.Hour)), store.ErrNone)
		})
		all.Go(func() {
			count(&bundles, s.AddBundle(ctx, store.Bundle{Counter: 1, Published: began, Bytes: []byte("x")}), store.ErrOlder)
		})
		all.Go(func() {
			count(&decisions, s.DecideEnrolment(ctx, "user2", []string{store.Allowed, store.Denied}[i%2], admin), store.ErrTwice)
		})
		all.Go(func() {
			err := s.ExtendSegment(ctx, "laptop1", "k3f9x2m7qa", segment, func(h store.Holding) (store.Extension, error) {
				g := h.Segment()
				if g.Size != int64(i%4) {
					return store.Extension{}, elsewhere
				}
				g.Size++
				return store.Extension{Part: []byte{'a' + byte(i%4)}, Segment: g}, nil
			})
			count(&parts, err, elsewhere)
		})
	}
	// More sessions begin a segment at the same time than the store has connections.
	begun := 0
	for i := range 40 {
		all.Go(func() {
			session := fmt.Sprintf("k3f9x2m7%02d", i)
			count(&begun, s.ExtendSegment(ctx, "laptop1", session, fmt.Sprintf("20261130T100203.123456789Z-%s.ndjson", session), func(h store.Holding) (store.Extension, error) {
				_, _, err := h.CountSegments()
				return store.Extension{Segment: h.Segment()}, err
			}))
		})
	}
	all.Wait()
	if begun != 40 {
		t.Errorf("%d segments of 40 were begun", begun)
	}
	if links != 1 || bundles != 1 || decisions != 1 || parts < 1 || parts > 4 {
		t.Errorf("%d links, %d bundles, %d decisions, %d parts", links, bundles, decisions, parts)
	}
	g, err := s.FindSegment(ctx, "laptop1", segment)
	must(t, err)
	text, err := s.ReadSegment(ctx, "laptop1", segment, 0, 10)
	if must(t, err); g.Size != int64(parts) || string(text) != "abcd"[:parts] {
		t.Errorf("%d bytes, %q, %d parts", g.Size, text, parts)
	}
}
