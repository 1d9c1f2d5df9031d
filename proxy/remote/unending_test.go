package remote_test

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// A server that goes on when nobody waits any more, behind an acknowledgement, a
// refusal or the answer itself, is hung up on: each message would cost a connection.
func TestAServerThatDoesNotEnd(t *testing.T) {
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
			case <-time.After(10 * time.Second):
				t.Error("the connection is still held")
			}
		})
	}
}
