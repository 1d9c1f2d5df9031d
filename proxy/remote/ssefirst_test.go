package remote_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
)

// oldServer speaks the transport of 2024-11-05 and answers what is posted to the address of its
// stream with a status of its own.
func oldServer(status int, endpoint string) http.HandlerFunc {
	say := make(chan string, 10)
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
			_ = http.NewResponseController(w).Flush()
			for {
				select {
				case data := <-say:
					fmt.Fprintf(w, "data: %s\n\n", data)
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		case r.URL.Path == "/messages":
			f := body(r)
			w.WriteHeader(http.StatusAccepted)
			if f.ID != nil {
				say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, opened)
			}
		default:
			w.WriteHeader(status)
		}
	}
}

// A server that is known to speak HTTP+SSE has its stream opened first, whatever it answers to a
// POST; one that does not speak it is reached all the same; and an endpoint that is not used
// is the reason.
func TestSSEFirst(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		known bool
		want  string
	}{
		"known, 403":             {oldServer(403, "/messages?sid=1"), true, `"result"`},
		"known, 500":             {oldServer(500, "/messages?sid=1"), true, `"result"`},
		"unknown, 405":           {oldServer(405, "/messages?sid=1"), false, `"result"`},
		"unknown, 403":           {oldServer(403, "/messages?sid=1"), false, "HTTP 403"},
		"another origin":         {oldServer(405, "http://localhost:1/messages"), false, "another origin (http://localhost:1)"},
		"known, another origin":  {oldServer(405, "http://localhost:1/messages"), true, "another origin (http://localhost:1)"},
		"known, but it is newer": {legacy(func(w http.ResponseWriter, r *http.Request) { result(w, body(r).ID, opened) }), true, `"result"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := dial(t, c.serve, func(o *remote.Options) { o.SSE = c.known })
			l.say(initialize)
			if got := l.wants(`"id":"i"`); !strings.Contains(got, c.want) {
				t.Errorf("heard %s, want %s", got, c.want)
			}
		})
	}
}
