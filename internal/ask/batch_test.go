package ask

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// wall is a BatchChannel whose person is the test: it shows one page at a time.
type wall struct {
	*fakeChannel
	pages chan sheet
	open  atomic.Int32
	over  atomic.Bool // two pages were open at once
}

// sheet is a page on it.
type sheet struct {
	digests []byte // the first byte of each question's
	says    chan any
	closed  chan error
}

func newWall() *wall { return &wall{fakeChannel: newFakeChannel("wall"), pages: make(chan sheet, 100)} }

func (w *wall) put(ctx context.Context, qs ...gate.Question) (any, error) {
	if w.open.Add(1) > 1 {
		w.over.Store(true)
	}
	defer w.open.Add(-1)
	p := sheet{says: make(chan any, 1), closed: make(chan error, 1)}
	for _, q := range qs {
		p.digests = append(p.digests, q.Digest[0])
	}
	w.pages <- p
	select {
	case s := <-p.says:
		if err, ok := s.(error); ok {
			return nil, err
		}
		return s, nil
	case <-ctx.Done():
		p.closed <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
}

func (w *wall) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	s, err := w.put(ctx, q)
	if err != nil {
		return gate.Answer{}, err
	}
	return gate.Answer{Reply: s.(gate.Reply), Digest: q.Digest, Channel: "wall", By: "me"}, nil
}

const oneByOne = "one by one"

func (w *wall) AskAll(ctx context.Context, qs []gate.Question) (gate.Answer, bool, error) {
	s, err := w.put(ctx, qs...)
	if err != nil || s == oneByOne {
		return gate.Answer{}, s == oneByOne, err
	}
	return gate.Answer{Reply: s.(gate.Reply), Channel: "wall", By: "me"}, false, nil
}

// numbered is a question whose digest begins with n.
func numbered(n byte) gate.Question {
	q := aQuestion()
	q.Digest = [32]byte{n}
	return q
}

func post(g *Batcher, q gate.Question) *asking {
	k := &asking{q: q, result: make(chan answered, 1)}
	var ctx context.Context
	ctx, k.cancel = context.WithCancelCause(context.Background())
	go func() {
		a, err := g.Ask(ctx, q)
		k.result <- answered{a, err}
	}()
	return k
}

// odd questions of these tests are dangerous: those from 100 on.
func fromHundred(q gate.Question) bool { return q.Digest[0] >= 100 }

func shows(t *testing.T, w *wall, want ...byte) sheet {
	t.Helper()
	p := <-w.pages
	slices.Sort(p.digests)
	if !slices.Equal(p.digests, want) {
		t.Fatalf("the page shows %v, want %v", p.digests, want)
	}
	return p
}

func TestGatherKeepsTheContract(t *testing.T) {
	slow.Test(t)
	gatetest.Run(t, gatetest.Approver{
		New: func(testing.TB) (gate.Approver, gatetest.Person) {
			s := newFakeChannel("terminal")
			return NewBatcher(s, func(gate.Question) bool { return false }), s
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
	})
}

func TestOneQuestionIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		began := time.Now()
		k := post(g, numbered(1))
		p := shows(t, w, 1)
		if waited := time.Since(began); waited > 100*time.Millisecond {
			t.Errorf("shown after %s", waited)
		}
		p.says <- gate.AllowSession
		k.wants(t, gate.AllowSession, "wall")
	})
}

// Calls made at once are one page; each gets its own answer, for itself.
func TestWhatComesTogetherIsOnePage(t *testing.T) {
	for _, reply := range []gate.Reply{gate.DenyOnce, gate.AllowOnce} {
		synctest.Test(t, func(t *testing.T) {
			w := newWall()
			g := NewBatcher(w, fromHundred)
			var all []*asking
			for n := range byte(5) {
				all = append(all, post(g, numbered(n)))
				time.Sleep(5 * time.Millisecond)
			}
			shows(t, w, 0, 1, 2, 3, 4).says <- reply
			for _, k := range all {
				k.wants(t, reply, "wall")
			}
		})
	}
}

