package reverse_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Answers by another status than 200, behind a byte order mark or beside what the client has not
// asked reach it, and what is said to a notification fails no call that waits.
func TestAnswersByAnotherStatus(t *testing.T) {
	odd := map[string]struct {
		status int
		text   string
		want   string
	}{
		"201":               {http.StatusCreated, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `"result"`},
		"202, and a body":   {http.StatusAccepted, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `"result"`},
		"202":               {http.StatusAccepted, ``, `HTTP 202`},
		"a byte order mark": {http.StatusOK, "\uFEFF" + `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `"result"`},
		"a code with a dot": {http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000.0,"message":"no"}}`, `"code":-32000,`},
		"a null result":     {http.StatusOK, `{"jsonrpc":"2.0","id":null,"result":{}}`, `"id":1,"error"`},
	}
	for name, c := range odd {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.text)
			}))
			if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, c.want) {
				t.Errorf("the client is told %s", got)
			}
		})
	}
}

// A server that answers notifications, under no id, fails no call by that.
func TestANotificationThatIsAnswered(t *testing.T) {
	noted := make(chan struct{})
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(body, `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "one")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-06-18"}}`)
		case strings.Contains(body, `"notifications/`):
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no such method"}}`)
			defer close(noted)
		default:
			<-noted
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idOf(body))
		}
	}})
	says(w.post(hello))
	answered := make(chan string)
	go func() { answered <- says(w.post(call(1, "ok"), "Mcp-Session-Id", "one")) }()
	says(w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", "one"))
	if got := <-answered; !strings.Contains(got, `"result"`) {
		t.Errorf("the call is told %s", got)
	}
	w.comes("a record", func() bool { return w.record.has("id") })
}

// A session of a local server outlives a restart, as one of a remote server does: it is begun
// anew under its id, once, and not where it was ended or the id is none of ours.
func TestLocalSessionsOutliveARestart(t *testing.T) {
	w, p := local(t, "2025-06-18") // a new process: it has begun no session
	const id = "ABCDEFGHIJKLMNOPQRSTUVWX23"
	answered := make(chan string, 2)
	for n := range 2 {
		go func() {
			answered <- says(w.post(call(n, "ok"), "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-06-18"))
		}()
	}
	s := <-p.sessions
	if got := s.hears(t); !strings.Contains(got, "notifications/initialized") {
		t.Errorf("the server hears %s first", got)
	}
	for range 2 {
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idOf(s.hears(t)))
	}
	for range 2 {
		if got := <-answered; !strings.HasPrefix(got, `200 `) || !strings.Contains(got, `"result"`) {
			t.Errorf("the client is told %s", got)
		}
	}
	if p.running() != 1 {
		t.Errorf("%d sessions run", p.running())
	}
	has := func(want, method, id string) {
		t.Helper()
		if got := says(w.bare(method, "Mcp-Session-Id", id)); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %s", method, id, got)
		}
	}
	has("404 ", http.MethodGet, "abc")
	has("404 ", http.MethodDelete, strings.Repeat("A", 26))
	has("204 ", http.MethodDelete, id)
	has("404 ", http.MethodGet, id)
	w.url = strings.Replace(w.url, "/mcp/", "/mcp/bob/", 1)
	has("404 ", http.MethodGet, id)
}

// One that the server refuses is gone.
func TestALocalSessionThatIsRefused(t *testing.T) {
	const id = "ABCDEFGHIJKLMNOPQRSTUVWX23"
	w, p := local(t, "")
	if got := says(w.post(call(1, "ok"), "Mcp-Session-Id", id)); !strings.HasPrefix(got, "404 ") {
		t.Errorf("refused: %s", got)
	}
	w.comes("its end", func() bool { return p.running() == 0 })
}

// A server without sessions cuts the stream of a call, and gives the answer on the stream that
// takes it up: it is the call's, also while another client waits under the same id.
func TestAStreamWithoutASessionIsTakenUp(t *testing.T) {
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: %s-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n", r.Header.Get("Last-Event-Id"))
		case strings.Contains(body, `"ok-other"`):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: other\ndata:\n\n")
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: mine\ndata:\n\n")
		}
	}})
	says(w.post(call(1, "ok-other")))
	if got := says(w.post(call(1, "ok"))); !strings.Contains(got, "id: mine") {
		t.Fatalf("the call is told %s", got)
	}
	for _, event := range []string{"mine", "other"} {
		resp := w.bare(http.MethodGet, "Last-Event-Id", event, "Accept", "text/event-stream")
		if got := says(resp); !strings.Contains(got, `"id":1,"result"`) {
			t.Errorf("behind %s: %s", event, got)
		}
	}
}

// A client is not sent back without a pause.
func TestRetryHasAFloor(t *testing.T) {
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 1\nretry: 0\n\nretry: 500\n\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", idOf(body))
	}})
	for name, got := range map[string]string{"POST": says(w.post(call(1, "ok"))), "GET": says(w.bare(http.MethodGet, "Accept", "text/event-stream"))} {
		if strings.Count(got, "retry: 250") == 0 || !strings.Contains(got, "retry: 500") || strings.Contains(got, "retry: 0") || strings.Contains(got, "retry: 1\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
