package remote_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/proxy/remote"
)

// Calls one after the other share a connection, whatever the form of the answers.
func TestCallsShareAConnection(t *testing.T) {
	const calls = 50
	for form, write := range map[string]func(w http.ResponseWriter, answer string){
		"application/json": func(w http.ResponseWriter, answer string) { _, _ = io.WriteString(w, answer) },
		"text/event-stream": func(w http.ResponseWriter, answer string) {
			_, _ = io.WriteString(w, "data: "+answer+"\n\n")
		},
	} {
		t.Run(form, func(t *testing.T) {
			var mu sync.Mutex
			from := map[string]int{}
			l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				from[r.RemoteAddr]++
				mu.Unlock()
				id, _, _ := strings.Cut(strings.TrimPrefix(string(body), `{"jsonrpc":"2.0","id":`), ",")
				w.Header().Set("Content-Type", form)
				write(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"`+strings.Repeat("x", 100_000)+`"}]}}`)
			}), nil)
			for id := range calls {
				l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","arguments":{}}}`, id))
				l.wants(fmt.Sprintf(`"id":%d,`, id))
			}
			mu.Lock()
			defer mu.Unlock()
			if len(from) > calls/5 { // the end of a stream comes behind the answer
				t.Errorf("%d connections for %d calls", len(from), calls)
			}
		})
	}
}

// otherEnds fails the first POST of each method in the way of net/http when the request before on the
// same connection is given up: with the error of that request's context.
type otherEnds struct {
	http.Transport
	failed sync.Map // methods
}

func (o *otherEnds) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if _, there := o.failed.LoadOrStore(gjson.GetBytes(body, "method").Str, true); !there {
			return nil, context.DeadlineExceeded
		}
	}
	return o.Transport.RoundTrip(r)
}

// A connection may end with the request of another session. The session begins all the same, and a call
// that was lost with it is not said to have taken too long.
func TestAnotherRequestEndsTheConnection(t *testing.T) {
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"own"}}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		id := gjson.GetBytes(body, "id").Raw
		if id == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "s")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, id)
	}), func(o *remote.Options) { o.Transport = &otherEnds{} })
	l.say(initialize)
	l.wants(`"id":"i"`, "serverInfo")
	l.say(initiated)
	l.wants(`"data":"own"`)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}`)
	l.wants(`"id":1,`, "the connection ended")
}
