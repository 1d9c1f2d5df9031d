package web

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/testing/slow"
)

type pendingData struct {
	Fresh bool
	Added []struct{ ID, Title, Short string }
	Gone  []struct{ ID, Text string }
}

func (sm *stream) pending() (v pendingData) {
	sm.t.Helper()
	if err := json.Unmarshal([]byte(sm.next("pending")), &v); err != nil {
		sm.t.Fatal(err)
	}
	return v
}

func TestTheListIsLive(t *testing.T) {
	st := newSite(t, nil).enter()
	first := st.q.put(1, nil)
	sm := st.open()
	v := sm.pending()
	if !v.Fresh || len(v.Added) != 1 || v.Added[0].ID != first.ID || v.Added[0].Title != "files wants to read notes.md" {
		t.Errorf("%+v", v)
	}
	second := st.q.put(2, nil)
	if v = sm.pending(); v.Fresh || len(v.Added) != 1 || v.Added[0].ID != second.ID || len(v.Gone) != 0 {
		t.Errorf("%+v", v)
	}
	if _, err := st.q.settle(first.ID, queue.Expired, queue.Answer{}, ""); err != nil {
		t.Fatal(err)
	}
	for gone, past := false, false; !gone || !past; {
		e := <-sm.events // the two come in either order
		gone = gone || e.name == "pending" && strings.Contains(e.data, first.ID) && strings.Contains(e.data, "nothing was executed")
		past = past || e.name == "history" && strings.Contains(e.data, first.ID) && strings.Contains(e.data, `"status":"expired"`)
		if e.name == "" {
			t.Fatal("the stream ended before it told of the ending")
		}
	}
}

func TestOnlyAConnectedPageAttends(t *testing.T) {
	st := newSite(t, nil).enter()
	st.do("GET", "/", "", nil)
	if st.q.looking() != 0 {
		t.Error("attended before a page was connected")
	}
	one, two := st.open(), st.open()
	one.next("pending")
	two.next("pending")
	if st.q.looking() != 1 {
		t.Errorf("%d seats for two pages", st.q.looking())
	}
	one.close()
	two.close()
	eventually(t, "nobody attends", func() bool { return st.q.looking() == 0 })
	again := st.open()
	again.next("pending")
	if st.q.looking() != 1 || st.q.seats != 2 {
		t.Errorf("%d seats, %d ever", st.q.looking(), st.q.seats)
	}
}

func TestPagesAreFew(t *testing.T) {
	st := newSite(t, nil).enter()
	for range maxPages {
		st.open().next("pending")
	}
	if resp, body := st.do("GET", "/events", "", nil); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// The goroutines of the stream are counted by goleak when all tests are over.
func TestTheEndOfTheServerEndsThePages(t *testing.T) {
	st := newSite(t, func(o *Options) { o.Views = &fakeViews{} })
	st.enter()
	sm := st.open()
	sm.next("pending")
	st.stop()
	<-sm.done
	if st.q.looking() != 0 {
		t.Error("still attended")
	}
}

// fakeViews is one view that counts how often it changed.
type fakeViews struct {
	version atomic.Uint64
	body    *Element
	err     error
}

func (v *fakeViews) Version() uint64 { return v.version.Load() }

func (v *fakeViews) Render(_ context.Context, name string, filter url.Values) (View, error) {
	return View{name + " " + filter.Encode(), v.body}, v.err
}

func TestThePageIsToldOfChanges(t *testing.T) {
	v := &fakeViews{}
	st := tuned(t, func(o *Options) { o.Views = v }, func(s *Server) { s.look = time.Millisecond })
	sm := st.enter().open()
	sm.next("pending")
	v.version.Add(1)
	if text := sm.next("changed"); text != "{}" {
		t.Error(text)
	}
}

func TestAPageThatCannotBeAnnouncedSaysSo(t *testing.T) {
	st := newSite(t, func(o *Options) { o.AddAnswerer = func() (io.Closer, error) { return nil, errBroken } })
	sm := st.enter().open()
	sm.next("pending")
	if text := sm.next("trouble"); !strings.Contains(text, "cannot see that this page is open") {
		t.Error(text)
	}
}

func TestASilentStreamStaysOpen(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const read, write = 300 * time.Millisecond, 600 * time.Millisecond
	st := tuned(t, nil, func(s *Server) {
		s.heartbeat, s.limits.read, s.limits.write = 20*time.Millisecond, read, write
	})
	sm := st.enter().open()
	sm.next("pending")
	// Longer than a request may take to be read, and an answer to be written.
	select {
	case <-sm.done:
		t.Fatal("the stream ended")
	case <-time.After(2 * write):
	}
	st.q.put(1, nil)
	sm.pending()
}

func TestListenIsLoopbackOnly(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		l, err := Listen(0, v6)
		if err != nil {
			if v6 {
				t.Logf("no IPv6 here: %v", err)
				continue
			}
			t.Fatal(err)
		}
		s, err := New(Options{Queue: newFakeQueue(), AddAnswerer: newFakeQueue().attend}, l)
		if err != nil {
			t.Error(err)
		} else if link := s.NewLink(); !strings.HasPrefix(link, "http://"+l.Addr().String()+"/#") {
			t.Error(link)
		}
		l.Close()
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := New(Options{Queue: newFakeQueue(), AddAnswerer: newFakeQueue().attend}, l); err == nil {
		t.Error("a public address was taken")
	}
}
