package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A server that goes on when nobody waits any more, behind an acknowledgement, a
// refusal or the answer itself, is hung up on: each message would cost a connection.
func TestAServerThatDoesNotEnd(t *testing.T) {
	slow.Test(t)
	for name, tt := range map[string]struct {
		said   string
		status int
		kind   string
		text   string
		want   string
	}{
		"an acknowledgement": {`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, http.StatusAccepted, "text/plain", "wait", ""},
		"a lie":              {ask, http.StatusOK, "text/plain", "wait", `"id":1,"error"`},
		"the answer": {
			ask, http.StatusOK, "text/event-stream",
			"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n\n: wait\n\n", `"id":1,"result"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body) // what shows that we hang up is read behind it
				w.Header().Set("Content-Type", tt.kind)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.text)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(over)
			}), nil)
			l.say(tt.said)
			if tt.want != "" {
				l.wants(tt.want)
			}
			select {
			case <-over:
			case <-time.After(time.Minute):
				t.Error("the connection is still held")
			}
		})
	}
}

// A stream is not taken up with an event id that no header can carry, or that is
// longer than the stream was worth.
func TestEventIDsThatCannotBeSaid(t *testing.T) {
	for _, id := range []string{"\x01\x1b[2J", "a\x7f", strings.Repeat("z", 1<<20)} {
		l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				t.Errorf("taken up with %.20q", r.Header.Get("Last-Event-Id"))
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: %s\nretry: 0\n\n", id)
		}), nil)
		l.say(ask)
		l.wants(`"id":1,"error"`, "the stream ended before the answer")
	}
}
