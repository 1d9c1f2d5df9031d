package hub_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// What finds no room before a server that starts is answered where it can be, and recorded.
func TestFullInboxIsRecorded(t *testing.T) {
	ready := make(chan struct{})
	a := &toy{id: "a", tools: []string{"x"}}
	a.opened = func() error { <-ready; return nil }
	w := start(t, nil, a).begin()
	w.send(`{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"a__x","arguments":{}}}`)
	w.comes("a start", func() bool { return a.starts.Load() == 1 }) // so that nothing is taken out any more
	dropped := func(method string) bool {
		ev, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Dropped && ev.Method == method })
		return ok && ev.Server == "a" && ev.Code == "unavailable" && strings.Contains(ev.Reason, "wait for it already")
	}
	for range 1025 {
		w.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	}
	w.comes("a record of it", func() bool { return dropped("notifications/roots/list_changed") })
	w.send(`{"jsonrpc":"2.0","id":"late","method":"tools/call","params":{"name":"a__x","arguments":{}}}`)
	if got := w.next(`"late"`); !strings.Contains(got, "wait for it already") || !dropped("tools/call") {
		t.Error(got)
	}
	close(ready)
	w.next(`"first"`)
}