// A page that came into sight within the last second makes room for more; one
// that is being read does not, and what has come meanwhile is the next.
func TestWhatComesWithinASecondJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		a := post(g, numbered(1))
		p := shows(t, w, 1)
		time.Sleep(500 * time.Millisecond)
		b := post(g, numbered(2))
		if err := <-p.closed; !errors.Is(err, errMore) {
			t.Errorf("taken back by %v", err)
		}
		p = shows(t, w, 1, 2)
		time.Sleep(600 * time.Millisecond)
		c, d := post(g, numbered(3)), post(g, numbered(4))
		time.Sleep(10 * time.Second)
		p.says <- gate.AllowOnce
		a.wants(t, gate.AllowOnce, "wall")
		b.wants(t, gate.AllowOnce, "wall")
		shows(t, w, 3, 4).says <- gate.DenyOnce
		c.wants(t, gate.DenyOnce, "wall")
		d.wants(t, gate.DenyOnce, "wall")
		if w.over.Load() {
			t.Error("two pages at once")
		}
	})
}

// A trickle of questions cannot keep a page from being read.
func TestATrickleDoesNotMoveThePageForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		var all []*asking
		for n := range byte(20) {
			all = append(all, post(g, numbered(n)))
			time.Sleep(300 * time.Millisecond)
		}
		if n := len(w.pages); n > 4 {
			t.Errorf("%d pages", n)
		}
		for _, k := range all {
			k.cancel(gate.ErrClosed)
			k.end(t)
		}
	})
}

// A dangerous one is in no list, and no list takes its place.
func TestADangerousOneIsAskedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		a, x, b, y := post(g, numbered(1)), post(g, numbered(100)), post(g, numbered(2)), post(g, numbered(101))
		synctest.Wait()
		var all int
		for range 3 {
			p := <-w.pages
			if len(p.digests) > 1 && slices.Max(p.digests) >= 100 {
				t.Errorf("a list of %v", p.digests)
			}
			all += len(p.digests)
			if p.digests[0] >= 100 {
				time.Sleep(100 * time.Millisecond)
				c := post(g, numbered(3))
				synctest.Wait()
				if len(p.closed) > 0 {
					t.Error("a dangerous one is taken back for company")
				}
				c.cancel(gate.ErrWithdrawn)
				c.end(t)
				p.says <- gate.DenyOnce
			} else {
				p.says <- gate.AllowOnce
			}
		}
		a.wants(t, gate.AllowOnce, "wall")
		b.wants(t, gate.AllowOnce, "wall")
		x.wants(t, gate.DenyOnce, "wall")
		y.wants(t, gate.DenyOnce, "wall")
		if all != 4 {
			t.Errorf("%d were shown", all)
		}
	})
}

func TestOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		all := []*asking{post(g, numbered(0)), post(g, numbered(1)), post(g, numbered(2))}
		shows(t, w, 0, 1, 2).says <- oneByOne
		for range all {
			p := <-w.pages
			if len(p.digests) != 1 {
				t.Fatalf("shows %v", p.digests)
			}
			p.says <- gate.AllowAlways
		}
		for _, k := range all {
			k.wants(t, gate.AllowAlways, "wall")
		}
	})
}

// When one of a list is withdrawn or answered elsewhere, the page is shown anew
// without it; the others wait on.
func TestAListLosesWhatIsOver(t *testing.T) {
	for gone := range byte(3) { // the first of them leads
		synctest.Test(t, func(t *testing.T) {
			w := newWall()
			g := NewBatcher(w, fromHundred)
			all := []*asking{}
			for n := range byte(3) {
				all = append(all, post(g, numbered(n)))
				synctest.Wait()
			}
			shows(t, w, 0, 1, 2)
			all[gone].cancel(errElsewhere)
			if r := all[gone].end(t); !errors.Is(r.err, errElsewhere) {
				t.Errorf("ended by %v", r.err)
			}
			rest := slices.Delete([]byte{0, 1, 2}, int(gone), int(gone)+1)
			shows(t, w, rest...).says <- gate.AllowOnce
			for _, n := range rest {
				all[n].wants(t, gate.AllowOnce, "wall")
			}
		})
	}
}

