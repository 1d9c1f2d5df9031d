package reverse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

const ownersToken = "owner-0123456789abcdef"

// owned is what the harness's owner has begun and what has ended.
type owned struct {
	*harness
	begun, ended atomic.Int32
	gates        atomic.Int32 // that are open
}

// ownedBy lets nobody into the harness who names no invocation.
func ownedBy(t *testing.T, handler http.Handler, bend ...func(*reverse.Options)) *owned {
	w := &owned{}
	w.harness = newHarness(t, handler, append(bend, func(o *reverse.Options) {
		gate := o.Gate
		o.Gate = nil
		o.Invocations = &reverse.Invocations{Token: ownersToken, Begin: func(string) (reverse.Invocation, error) {
			w.begun.Add(1)
			open := new(atomic.Int32)
			return reverse.Invocation{
				Gate: func(server string) (reverse.Gate, error) {
					g, err := gate(server)
					open.Add(1)
					w.gates.Add(1)
					return reverse.Gate{Session: g.Session, End: func() { g.End(); open.Add(-1); w.gates.Add(-1) }}, err
				},
				End: func() {
					if n := open.Load(); n != 0 {
						t.Errorf("forgotten with %d gates", n)
					}
					w.ended.Add(1)
				},
			}, nil
		}}
	})...)
	return w
}

