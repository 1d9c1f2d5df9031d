package hub_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
)

// writes keeps what is written, write by write.
type writes struct {
	io.Writer
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.all = append(w.all, string(p))
	w.mu.Unlock()
	return w.Writer.Write(p)
}

// with is how many lines with a word each write has that has any.
func (w *writes) with(word string) (lines []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.all {
		if n := strings.Count(text, word); n > 0 {
			lines = append(lines, n)
		}
	}
	return lines
}

// told is a toy's end with what it is told.
type told struct {
	proxy.Upstream
	*writes
}

func (u told) Write(p []byte) (int, error) { return u.writes.Write(p) }

// together is a client with calls that a server hears, and answers when it is told to.
func together(t *testing.T, a *toy, toServer, toClient *writes) *harness {
	a.answer = func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			return "-"
		}
		return ""
	}
	return start(t, func(o *hub.Options) {
		o.Servers[0].Open = func() (proxy.Upstream, error) {
			up, err := a.open()
			toServer.Writer = up
			return told{up, toServer}, err
		}
		toClient.Writer = o.ClientOut
		o.ClientOut = toClient
	}, a).begin()
}

func calls(n int, name func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":%q,"arguments":{"n":%d}}}`+"\n", i, name(i), i)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// What waits for a server until it is there is judged and recorded together, and written
// together, in its order. Each call is judged for itself.
func TestWhatWaitsGoesTogether(t *testing.T) {
	const n, refused = 20, 10
	ready := make(chan struct{})
	a := &toy{id: "a", opened: func() error { <-ready; return nil }}
	toServer := &writes{}
	w := together(t, a, toServer, &writes{})
	w.send(calls(n, func(i int) string {
		if i == refused {
			return "a__secret"
		}
		return "a__x"
	}))
	w.ask(`"p"`, "ping", "{}") // the hub has read all of it
	close(ready)
	if got := w.next(`"id":"c`); !strings.Contains(got, fmt.Sprintf(`"c%d"`, refused)) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("before any answer comes %s", got)
	}
	w.comes("every call", func() bool { return a.got("tools/call") == n-1 })
	if got := toServer.with("tools/call"); !slices.Equal(got, []int{n - 1}) {
		t.Errorf("writes to the server have %v calls", got)
	}
	if got := w.record.together(event.Decision, "tools/call"); !slices.Equal(got, []int{n}) {
		t.Errorf("writes to the record have %v calls", got)
	}
	last := int64(-1)
	for _, line := range a.heardOf("tools/call") {
		at := gjson.Get(line, "params.arguments.n").Int()
		if at <= last {
			t.Errorf("call %d comes behind call %d", at, last)
		}
		last = at
	}
}

// What a server says in one read goes on together, and each answer to whom it is for. Who
// still writes for another is left the first lines of it: not so every time.
func TestWhatAServerSaysGoesTogether(t *testing.T) {
	const n, rounds = 20, 50
	a, toClient := &toy{id: "a"}, &writes{}
	w := together(t, a, &writes{}, toClient)
	var written, recorded []int
	for round := range rounds {
		w.send(calls(n, func(int) string { return "a__x" }))
		w.comes("every call", func() bool { return a.got("tools/call") == (round+1)*n })
		var answers strings.Builder
		for _, line := range a.heardOf("tools/call")[round*n:] {
			fmt.Fprintf(&answers, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%d"}]}}`+"\n",
				gjson.Get(line, "id").Raw, gjson.Get(line, "params.arguments.n").Int())
		}
		before, records := len(toClient.with("content")), len(w.record.together(event.Outcome, "tools/call"))
		a.running().say(strings.TrimSuffix(answers.String(), "\n"))
		for i := range n {
			w.next(fmt.Sprintf(`"id":"c%d"`, i), fmt.Sprintf(`"text":"%d"`, i))
		}
		sum := func() (sum int) {
			for _, n := range w.record.together(event.Outcome, "tools/call") {
				sum += n
			}
			return sum
		}
		w.comes("the record of it", func() bool { return sum() == (round+1)*n })
		written, recorded = toClient.with("content")[before:], w.record.together(event.Outcome, "tools/call")[records:]
		if len(written) == 1 && len(recorded) == 1 {
			return
		}
	}
	t.Errorf("writes to the client have %v answers, and to the record %v", written, recorded)
}

// What is long, or much, does not wait for all that has come with it.
func TestTogetherIsBounded(t *testing.T) {
	for _, c := range []struct{ calls, bytes, most int }{{200, 2 << 10, 40}, {900, 0, 256}} {
		ready := make(chan struct{})
		a := &toy{id: "a", tools: []string{"x"}, opened: func() error { <-ready; return nil }}
		w := start(t, nil, a).begin()
		for i := range c.calls {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x","arguments":{"s":%q}}}`, i, strings.Repeat("s", c.bytes)))
		}
		w.ask(`"p"`, "ping", "{}")
		close(ready)
		for range c.calls {
			w.next(`"a:x"`)
		}
		got := w.record.together(event.Decision, "tools/call")
		sum := 0
		for _, n := range got {
			sum += n
		}
		if slices.Max(got) > c.most || sum != c.calls {
			t.Errorf("%d calls of %d bytes go to the record as %v", c.calls, c.bytes, got)
		}
	}
}
