package reverse_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/remote/reverse"
)

// older is a session of 2024-11-05; the server acknowledges a message with that
// status. data is the data of the next event.
func older(t *testing.T, status int) (w *harness, data func() string) {
	answers := make(chan string, 8)
	w = newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodPost {
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_, _ = io.WriteString(w, "Accepted")
			}
			answers <- idOf(body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /messages?session=1\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case id := <-answers:
				fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
			case <-r.Context().Done():
				return
			}
		}
	}})
	stream := w.get()
	lines := bufio.NewScanner(stream.Body)
	data = func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		t.Fatal("the stream ended: ", lines.Err())
		return ""
	}
	w.url = w.front.URL + data()
	return w, data
}

// get opens a stream; it ends with the test.
func (w *harness) get() *http.Response {
	w.t.Helper()
	r := w.request(w.t.Context(), "")
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = stream.Body.Close() })
	return stream
}

// In a session of 2024-11-05 every answer comes on the stream, ours too, and each
// message is only acknowledged.
func TestAnswersComeOnTheStream(t *testing.T) {
	w, data := older(t, http.StatusAccepted)
	for _, c := range []struct{ message, status, answer string }{
		{call(1, "ok"), "202 ", `"id":1,"result"`},
		{call(2, "no"), "202 ", `"id":2,"result":{"content":[{"type":"text","text":"Refused`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ok","Name":"no"}}`, "202 ", `"id":3,"error"`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ok","arguments":{"a":"\ud83d"}}}`, "202 ", `"id":4,"error"`},
		{`{"jsonrpc":"2.0","id":5,`, "400 ", ""},
		{call(6, "ok"), "202 ", `"id":6,"result"`},
	} {
		if got := says(w.post(c.message)); !strings.HasPrefix(got, c.status) {
			t.Errorf("%s: %s", c.message, got)
		}
		if c.answer == "" {
			continue
		}
		if got := data(); !strings.Contains(got, c.answer) {
			t.Errorf("%s: %s", c.message, got)
		}
	}
}

// Servers of that time acknowledge in more ways than one, and the stream has the
// answer all the same.
func TestEveryAcknowledgement(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusCreated, http.StatusNoContent} {
		w, data := older(t, status)
		if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "202 ") {
			t.Errorf("%d: %s", status, got)
		}
		if got := data(); !strings.Contains(got, `"id":1,"result"`) {
			t.Errorf("%d: %s", status, got)
		}
	}
}

// An address for messages that a client would read as another path of ours, or that
// is at another origin, begins no session: what is meant for one server would reach
// another.
func TestAddressesForMessages(t *testing.T) {
	for _, tt := range []struct{ at, want string }{
		{"/%2e%2e/%2e%2e/other", ""}, {"/a/.%2E/b", ""}, {"/a/%2e/b", ""}, {"/a/..%5cb", ""}, {"/a%5c..%5cb", ""},
		{"http://127.0.0.1:1/messages", ""}, {"//127.0.0.1:1/messages", ""}, {"http://u@HOST/messages", ""},
		{"/a/../b", "/~/b"}, {"/a..b?x=/../y", "/~/a..b?x=/../y"}, {"http://HOST", "/~/"}, {"messages", "/~/messages"},
	} {
		posted := make(chan string, 1)
		w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, _ string) {
			if r.Method == http.MethodPost {
				posted <- r.URL.String()
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", strings.ReplaceAll(tt.at, "HOST", r.Host))
			if w.(http.Flusher).Flush(); tt.want != "" {
				<-r.Context().Done()
			}
		}})
		lines := bufio.NewScanner(w.get().Body)
		got := ""
		for got == "" && lines.Scan() {
			got, _ = strings.CutPrefix(lines.Text(), "data: ")
			got = strings.TrimPrefix(got, "event: endpoint")
		}
		if tt.want == "" {
			if got != "" {
				t.Errorf("%s: %s", tt.at, got)
			}
			continue
		}
		if want := w.proxy.ServerPath("s") + tt.want; got != want {
			t.Errorf("%s: %s, want %s", tt.at, got, want)
			continue
		}
		w.url = w.front.URL + got
		if said := says(w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); !strings.HasPrefix(said, "202 ") {
			t.Errorf("%s: %s", tt.at, said)
			continue
		}
		if at := <-posted; "/~"+at != tt.want {
			t.Errorf("%s: posted to %s", tt.at, at)
		}
	}
}

// A server that never acknowledges a message is given up with the client's patience,
// and, where it acknowledges a call when that is done, with the stream.
func TestAnAcknowledgementThatDoesNotCome(t *testing.T) {
	ended := make(chan string, 8)
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		ended <- body
	}}, func(o *reverse.Options) { o.Patience = 50 * time.Millisecond })
	next := func() string {
		select {
		case what := <-ended:
			return what
		case <-time.After(time.Minute):
			return "the server is still being waited for"
		}
	}
	const notice = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	_ = says(w.post(notice))
	if got := next(); got != notice {
		t.Error(got)
	}
	stream := w.get()
	line, err := bufio.NewReader(stream.Body).ReadString('/')
	if err != nil {
		t.Fatal(line, err)
	}
	w.url += "/~/messages"
	if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "202 ") {
		t.Error(got)
	}
	_ = says(w.post(notice))
	if got := next(); got != notice { // and not the call, which has waited for longer
		t.Error(got)
	}
	_ = stream.Body.Close()
	if got := next() + next(); got != call(1, "ok") { // and the stream, whose request has no body
		t.Error(got)
	}
}