// What leaves the line before it is shown is never shown, and whoever is behind
// it is.
func TestLeavingTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeChannel("elicitation") // no BatchChannel: one after the other
		g := NewBatcher(s, fromHundred)
		all := []*asking{}
		for n := range byte(4) {
			all = append(all, post(g, numbered(n)))
			synctest.Wait()
		}
		if q := <-s.asked; q.Digest[0] != 0 {
			t.Fatalf("asked %d first", q.Digest[0])
		}
		all[1].cancel(gate.ErrWithdrawn)
		all[1].end(t)
		s.Say(gate.AllowOnce)
		all[0].wants(t, gate.AllowOnce, "elicitation")
		if q := <-s.asked; q.Digest[0] != 2 {
			t.Fatalf("asked %d next", q.Digest[0])
		}
		all[2].cancel(gate.ErrWithdrawn) // the leader, while it is shown
		all[2].end(t)
		<-s.asked
		s.Say(gate.DenyOnce)
		all[3].wants(t, gate.DenyOnce, "elicitation")
	})
}

// A channel that is lost is lost for all of a list; a page that does not fit is
// asked one by one.
func TestAListThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		a, b := post(g, numbered(1)), post(g, numbered(2))
		shows(t, w, 1, 2).says <- errLeft
		for _, k := range []*asking{a, b} {
			if r := k.end(t); !errors.Is(r.err, errLeft) || r.Reply.Allows() {
				t.Errorf("%s, %v", r.Reply, r.err)
			}
		}
		a, b = post(g, numbered(1)), post(g, numbered(2))
		shows(t, w, 1, 2).says <- errTooSmall
		(<-w.pages).says <- gate.AllowOnce
		(<-w.pages).says <- gate.AllowOnce
		a.wants(t, gate.AllowOnce, "wall")
		b.wants(t, gate.AllowOnce, "wall")
		a, b = post(g, numbered(1)), post(g, numbered(2))
		shows(t, w, 1, 2).says <- 7 // a page that falls over
		for _, k := range []*asking{a, b} {
			if r := k.end(t); r.err == nil || !strings.Contains(r.err.Error(), "asking failed") {
				t.Errorf("%v", r.err)
			}
		}
	})
}

// Whatever a channel says to a list, none of it is more than once.
func TestAListWidensNothing(t *testing.T) {
	for _, said := range []gate.Reply{gate.AllowSession, gate.AllowAlways, gate.DenyAlways, 77} {
		a := narrowToQuestion(gate.Answer{Reply: said, Digest: [32]byte{9}}, numbered(1))
		if a.Reply != gate.DenyOnce || a.Digest[0] != 1 {
			t.Errorf("%s comes to %s for %d", said, a.Reply, a.Digest[0])
		}
	}
}

// While the channel asks for us it is available, whatever it would say itself: a
// terminal with our question on it is not free.
func TestAvailableWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		g := NewBatcher(w, fromHundred)
		k := post(g, numbered(1))
		p := shows(t, w, 1)
		w.absent = errLeft
		if err := g.Available(t.Context(), k.q); err != nil {
			t.Error(err)
		}
		p.says <- gate.DenyOnce
		k.end(t)
		if err := g.Available(t.Context(), k.q); !errors.Is(err, errLeft) {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Many at once, ending in every way: each gets an answer, for itself, and there
// is never more than one page.
func TestAFloodIsAnsweredOneForOne(t *testing.T) {
	w := newWall()
	g := NewBatcher(w, fromHundred)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for n := 0; ; n++ {
			select {
			case p := <-w.pages:
				if len(p.digests) > 1 && n%3 == 0 {
					p.says <- oneByOne
				} else {
					p.says <- gate.AllowOnce
				}
			case <-stop:
				return
			}
		}
	}()
	var all []*asking
	for n := range 200 {
		all = append(all, post(g, numbered(byte(n))))
		if n%7 == 0 {
			all[n/2].cancel(gate.ErrWithdrawn)
		}
	}
	for n, k := range all {
		if r := k.end(t); r.Digest[0] != byte(n) || (r.err == nil) != r.Reply.Allows() {
			t.Errorf("question %d: %s for %d, %v", n, r.Reply, r.Digest[0], r.err)
		}
	}
	if w.over.Load() {
		t.Error("two pages at once")
	}
}
