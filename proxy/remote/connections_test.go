package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
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
