package soak_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/sse"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// nobody answers no question.
type nobody struct{}

func (nobody) Ask(context.Context, gate.Question) (gate.Answer, error) {
	return gate.Answer{}, errors.New("nobody is asked")
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func callOf(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`, id)
}

// bridge runs each session as clawai proxy -- https://… does.
func bridge(t *testing.T, back string, r *record) (session func(n int), end func()) {
	carry := &http.Transport{MaxIdleConnsPerHost: 16}
	return func(n int) {
		up, err := remote.Dial(remote.Options{URL: address(t, back), Transport: carry, Patience: 10 * time.Millisecond})
		if err != nil {
			t.Error(err)
			return
		}
		fromClient, in := io.Pipe()
		out, toClient := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- proxy.Run(t.Context(), proxy.Options{
				ClientIn: fromClient, ClientOut: toClient, Server: up, Gate: newGate(t, r), Limits: frame.DefaultLimits(), Name: "s",
			})
			_ = toClient.Close()
		}()
		y := newTally(t, fmt.Sprintf("session %d", n))
		talk(y, in, bufio.NewReader(out), n%2 == 0)
		_ = in.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}, carry.CloseIdleConnections
}

// talk is one session of a client that speaks lines. With all, the calls are in
// flight together.
func talk(y *tally, in io.Writer, out *bufio.Reader, all bool) {
	say := func(line string) { _, _ = io.WriteString(in, line+"\n") }
	until := func(done func() bool) {
		for !done() {
			line, err := out.ReadString('\n')
			if err != nil {
				y.t.Errorf("%s: %v", y.name, err)
				return
			}
			y.take(strings.TrimSpace(line))
		}
	}
	say(initialize)
	until(func() bool { return len(y.answers) == 1 })
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i := 1; i <= callsEach; i++ {
		say(callOf(i))
		if !all {
			until(func() bool { return len(y.answers) == 1+i })
		}
	}
	until(func() bool { return len(y.answers) == 1+callsEach && y.notes["own"] == ownNotes })
}

// reverseProxy serves all sessions as clawai proxy --listen does.
func reverseProxy(t *testing.T, back string, r *record) (session func(n int), end func()) {
	const secret = "0123456789abcdef"
	front := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(front.Listener.Addr().String(), ":")
	carry := &http.Transport{MaxIdleConnsPerHost: 16}
	p, err := reverse.New(reverse.Options{
		Upstreams: map[string]remote.Options{"s": {URL: address(t, back), Transport: carry}},
		Secret:    secret, Port: port, Hosts: []string{"127.0.0.1"},
		Gate: func(string) (reverse.Gate, error) {
			g := newGate(t, r)
			return reverse.Gate{Session: g, End: g.Close}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	front.Config.Handler = p
	front.Start()
	mine := &http.Transport{MaxIdleConnsPerHost: 32}
	c := &http.Client{Transport: mine}
	return func(n int) {
			v := &visitor{y: newTally(t, fmt.Sprintf("session %d", n)), http: c, at: front.URL + p.ServerPath("s"), n: n}
			v.session()
		}, func() {
			mine.CloseIdleConnections()
			p.Close()
			front.CloseClientConnections()
			front.Close()
			carry.CloseIdleConnections()
		}
}

// visitor is a client that speaks HTTP, and hangs up itself now and then.
type visitor struct {
	y    *tally
	http *http.Client
	at   string
	id   string
	n    int
}

func (v *visitor) send(ctx context.Context, method, body, last string) *http.Response {
	r, err := http.NewRequestWithContext(ctx, method, v.at, strings.NewReader(body))
	if err != nil {
		v.y.t.Error(err)
		return nil
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if v.id != "" {
		r.Header.Set("Mcp-Session-Id", v.id)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := v.http.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			v.y.t.Errorf("%s: %v", v.y.name, err)
		}
		return nil
	}
	return resp
}

func (v *visitor) session() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if resp := v.send(ctx, http.MethodPost, initialize, ""); resp != nil {
		v.id = resp.Header.Get("Mcp-Session-Id")
		_ = resp.Body.Close()
	}
	own, stop := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		v.follow(own, v.send(own, http.MethodGet, "", ""), func() bool { return v.y.count("own") == ownNotes })
	}()
	for i := 1; i <= callsEach; i++ {
		id := fmt.Sprint(i)
		v.follow(ctx, v.send(ctx, http.MethodPost, callOf(i), ""), func() bool { return v.y.answered(id) })
	}
	<-heard
	stop()
	if resp := v.send(ctx, http.MethodDelete, "", ""); resp != nil {
		_ = resp.Body.Close()
	}
}

// follow reads an answer to its end, taking its stream up again where it ended.
func (v *visitor) follow(ctx context.Context, resp *http.Response, done func() bool) {
	last := ""
	for tries := 0; resp != nil && tries < 50; tries++ {
		if resp.StatusCode != http.StatusOK {
			v.y.t.Errorf("%s: HTTP %s", v.y.name, resp.Status)
			return
		}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				v.y.t.Errorf("%s: %v", v.y.name, err)
			}
			v.y.take(strings.TrimSpace(string(body)))
			return
		}
		last = v.read(resp, last, tries)
		_ = resp.Body.Close()
		if done() || ctx.Err() != nil {
			return
		}
		resp = v.send(ctx, http.MethodGet, "", last)
	}
	v.y.t.Errorf("%s: not answered; the last event is %q", v.y.name, last)
}

// read takes the events of one attempt. Now and then it hangs up in the middle, or
// reads slowly.
func (v *visitor) read(resp *http.Response, last string, tries int) string {
	events := 0
	for in := sse.NewReader(resp.Body, 1<<20); ; events++ {
		if (v.n+tries)%5 == 0 && events == 2 {
			return last
		}
		if (v.n+tries)%7 == 0 {
			time.Sleep(time.Millisecond)
		}
		e, err := in.ReadEvent()
		if err != nil {
			return last
		}
		if e.HasID && e.ID == last {
			continue // the server began with it: it has been taken
		}
		if e.HasID {
			last = e.ID
		}
		if e.HasData && len(e.Data) > 0 {
			v.y.take(string(e.Data))
			if strings.HasPrefix(last, "own.") && v.y.count("own") == ownNotes {
				return last
			}
		}
	}
}

func (y *tally) count(stream string) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.notes[stream]
}

func (y *tally) answered(id string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.answers[id] > 0
}
