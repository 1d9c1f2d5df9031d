package web

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/ask/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a running server with a browser's memory.
type site struct {
	t      testing.TB
	s      *Server
	q      *fakeQueue
	client *http.Client
	key    string
	stop   func()
}

func newSite(t testing.TB, change func(*Options)) *site {
	t.Helper()
	return tuned(t, change, func(*Server) {})
}

// tuned is a site whose server was changed before it served.
func tuned(t testing.TB, change func(*Options), tune func(*Server)) *site {
	t.Helper()
	l, err := Listen(0, false)
	if err != nil {
		t.Fatal(err)
	}
	q := newFakeQueue()
	o := Options{Queue: q, AddAnswerer: q.attend, By: "ana"}
	if change != nil {
		change(&o)
	}
	s, err := New(o, l)
	if err != nil {
		t.Fatal(err)
	}
	s.grace, s.limits.outcome = 0, 100*time.Millisecond
	tune(s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	tr := &http.Transport{}
	st := &site{t: t, s: s, q: q, client: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	stopped := false
	st.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		tr.CloseIdleConnections()
	}
	t.Cleanup(st.stop)
	return st
}

// request is as the page itself would send it, before change.
func (st *site) request(method, path, body string, change func(*http.Request)) *http.Request {
	st.t.Helper()
	r, err := http.NewRequestWithContext(st.t.Context(), method, "http://"+st.s.host+path, strings.NewReader(body))
	if err != nil {
		st.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Dest", st.s.findRoute(r.URL).dest)
	if r.Header.Get("Sec-Fetch-Dest") == "" {
		r.Header.Del("Sec-Fetch-Dest")
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+st.s.host)
		r.Header.Set("Content-Type", "application/json")
	}
	if st.key != "" {
		r.Header.Set(keyHeader, st.key)
	}
	if change != nil {
		change(r)
	}
	return r
}

func (st *site) do(method, path, body string, change func(*http.Request)) (*http.Response, string) {
	st.t.Helper()
	resp, err := st.client.Do(st.request(method, path, body, change))
	if err != nil {
		st.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return resp, string(b)
}

func (st *site) token() string {
	_, token, _ := strings.Cut(st.s.NewLink(), "#")
	return token
}

// enter comes in by a fresh link.
func (st *site) enter() *site {
	st.t.Helper()
	resp, body := st.do("POST", "/session", `{"token":"`+st.token()+`"}`, nil)
	if resp.StatusCode != http.StatusOK {
		st.t.Fatalf("the link was refused: %s %s", resp.Status, body)
	}
	var v struct{ Key string }
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		st.t.Fatal(err)
	}
	st.key = v.Key
	return st
}

func (st *site) answer(r *queue.Request, reply string, more map[string]any) (*http.Response, string) {
	st.t.Helper()
	body := map[string]any{"id": r.ID, "digest": hex.EncodeToString(r.Digest[:]), "reply": reply, "read": true}
	maps.Copy(body, more)
	b, err := json.Marshal(body)
	if err != nil {
		st.t.Fatal(err)
	}
	return st.do("POST", "/answer", string(b), nil)
}

// stream is a connected page.
type stream struct {
	t      testing.TB
	resp   *http.Response
	events chan received
	cancel context.CancelFunc
	done   chan struct{}
}

type received struct{ name, data string }

func (st *site) open() *stream {
	st.t.Helper()
	ctx, cancel := context.WithCancel(st.t.Context())
	resp, err := st.client.Do(st.request("GET", "/events", "", nil).WithContext(ctx))
	if err != nil {
		st.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		st.t.Fatalf("no stream: %s %s", resp.Status, b)
	}
	sm := &stream{st.t, resp, make(chan received, 1000), cancel, make(chan struct{})}
	go sm.read()
	st.t.Cleanup(sm.close)
	return sm
}

func (sm *stream) read() {
	defer close(sm.done)
	defer close(sm.events)
	var e received
	sc := bufio.NewScanner(sm.resp.Body)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		line := sc.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.name = name
		} else if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.data = data
			sm.events <- e
		}
	}
}

func (sm *stream) close() {
	sm.cancel()
	sm.resp.Body.Close()
	<-sm.done
}

// next is the data of the next event of that name.
func (sm *stream) next(name string) string {
	sm.t.Helper()
	for {
		select {
		case e, ok := <-sm.events:
			if !ok {
				sm.t.Fatalf("the stream ended before %q", name)
			}
			if e.name == name {
				return e.data
			}
		case <-time.After(time.Minute):
			sm.t.Fatalf("no %q", name)
		}
	}
}

// eventually waits for what another goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
