package reverse_test

import (
	"net/http"
	"strings"
	"testing"
)

// Whoever waits for an answer when the proxy ends gets a JSON-RPC error with words, and nothing that
// could be read as an answer.
func TestCloseAnswersWhoWaits(t *testing.T) {
	for name, c := range map[string]struct {
		message, want string
		began         func(w *harness, reached <-chan bool)
	}{
		"a question":              {call(7, "ask-me"), `the session ended meanwhile`, func(w *harness, _ <-chan bool) { <-w.person.asked }},
		"a server that is silent": {call(8, "ok"), `the session is over`, func(_ *harness, reached <-chan bool) { <-reached }},
	} {
		t.Run(name, func(t *testing.T) {
			reached, release := make(chan bool, 1), make(chan bool)
			w := newHarness(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				reached <- true
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}))
			defer close(release)
			came := w.asks(t.Context(), c.message)
			c.began(w, reached)
			w.proxy.Close()
			got := says(<-came)
			if !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":`) || !strings.Contains(got, c.want) || !strings.Contains(got, `"isError":true`) {
				t.Error(got)
			}
		})
	}
}