// owner makes a call of the owner's, at what follows /mcp/.
func (w *owned) owner(method, at string, said ...string) string {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.front.URL+"/"+secret+"/mcp/"+at, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if said == nil {
		said = []string{"Bearer " + ownersToken}
	}
	for _, s := range said {
		r.Header.Add("Authorization", s)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	return says(resp)
}

// at has post go to a path below /mcp/.
func (w *owned) at(path string) *owned {
	w.url = w.front.URL + "/" + secret + "/mcp/" + path
	return w
}

func begins(t *testing.T, got, status string) {
	t.Helper()
	if !strings.HasPrefix(got, status) {
		t.Errorf("%s, want %s", got, status)
	}
}

// Only the owner's token begins and ends an invocation, only under a name that is one, and
// only who names one that runs reaches a server.
func TestInvocationsAtTheDoor(t *testing.T) {
	back := &server{}
	w := ownedBy(t, back)
	for _, said := range [][]string{
		{""}, {ownersToken}, {"Bearer"}, {"Bearer "}, {"Bearer " + ownersToken[:len(ownersToken)-1]}, {"Bearer " + ownersToken + "x"}, {"bearer " + ownersToken},
		{"Bearer " + secret}, {"Bearer " + strings.ToUpper(ownersToken)}, {"Basic " + ownersToken}, {"Bearer " + ownersToken, "Bearer " + ownersToken}, {"Bearer  " + ownersToken},
	} {
		for _, method := range []string{"PUT", "DELETE", "GET", "OPTIONS", "POST"} {
			begins(t, w.owner(method, "team/one", said...), "401 ")
		}
	}
	for _, name := range []string{
		"team/..", "./one", "team/%2e%2e", "te%61m/one", "team/one%2Ftwo", "team/" + strings.Repeat("n", 129), strings.Repeat("n", 129) + "/one",
		"team/", "/one", "team/ö", "team/a~b", "team/a;b", "team/a:b", "team/%00", "team/...",
	} {
		if got := w.owner("PUT", name); !strings.HasPrefix(got, "400 ") && !strings.HasPrefix(got, "404 ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	begins(t, w.owner("PUT", "team/one/two/three"), "404 ")
	if n := w.begun.Load(); n != 0 {
		t.Fatalf("%d have begun", n)
	}

	for _, path := range []string{"s", "team/one/s", "one/s", "team/one/two/s"} {
		if got := says(w.at(path).post(call(1, "ok"))); !strings.HasPrefix(got, "404 ") && !strings.HasPrefix(got, "401 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	got := says(w.at("team/one/s").post(call(1, "ok")))
	if !strings.HasPrefix(got, `404 {"jsonrpc":"2.0","id":1,"error":{"code":-32600,`) || !strings.Contains(got, "no such invocation") {
		t.Error(got)
	}
	begins(t, w.owner("PUT", "team/one"), "201 ")
	begins(t, w.owner("PUT", "team/one"), "409 ")
	begins(t, w.owner("GET", "team/one"), "405 ")
	begins(t, says(w.at("team/one/s").post(call(1, "ok-heard"))), "200 ")
	for _, path := range []string{"Team/one/s", "team/one./s", "team/one/other", "team%2Fone/s", "team/one%2Fs", "team/%6fne/s", "team/./one/s", "one/team/s", "s"} {
		if got := says(w.at(path).post(call(2, "ok"))); strings.HasPrefix(got, "200 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	begins(t, says(w.at("team/one/s").post(call(3, "ok"), "Authorization", "Bearer "+ownersToken)), "403 ")
	begins(t, w.owner("DELETE", "team/two"), "404 ")
	begins(t, w.owner("DELETE", "team/one"), "204 ")
	begins(t, w.owner("DELETE", "team/one"), "404 ")
	begins(t, says(w.at("team/one/s").post(call(4, "ok"))), "404 ")
	if heard := back.all(); strings.Count(heard, "\n") != 0 || !strings.Contains(heard, "ok-heard") {
		t.Errorf("the server heard %s", heard)
	}
	if b, e, g := w.begun.Load(), w.ended.Load(), w.gates.Load(); b != 1 || e != 1 || g != 0 {
		t.Errorf("%d have begun, %d have ended, %d gates are open", b, e, g)
	}
}

// An MCP session of one invocation is none in another, at an address as in this process, nor
// in a later one of the same name; the end of one is no end of another.
func TestInvocationsShareNoSession(t *testing.T) {
	back := &server{serve: func(rw http.ResponseWriter, _ *http.Request, body string) {
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Mcp-Session-Id", "the-same-for-all")
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, idOf(body))
	}}
	p := &play{t: t, version: "2025-06-18", sessions: make(chan *playing, 10)}
	w := ownedBy(t, back, func(o *reverse.Options) { o.Local = map[string]reverse.Local{"local": p.run} })
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const ping = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for _, name := range []string{"team/one", "team/two", "other/one"} {
		begins(t, w.owner("PUT", name), "201 ")
	}
	for _, server := range []string{"s", "local"} {
		resp := w.at("team/one/" + server).post(initialize)
		id := resp.Header.Get("Mcp-Session-Id")
		if begins(t, says(resp), "200 "); id == "" {
			t.Fatal("no session")
		}
		begins(t, says(w.at("team/one/"+server).post(ping, "Mcp-Session-Id", id)), "20")
		for _, other := range []string{"team/two/", "other/one/"} {
			begins(t, says(w.at(other+server).post(ping, "Mcp-Session-Id", id)), "404 ")
			begins(t, says(w.at(other+server).post(call(2, "ok"), "Mcp-Session-Id", id)), "404 ")
		}
		begins(t, says(w.at("team/two/"+server).post(initialize)), "200 ")
		begins(t, w.owner("DELETE", "team/two"), "204 ")
		begins(t, says(w.at("team/one/"+server).post(ping, "Mcp-Session-Id", id)), "20")
		begins(t, w.owner("DELETE", "team/one"), "204 ")
		for _, name := range []string{"team/one", "team/two"} {
			begins(t, w.owner("PUT", name), "201 ")
		}
		begins(t, says(w.at("team/one/"+server).post(ping, "Mcp-Session-Id", id)), "404 ")
	}
	if n := p.running(); n != 0 {
		t.Errorf("%d sessions of a local server are left", n)
	}
}

// What is under way when an invocation ends is broken off and answered, the server's side, a
// person's question and a stream, and the owner hears that it has ended when all is gone.
func TestInvocationEndsUnderWay(t *testing.T) {
	began, left := make(chan string, 10), make(chan string, 10)
	back := &server{serve: func(rw http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodGet {
			body = "GET"
			rw.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(rw).Flush()
		}
		began <- body
		<-r.Context().Done()
		left <- body
	}}
	p := &play{t: t, version: "2025-06-18", sessions: make(chan *playing, 10)}
	w := ownedBy(t, back, func(o *reverse.Options) { o.Local = map[string]reverse.Local{"local": p.run} })
	begins(t, w.owner("PUT", "team/one"), "201 ")
	begins(t, w.owner("PUT", "team/two"), "201 ")
	answers := make(chan string, 10)
	send := func(method, at, body string, headers ...string) {
		r, err := http.NewRequestWithContext(t.Context(), method, w.front.URL+"/"+secret+"/mcp/"+at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		go func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				answers <- err.Error()
				return
			}
			answers <- at + " " + says(resp)
		}()
	}
	send("POST", "team/one/s", call(1, "ok"))
	<-began
	send("GET", "team/one/s", "")
	<-began
	send("POST", "team/two/s", call(2, "ok"))
	<-began
	send("POST", "team/one/s", call(3, "ask"))
	<-w.person.asked
	resp := w.at("team/one/local").post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	begins(t, says(resp), "200 ")
	one := <-p.sessions
	send("POST", "team/one/local", call(4, "ok"), "Mcp-Session-Id", session)
	<-one.heard

	begins(t, w.owner("DELETE", "team/one"), "204 ")
	if n, e := p.running(), w.ended.Load(); n != 0 || e != 1 {
		t.Errorf("%d local sessions run, %d invocations have ended", n, e)
	}
	all := ""
	for range 4 {
		all += <-answers + "\n"
	}
	for _, want := range []string{
		`team/one/s 200 {"jsonrpc":"2.0","id":1,"error"`, `team/one/s 200 {"jsonrpc":"2.0","id":3,`, "team/one/s 200 \n", "team/one/local 404 ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	<-left
	<-left
	if len(left) != 0 || len(answers) != 0 {
		t.Error("the other invocation has ended, too")
	}
	begins(t, w.owner("DELETE", "team/two"), "204 ")
	begins(t, <-answers, "team/two/s 200 ")
}

// There are as many invocations as sessions at most, and of a thousand nothing is left.
func TestThousandInvocations(t *testing.T) {
	slow.Test(t)
	w := ownedBy(t, &server{})
	const many = 1000
	all := func(do func(name string)) {
		var workers sync.WaitGroup
		names := make(chan string)
		for range 8 {
			workers.Go(func() {
				for name := range names {
					do(name)
				}
			})
		}
		for i := range many {
			names <- fmt.Sprintf("team-%d/run-%d", i%7, i)
		}
		close(names)
		workers.Wait()
	}
	all(func(name string) {
		begins(t, w.owner("PUT", name), "201 ")
		resp, err := http.Post(w.front.URL+"/"+secret+"/mcp/"+name+"/s", "application/json", strings.NewReader(call(1, "ok")))
		if err != nil {
			t.Error(err)
			return
		}
		begins(t, says(resp), "200 ")
	})
	begins(t, w.owner("PUT", "team/more"), "503 ")
	all(func(name string) { begins(t, w.owner("DELETE", name), "204 ") })
	if b, e, g := w.begun.Load(), w.ended.Load(), w.gates.Load(); b != many || e != many || g != 0 {
		t.Errorf("%d have begun, %d have ended, %d gates are open", b, e, g)
	}
	begins(t, w.owner("PUT", "team/more"), "201 ")
}

// One that nobody uses ends by itself; one that is used does not.
func TestInvocationEndsIdle(t *testing.T) {
	began := make(chan struct{})
	w := ownedBy(t, &server{serve: func(_ http.ResponseWriter, r *http.Request, _ string) {
		close(began)
		<-r.Context().Done()
	}}, func(o *reverse.Options) { o.Idle = 50 * time.Millisecond })
	begins(t, w.owner("PUT", "team/used"), "201 ")
	ctx, hangUp := context.WithCancel(t.Context())
	r := w.at("team/used/s").request(ctx, call(1, "ok"))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}()
	select {
	case <-began:
	case <-gone:
		t.Skip("the machine was too slow to use it in time")
	}
	begins(t, w.owner("PUT", "team/idle"), "201 ")
	w.comes("the end of the idle one", func() bool { return w.ended.Load() == 1 })
	begins(t, w.owner("PUT", "team/used"), "409 ")
	hangUp()
	<-gone
	w.comes("the end of the other", func() bool { return w.ended.Load() == 2 })
	begins(t, w.owner("DELETE", "team/used"), "404 ")
}

// One invocation that opens sessions without end loses its own, and no other's.
func TestInvocationTakesNoOthersSessions(t *testing.T) {
	p := &play{t: t, version: "2025-06-18", sessions: make(chan *playing, 100)}
	w := ownedBy(t, http.NotFoundHandler(), func(o *reverse.Options) {
		o.Upstreams, o.Local, o.Sessions = nil, map[string]reverse.Local{"s": p.run}, 20
	})
	begin := func(name string) string {
		t.Helper()
		resp := w.at(name + "/s").post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
		begins(t, says(resp), "200 ")
		return resp.Header.Get("Mcp-Session-Id")
	}
	const ping = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	begins(t, w.owner("PUT", "team/one"), "201 ")
	begins(t, w.owner("PUT", "team/two"), "201 ")
	one, first := begin("team/one"), begin("team/two")
	begin("team/two")
	begins(t, says(w.at("team/two/s").post(ping, "Mcp-Session-Id", first)), "202 ")
	for range 30 {
		begin("team/two")
	}
	begins(t, says(w.at("team/one/s").post(ping, "Mcp-Session-Id", one)), "202 ")
	begins(t, says(w.at("team/two/s").post(ping, "Mcp-Session-Id", first)), "404 ")
	w.comes("the end of all but its tenth", func() bool { return p.running() == 3 })
}
