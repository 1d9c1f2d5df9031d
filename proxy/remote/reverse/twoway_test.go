package reverse_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// In a session of 2024-11-05 every answer comes on the stream, ours too, and each
// message is only acknowledged.
func TestAnswersComeOnTheStream(t *testing.T) {
	answers := make(chan string, 8)
	w := newWorld(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
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
	r := w.request(t.Context(), "")
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewScanner(stream.Body)
	data := func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		t.Fatal("the stream ended: ", lines.Err())
		return ""
	}
	w.url = w.front.URL + data()
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
