package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

// patience is how long a test waits for an event that must occur.
const patience = time.Minute

// AwaitWake waits for a value from a watch. If none arrives, it fails the test. The parameter what
// describes the change that should wake the watch.
func AwaitWake(t *testing.T, woken <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(patience):
		t.Fatalf("nobody is told: %s", what)
	}
}

// Marker makes changes in the store From, and waits until the store To sends notifications of them.
// A database sends notifications in the order of the changes. So after the notification of such a
// change, the notifications of all earlier changes have been sent.
type Marker struct {
	T        *testing.T
	From, To store.Store
	Laptop   int
	n        int
}

// Mark makes one change in From, and waits until To sends a notification of it.
func (m *Marker) Mark() {
	m.T.Helper()
	m.n++
	id := fmt.Sprint("mark", m.n)
	woken, end := m.To.Watch(id)
	defer end()
	_, err := m.From.AddQuestion(m.T.Context(), question(id, m.Laptop, id, 1), 1000, 1<<20)
	must(m.T, err)
	AwaitWake(m.T, woken, id)
}

// Settle waits until To receives notifications. When To begins to listen, it wakes all watches
// once, even without a change. So only a second mark proves that To really listens.
func (m *Marker) Settle() { m.Mark(); m.Mark() }

// NewMarker returns a Marker that makes changes in the store `from` and waits for their
// notifications in the store `to`. For these changes it enrols a laptop in the store `from`.
func NewMarker(t *testing.T, from, to store.Store) *Marker {
	t.Helper()
	enrol(t, from, 90)
	return &Marker{T: t, From: from, To: to, Laptop: 90}
}

// AddQuestion adds a question of the laptop that NewMarker has enrolled.
func AddQuestion(t *testing.T, s store.Store, id string) {
	t.Helper()
	_, err := s.AddQuestion(t.Context(), question(id, 90, id, 1), 1000, 1<<20)
	must(t, err)
}

// ChangeQuestion changes the time until which a laptop holds the call of a question.
func ChangeQuestion(t *testing.T, s store.Store, id string, held time.Time) {
	t.Helper()
	_, err := s.ChangeQuestion(t.Context(), id, func(q *store.Question) error { q.Held = held; return nil })
	must(t, err)
}

// isWoken reports whether a watch has a value. If it has, isWoken takes the value.
func isWoken(woken <-chan struct{}) bool {
	select {
	case <-woken:
		return true
	default:
		return false
	}
}

// testNews tests the notifications of stores that do not poll. The stores s and twin belong to one
// organisation. The store in the parameter other belongs to a second organisation.
func testNews(t *testing.T, s, twin, other store.Store) {
	ours, others := NewMarker(t, s, twin), NewMarker(t, other, other)
	marks := func() { ours.Mark(); others.Mark() }
	one, endOne := twin.Watch("one")
	two, endTwo := twin.Watch("two")
	all, endAll := twin.Watch("")
	foreign, endForeign := other.Watch("one")
	foreignAll, endForeignAll := other.Watch("")
	defer func() { endTwo(); endAll(); endForeign(); endForeignAll() }()
	forget := func() {
		for _, woken := range []<-chan struct{}{one, two, all, foreign, foreignAll} {
			isWoken(woken)
		}
	}
	ours.Settle()
	others.Settle()
	forget()

	// A change must wake the watches of its question and the watches of all questions. It must not
	// wake a watch of another question or of another organisation.
	AddQuestion(t, s, "one")
	AwaitWake(t, one, "a question was added")
	AwaitWake(t, all, "a question was added, for who waits for all")
	ours.Mark()
	if isWoken(two) || isWoken(foreign) || isWoken(foreignAll) {
		t.Error("a change woke who waits for another question, or another organisation")
	}
	AddQuestion(t, other, "one")
	AwaitWake(t, foreign, "the other organisation's question")
	marks()
	if isWoken(one) {
		t.Error("another organisation's question of the same name woke us")
	}

	// A watch is woken after the commit of the change. So a read after the wake must see the
	// change.
	for i := range 20 {
		held := began.Add(time.Duration(i+2) * time.Minute)
		changed := make(chan error, 1)
		go func() {
			_, err := s.ChangeQuestion(t.Context(), "one", func(q *store.Question) error { q.Held = held; return nil })
			changed <- err
		}()
		AwaitWake(t, one, "a change")
		if q, err := twin.FindQuestion(t.Context(), "one"); err != nil || !q.Held.Equal(held) {
			t.Fatalf("change %d was told of before it was there: %v, %v", i, q.Held, err)
		}
		must(t, <-changed)
	}
	_, err := s.ChangeQuestion(t.Context(), "one", func(q *store.Question) error {
		select {
		case <-one:
			t.Error("a change was told of before it was committed")
		case <-time.After(50 * time.Millisecond):
		}
		return q.Cancel(began)
	})
	must(t, err)
	AwaitWake(t, one, "the change after its commit")

	// A change that was not stored must not wake a watch. A watch that has ended must get no more
	// values.
	marks()
	forget()
	no := errors.New("no")
	_, err = s.ChangeQuestion(t.Context(), "one", func(*store.Question) error { return no })
	wants(t, err, no)
	ours.Mark()
	if isWoken(one) {
		t.Error("a change that failed was told of")
	}
	endOne()
	ChangeQuestion(t, s, "one", began)
	ours.Mark()
	if isWoken(one) {
		t.Error("who has ended is woken")
	}
}
