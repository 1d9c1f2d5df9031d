package soak_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// server speaks Streamable HTTP of the session era as badly as it may: its streams
// are cut between events and inside them, slowed, half-closed, and begin again
// with an event that was sent already. Nothing of it is lost to a client that
// takes a stream up again.
type server struct {
	t testing.TB

	mu       sync.Mutex
	rng      *rand.Rand
	n        int
	sessions map[string]*session
	over     map[string]bool // sessions that were ended
	calls    int
	how      [modes]int // attempts, by mode
}

// session is one client's; streams are what may be resumed, by their name.
type session struct {
	heard   map[string]bool // ids of calls
	streams map[string][]string
	open    bool // the server's own stream has been asked for
}

// How one attempt at a stream goes.
const (
	whole = iota
	cut
	broken // inside an event
	slowed
	halfClosed
	twice // begins with the event before
	modes
)

func newServer(t testing.TB) *server {
	return &server{t: t, rng: rand.New(rand.NewPCG(1, 2)), sessions: make(map[string]*session), over: make(map[string]bool)}
}

func (s *server) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

// ServeHTTP answers one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var f struct {
		ID     json.RawMessage
		Method string
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &f) != nil {
			s.t.Errorf("the server heard %q, %v", body, err)
		}
	}
	if f.Method == "initialize" {
		s.begin(w, f.ID)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	at, over := s.sessions[id], s.over[id]
	s.mu.Unlock()
	switch {
	case over && r.Method == http.MethodGet:
		// It was given up with the session, and is heard only now.
		w.WriteHeader(http.StatusNotFound)
	case at == nil:
		s.t.Errorf("%s %s outside of a session", r.Method, f.Method)
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		delete(s.sessions, id)
		s.over[id] = true
		s.mu.Unlock()
	case r.Method == http.MethodGet:
		s.resume(w, r, at)
	case f.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		s.call(w, r, at, string(f.ID))
	}
}

func (s *server) begin(w http.ResponseWriter, id json.RawMessage) {
	s.mu.Lock()
	s.n++
	name := fmt.Sprintf("session-%d", s.n)
	s.sessions[name] = &session{heard: make(map[string]bool), streams: make(map[string][]string)}
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", name)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, id)
}

func note(stream string, i int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s.%d"}}`, stream, i)
}

// call hears a call, which it must hear once, and answers it: as JSON, or as a
// stream of notes with the answer at its end.
func (s *server) call(w http.ResponseWriter, r *http.Request, at *session, id string) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"answer %s"}]}}`, id, id)
	s.mu.Lock()
	if at.heard[id] {
		s.t.Errorf("call %s was heard twice", id)
	}
	at.heard[id] = true
	s.calls++
	asJSON, notes := s.rng.IntN(4) == 0, s.rng.IntN(6)
	stream := "c" + id
	for i := range notes {
		at.streams[stream] = append(at.streams[stream], note(stream, i))
	}
	at.streams[stream] = append(at.streams[stream], answer)
	s.mu.Unlock()
	if asJSON {
		s.mu.Lock()
		delete(at.streams, stream)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
		return
	}
	s.deliver(w, r, at, stream, -1)
}

// ownNotes are what the server says on its own stream.
const ownNotes = 3

// resume goes on behind an event, or opens the server's own stream.
func (s *server) resume(w http.ResponseWriter, r *http.Request, at *session) {
	last := r.Header.Get("Last-Event-Id")
	if last == "" {
		s.mu.Lock()
		first := !at.open
		at.open = true
		if first {
			for i := range ownNotes {
				at.streams["own"] = append(at.streams["own"], note("own", i))
			}
		}
		s.mu.Unlock()
		if !first {
			s.t.Error("the server's own stream was opened anew, not taken up")
		}
		s.deliver(w, r, at, "own", -1)
		return
	}
	stream, n, _ := strings.Cut(last, ".")
	i, err := strconv.Atoi(n)
	if err != nil {
		s.t.Errorf("taken up behind %q", last)
	}
	s.deliver(w, r, at, stream, i)
}

// eventText is number i of a stream; -1 is the one that comes first and says nothing.
func eventText(stream string, i int, data string) string {
	if i < 0 {
		return fmt.Sprintf("id: %s.-1\nretry: 1\ndata:\n\n", stream)
	}
	return fmt.Sprintf("id: %s.%d\ndata: %s\n\n", stream, i, data)
}

// deliver sends what comes behind event i of a stream, in one of the modes.
func (s *server) deliver(w http.ResponseWriter, r *http.Request, at *session, stream string, behind int) {
	s.mu.Lock()
	frames := at.streams[stream]
	mode := s.rng.IntN(modes)
	s.how[mode]++
	s.mu.Unlock()
	var events []string
	if behind < 0 {
		events = append(events, eventText(stream, -1, ""))
	} else if mode == twice {
		events = append(events, eventText(stream, behind, frames[behind]))
	}
	for i := behind + 1; i < len(frames); i++ {
		events = append(events, eventText(stream, i, frames[i]))
	}
	left := 0
	if (mode == cut || mode == broken || mode == halfClosed) && len(events) > 1 {
		left = s.draw(len(events) - 1) // one at least arrives
	}
	said, rest := events[:len(events)-left], events[len(events)-left:]
	if mode == halfClosed {
		s.half(w, said)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.say(w, said, mode == slowed)
	if mode == broken && len(rest) > 0 {
		_, _ = io.WriteString(w, rest[0][:s.draw(len(rest[0])-1)+1])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	if stream == "own" && len(rest) == 0 {
		<-r.Context().Done() // there is nothing more to say, for now
	}
}

func (s *server) say(w http.ResponseWriter, events []string, slowly bool) {
	ctl := http.NewResponseController(w)
	for _, e := range events {
		for slowly && len(e) > 20 {
			_, _ = io.WriteString(w, e[:20])
			_ = ctl.Flush()
			e = e[20:]
			time.Sleep(200 * time.Microsecond)
		}
		_, _ = io.WriteString(w, e)
		_ = ctl.Flush()
	}
}

// half answers on the bare connection, ends its own direction, and leaves the
// other open until the client has closed it.
func (s *server) half(w http.ResponseWriter, events []string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		s.t.Error(err)
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+strings.Join(events, ""))
	_ = conn.(*net.TCPConn).CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	_, _ = io.Copy(io.Discard, conn)
}
