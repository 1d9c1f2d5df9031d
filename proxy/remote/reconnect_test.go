package remote_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/remote"
)

// sseServer speaks the transport of 2024-11-05, and ends its streams when told.
type sseServer struct {
	mu      sync.Mutex
	n       int
	streams map[string]*sseServerStream
	closed  bool
	heard   []string // "session method"
}

type sseServerStream struct {
	out chan string
	end chan struct{}
}

func (s *sseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case r.URL.Path != "/messages":
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		s.message(w, r)
	}
}

func (s *sseServer) stream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.n++
	id, st := fmt.Sprint("s", s.n), &sseServerStream{make(chan string, 16), make(chan struct{})}
	if s.streams == nil {
		s.streams = map[string]*sseServerStream{}
	}
	s.streams[id] = st
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: endpoint\ndata: /messages?session=%s\n\n", id)
	w.(http.Flusher).Flush()
	for {
		select {
		case text := <-st.out:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			w.(http.Flusher).Flush()
		case <-st.end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *sseServer) message(w http.ResponseWriter, r *http.Request) {
	id, f := r.URL.Query().Get("session"), body(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[id]
	if st == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.heard = append(s.heard, id+" "+f.Method)
	w.WriteHeader(http.StatusAccepted)
	switch {
	case f.Method == "slow":
	case f.Method == "initialize":
		st.out <- `{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":` + strings.Replace(opened, "2025-11-25", "2024-11-05", 1) + `}`
	case f.Method == "notifications/initialized":
		st.out <- `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + id + `"}}`
	case f.ID != nil:
		st.out <- `{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"session":"` + id + `"}}`
	}
}

// cut ends every stream, and lets none be opened while down.
func (s *sseServer) cut(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = down
	for id, st := range s.streams {
		close(st.end)
		delete(s.streams, id)
	}
}

// awaits waits until the server has heard a message.
func (s *sseServer) awaits(message string) {
	for {
		s.mu.Lock()
		heard := slices.Contains(s.heard, message)
		s.mu.Unlock()
		if heard {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *sseServer) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = false
}

// A server of 2024-11-05 that restarts, or a gateway that ends its stream, costs the
// calls in flight and no more: the session is begun anew, with nobody asking.
func TestAnSSEStreamThatEndsIsOpenedAnew(t *testing.T) {
	s := &sseServer{}
	l := dial(t, s, nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	l.wants(`"data":"s1"`)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	l.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	l.wants(`"id":2`, `"s1"`)
	s.awaits("s1 slow") // each call has a connection of its own
	s.cut(false)
	l.wants(`"id":1`, `the server ended its stream`)
	l.wants(`"data":"s2"`) // what it says outside of answers
	l.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	l.wants(`"id":3`, `"s2"`)
	l.silent() // the client has not asked twice for initialize
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := strings.Join(s.heard[len(s.heard)-3:], ", "), "s2 initialize, s2 notifications/initialized, s2 ping"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

// While the server is down a call has an error at once; the next one after that
// finds it again, however long it was away.
func TestAnSSEServerThatIsDown(t *testing.T) {
	s := &sseServer{}
	l := dial(t, s, nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	l.wants(`"data":"s1"`)
	s.cut(true)
	l.until("stream_lost")
	l.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	l.wants(`"id":1`, `the server ended its stream, and does not open another`)
	s.up()
	for n := 2; ; n++ {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, n))
		if strings.Contains(l.wants(fmt.Sprintf(`"id":%d`, n)), `"result"`) {
			break
		}
	}
}

// A client that begins anew by itself is not mixed with the session before.
func TestAClientThatInitializesAgain(t *testing.T) {
	s := &sseServer{}
	l := dial(t, s, nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	s.cut(true)
	l.until("stream_lost")
	l.say(initialize)
	l.wants(`"id":"i"`, `"error"`)
	s.up()
	l.say(initialize)
	l.wants(`"id":"i"`, `"result"`)
}

// A stream that outlives its session, as behind a balancer whose other node has
// forgotten it, says nothing of the new one.
func TestANewSessionHasAStreamOfItsOwn(t *testing.T) {
	var sessions atomic.Int32
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := fmt.Sprint("s", sessions.Load())
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%q}}\n\n", r.Header.Get("Mcp-Session-Id")+r.Header.Get("Last-Event-Id"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		switch f := body(r); {
		case f.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions.Add(1)))
			result(w, f.ID, opened)
		case r.Header.Get("Mcp-Session-Id") != now:
			w.WriteHeader(http.StatusNotFound)
		case f.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			result(w, f.ID, `{}`)
		}
	}), nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	l.wants(`"data":"s1"`)
	sessions.Add(1)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	l.both(`"id":1`, `"data":"s3"`)
}

