package reverse_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// remembering is a server of the session era that knows one session for as long as it lives.
func remembering() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "known")
		case r.Header.Get("Mcp-Session-Id") != "known":
			w.WriteHeader(http.StatusNotFound)
			return
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 9\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			return
		case r.Method == http.MethodDelete:
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, idOf(string(body)))
	}
}

// A client whose session began before a restart goes on: the server knows it still. One that
// the server does not know is told, and one that was ended stays ended.
func TestSessionsOutliveARestart(t *testing.T) {
	w := newHarness(t, remembering()) // a new process: it has begun no session
	has := func(what, want string, method, id string, more ...string) {
		t.Helper()
		body := ""
		if method == http.MethodPost {
			body = call(1, "ok")
		}
		r := w.request(t.Context(), body, append([]string{"Mcp-Session-Id", id}, more...)...)
		r.Method = method
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := says(resp); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	has("a call", "200 ", http.MethodPost, "known", "Mcp-Protocol-Version", "2025-11-25")
	has("its stream, taken up", "200 ", http.MethodGet, "known", "Last-Event-Id", "7")
	has("another session", "404 ", http.MethodPost, "unknown")
	has("its stream", "404 ", http.MethodGet, "unknown")
	has("no id that a header carries", "404 ", http.MethodPost, "a b")
	w.url += "/"
	has("a slash behind the address", "200 ", http.MethodPost, "known")
	w.url = strings.Replace(w.url, "/mcp/", "/mcp/bob/", 1)
	has("another path", "404 ", http.MethodPost, "known")
	w.url = strings.Replace(w.url, "/mcp/bob/", "/mcp/", 1)
	has("its end", "200 ", http.MethodDelete, "known")
	has("after its end", "404 ", http.MethodPost, "known")
}
