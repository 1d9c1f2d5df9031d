package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
)

// member is a toy as a configuration has it.
func (w *harness) member(y *toy, digest string) hub.Server {
	w.toys[y.id] = y
	return hub.Server{ID: y.id, Prefix: y.id, Open: y.open, Digest: digest}
}

// waiting is a toy whose calls are answered when they are let go.
func waiting(id string) (y *toy, let chan struct{}) {
	let = make(chan struct{})
	return &toy{id: id, tools: []string{"read"}, answer: func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			<-let
		}
		return ""
	}}, let
}

func (w *harness) list() string {
	return fmt.Sprint(names(w.ask(`"list"`, "tools/list", "{}")))
}

// Servers come, change and go while the others do what they do.
func TestUpdate(t *testing.T) {
	slow.Test(t)
	updates := make(chan []hub.Server)
	a, let := waiting("a")
	b, c := &toy{id: "b", tools: []string{"read"}}, &toy{id: "c", tools: []string{"read"}}
	w := start(t, func(o *hub.Options) { o.Updates = updates }, a, b).begin()
	if got := w.list(); got != "[a__read b__read]" {
		t.Fatal(got)
	}
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__read","arguments":{}}}`)
	w.comes("the call", func() bool { return a.running().got("tools/call") == 1 })

	updates <- []hub.Server{w.member(c, ""), w.member(a, "")} // b goes, c comes, a stays
	w.next("notifications/tools/list_changed")
	if got := w.call("2", "b__read"); !strings.Contains(got, "rules see no advertised names") {
		t.Error(got)
	}
	if got := w.call("3", "c__read"); !strings.Contains(got, "c:read") {
		t.Error(got)
	}
	w.comes("the end of b", b.running().closed.Load)
	let <- struct{}{}
	if got := w.next(`"id":1,`); !strings.Contains(got, "a:read") || a.starts.Load() != 1 {
		t.Errorf("started %d times: %s", a.starts.Load(), got)
	}
	if got := w.list(); got != "[c__read a__read]" {
		t.Error(got)
	}

	was := c.running()
	updates <- []hub.Server{w.member(c, "other"), w.member(a, "")}
	w.next("notifications/tools/list_changed")
	w.comes("the end of the former c", was.closed.Load)
	if got := w.call("4", "c__read"); !strings.Contains(got, "c:read") || c.starts.Load() != 2 {
		t.Errorf("started %d times: %s", c.starts.Load(), got)
	}
	updates <- nil
	w.next("notifications/tools/list_changed")
	if got := w.list(); got != "[]" {
		t.Error(got)
	}
	w.comes("the end of a", a.running().closed.Load)
}

// A server that has left answers what it was asked before.
func TestUpdateLetsServersFinish(t *testing.T) {
	slow.Test(t)
	updates := make(chan []hub.Server)
	a, let := waiting("a")
	w := start(t, func(o *hub.Options) { o.Updates = updates }, a).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__read","arguments":{}}}`)
	w.comes("the call", func() bool { return a.running() != nil && a.running().got("tools/call") == 1 })
	updates <- nil
	w.next("notifications/tools/list_changed")
	let <- struct{}{}
	if got := w.next(`"id":1,`); !strings.Contains(got, "a:read") {
		t.Error(got)
	}
	w.comes("its end", a.running().closed.Load)
}

// One that has not even begun is not waited for longer, whoever waits for it.
func TestUpdateGivesUpWhatHangs(t *testing.T) {
	hub.SetLeaveGrace(t, 10*time.Millisecond)
	for _, hangs := range []string{"initialize", "tools/list"} {
		updates := make(chan []hub.Server)
		a := &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
			if f.Method == hangs {
				return "-"
			}
			return ""
		}}
		w := start(t, func(o *hub.Options) { o.Updates, o.Servers[0].Timeout, o.ListWait = updates, time.Hour, time.Hour }, a).begin()
		method, want := "tools/list", `"clawai/absent":{"a":`
		if hangs == "initialize" {
			method, want = "tools/call", "it is no longer in the configuration"
		}
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"a__x"}}`, method))
		w.comes("the request", func() bool { return a.got(hangs) == 1 })
		updates <- nil
		if got := w.next(`"id":1,`); !strings.Contains(got, want) {
			t.Error(got)
		}
		w.comes("its end", a.running().closed.Load)
		w.leave()
	}
}

// closing is a server that takes its time to end.
type closing struct {
	proxy.Upstream
	begun, let chan struct{}
}

func (c *closing) Close(ctx context.Context) error {
	c.begun <- struct{}{}
	<-c.let
	return c.Upstream.Close(ctx)
}

// A server that has left is not started for what waited for it.
func TestUpdateStartsNoneThatHasLeft(t *testing.T) {
	t.Parallel()
	updates := make(chan []hub.Server)
	a, at := &toy{id: "a"}, closing{begun: make(chan struct{}, 10), let: make(chan struct{})}
	w := start(t, func(o *hub.Options) {
		o.Updates, o.Servers[0].Idle = updates, time.Millisecond
		o.Servers[0].Open = func() (proxy.Upstream, error) {
			up, err := a.open()
			return &closing{up, at.begun, at.let}, err
		}
	}, a).begin()
	w.call("1", "a__x")
	<-at.begun
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x"}}`)
	w.ask("3", "ping", "{}") // behind it
	updates <- nil
	w.next("notifications/tools/list_changed")
	close(at.let)
	if got := w.next(`"id":2,`); !strings.Contains(got, "it is no longer in the configuration") || a.starts.Load() != 1 {
		t.Errorf("started %d times: %s", a.starts.Load(), got)
	}
}