// credentials are those of an owner whose token has been taken back.
type credentials struct{ token atomic.Int32 }

func (c *credentials) Apply(_ context.Context, r *http.Request) error {
	r.Header.Set("Authorization", fmt.Sprint("Bearer ", c.token.Load()))
	return nil
}

func (*credentials) Accepted(*http.Request) {}

func (c *credentials) Challenged(context.Context, *http.Response) (bool, error) {
	c.token.Store(2)
	return true, nil
}

// A stream that the server refuses with a token it no longer knows is opened with
// the next one.
func TestTheStreamOfANewToken(t *testing.T) {
	var valid atomic.Int32
	valid.Store(1)
	cut := make(chan struct{})
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		if token != fmt.Sprint("Bearer ", valid.Load()) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%q}}\n\n", token)
			w.(http.Flusher).Flush()
			select {
			case <-cut:
			case <-r.Context().Done():
			}
			return
		}
		switch f := body(r); {
		case f.Method == "initialize":
			result(w, f.ID, opened)
		case f.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			result(w, f.ID, `{}`)
		}
	}), func(o *remote.Options) {
		c := &credentials{}
		c.token.Store(1)
		o.Credentials = c
	})
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	l.wants(`"data":"Bearer 1"`)
	valid.Store(2)
	cut <- struct{}{}
	l.until("stream_lost")
	l.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	l.both(`"id":1`, `"data":"Bearer 2"`)
}

// A stdio client knows nothing of headers: it may call a tool that it has not listed
// in this session. The server says that headers are missing, and gets them.
func TestHeadersThatTheServerMisses(t *testing.T) {
	var lists, calls atomic.Int32
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(text)))
		f := body(r)
		switch {
		case f.Method == "tools/list" && !strings.Contains(string(text), `"cursor":"2"`):
			lists.Add(1)
			if strings.Contains(string(text), "progressToken") || !strings.Contains(string(text), "clientCapabilities") {
				t.Errorf("asked for the list with %s", text)
			}
			result(w, f.ID, `{"resultType":"complete","tools":[],"nextCursor":"2"}`)
		case f.Method == "tools/list":
			result(w, f.ID, `{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"who":{"type":"string","x-mcp-header":"Who"}}}}]}`)
		case r.Header.Get("Mcp-Param-Who") == "":
			calls.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"missing header"}}`, f.ID)
		default:
			calls.Add(1)
			result(w, f.ID, `{"resultType":"complete","content":[]}`)
		}
	}), nil)
	l.say(modern(1, "tools/call", `"name":"a","arguments":{"who":"me"}`))
	l.wants(`"id":1`, `"complete"`)
	l.say(modern(2, "tools/call", `"name":"b","arguments":{"who":"me"}`)) // no list says more of this one
	l.wants(`"id":2`, `-32020`)
	l.silent()
	if lists.Load() != 2 || calls.Load() != 3 {
		t.Errorf("%d lists and %d calls", lists.Load(), calls.Load())
	}
}

// A server that does not tell which headers it wants has the last word.
func TestHeadersThatNobodyNames(t *testing.T) {
	for name, list := range map[string]string{
		"without end": `{"resultType":"complete","tools":[],"nextCursor":"more"}`,
		"no list":     ``,
	} {
		t.Run(name, func(t *testing.T) {
			l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f := body(r)
				if f.Method == "tools/list" && list != "" {
					result(w, f.ID, list)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"missing header"}}`, f.ID)
			}), nil)
			l.say(modern(1, "tools/call", `"name":"a"`))
			l.wants(`"id":1`, `-32020`)
			if notes := strings.Join(l.noted(), "; "); !strings.Contains(notes, "tools_not_listed") {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}
