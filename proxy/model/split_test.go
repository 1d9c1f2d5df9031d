package model_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Wherever a service pauses, the client has all events that are whole by then, byte for byte, and then the rest.
func TestEventsBeforeAPause(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, judge := range []bool{true, false} {
		for _, end := range []string{"\n", "\r\n"} {
			pauseEverywhere(ctx, t, judge, end)
		}
	}
}

func pauseEverywhere(ctx context.Context, t *testing.T, judge bool, end string) {
	t.Helper()
	event := func(text string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + end + end
	}
	whole := event("a") + ": alive" + end + end + event("tool") + event("\u00e9") + "data: [DONE]" + end + end
	for at := 1; at < len(whole); at++ {
		before := strings.LastIndex(whole[:at], end+end) // the client has at least what ends here
		if before += len(end + end); before < len(end+end) {
			before = 0
		}
		more := make(chan struct{})
		s := newSite(t, "qwen-code", judge, nil)
		s.reply = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, whole[:at])
			w.(http.Flusher).Flush()
			select {
			case <-more:
			case <-ctx.Done():
			}
			_, _ = io.WriteString(w, whole[at:])
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(`{"messages":[],"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, before)
		if _, err := io.ReadFull(resp.Body, got); err != nil {
			t.Fatalf("pause at %d: only %q came: %v", at, got, err)
		}
		close(more)
		rest, err := io.ReadAll(resp.Body)
		if all := string(got) + string(rest); err != nil || all != whole {
			t.Errorf("pause at %d: %q came: %v", at, all, err)
		}
		_ = resp.Body.Close()
		if n := s.record.count(isUnread); n != 0 {
			t.Errorf("pause at %d: %d times not looked at", at, n)
		}
	}
}
