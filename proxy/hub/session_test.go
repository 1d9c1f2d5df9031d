package hub_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/hub"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What a server asks of the client says which server asks, and the answer goes to it alone,
// under the id it gave, in type and in value.
func TestServersAskTheClient(t *testing.T) {
	a, b := &toy{id: "a"}, &toy{id: "b"}
	w := start(t, nil, a, b).begin()
	w.call("1", "a__x")
	w.call("2", "b__x")
	for i, c := range []struct{ asks, want string }{
		{`"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`, `"message":"[%s] who?"`},
		{`"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}`, `"params":{"_meta":{"clawai/server":"%s"},"messages"`},
		{`"method":"sampling/createMessage","params":{"_meta":{"progressToken":"p"},"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}`, `"_meta":{"clawai/server":"%s","progressToken":"%[1]s-`},
		{`"method":"sampling/createMessage","params":{"_meta":{"a":1,"clawai/server":{"is":"another"}},"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":2}`, `"_meta":{"a":1,"clawai/server":"%s"}`},
		{`"method":"sampling/createMessage","params":{"_meta":null,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":3}`, `"params":{"_meta":{"clawai/server":"%s"},"messages"`},
		{`"method":"roots/list"`, `"roots/list"`},
	} {
		for _, y := range []*toy{a, b} {
			for _, id := range []string{"1", `"1"`} {
				y.running().say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, c.asks))
				want := c.want
				if strings.Contains(want, "%") {
					want = fmt.Sprintf(want, y.id)
				}
				got := w.next(want)
				asked := gjson.Get(got, "id").Raw
				if !strings.HasPrefix(asked, `"`+y.id+"-") {
					t.Errorf("%d: %s", i, got)
				}
				if token := gjson.Get(got, "params._meta.progressToken").Raw; token != "" {
					w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, token))
					w.comes("progress", func() bool { return y.got(`"notifications/progress"`, `"progressToken":"p"`) > 0 })
				}
				before := y.got(`"id":`+id+",", `"result":{"roots":[]}`)
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, asked))
				w.comes("the answer", func() bool { return y.got(`"id":`+id+",", `"result":{"roots":[]}`) == before+1 })
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, asked)) // and not twice
			}
		}
	}
	w.ask("9", "ping", "{}")
	if n := a.got("result") + b.got("result"); n != 24 {
		t.Errorf("%d answers came, not 24", n)
	}
}

// A server that takes its question back, or ends, leaves the client no question open.
func TestQuestionsOfServersEnd(t *testing.T) {
	w := start(t, nil, &toy{id: "a"}).begin()
	w.call("1", "a__x")
	asks := `{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`
	w.toys["a"].running().say(fmt.Sprintf(asks, 5))
	id := gjson.Get(w.next("roots/list"), "id").Raw
	w.toys["a"].running().say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	w.next("notifications/cancelled", `"requestId":`+id)
	w.toys["a"].running().say(fmt.Sprintf(asks, 6))
	id = gjson.Get(w.next("roots/list"), "id").Raw
	w.toys["a"].running().die()
	w.next("notifications/cancelled", `"requestId":`+id)
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, id)) // too late
	w.ask("2", "ping", "{}")
	if _, ok := w.record.find(func(ev event.Event) bool { return ev.Code == "unsolicited" }); !ok {
		t.Error("the late answer is not recorded")
	}
}

func TestNotificationsOfServers(t *testing.T) {
	t.Parallel()
	w := start(t, nil, &toy{id: "a", tools: []string{"x"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			r.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, f.ID))
		}
		return ""
	}}).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":"mine"}}}`)
	w.next("notifications/progress", `"progressToken":"mine"`)
	say := w.toys["a"].running().say
	say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":1}}`)
	w.next(`"logger":"a.l"`)
	say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2}}`)
	w.next(`"params":{"logger":"a","level"`)
	for i, logger := range []string{"null", `{"a":1}`, `[]`} {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":%s,"data":"l%d"}}`, logger, i))
		w.next(`"logger":"a",`, fmt.Sprintf(`"l%d"`, i))
	}
	say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"f:///x"}}`)
	w.next(`{"uri":"f:///x"}`)
	w.ask("2", "tools/list", "{}")
	for range 50 {
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	w.toys["a"].tools = []string{"x", "new"}
	w.next("notifications/tools/list_changed")
	if got := fmt.Sprint(names(w.ask("3", "tools/list", "{}"))); got != "[a__x a__new]" {
		t.Error(got)
	}
	w.ask("4", "logging/setLevel", `{"level":"error"}`)
	w.comes("the level", func() bool { return w.toys["a"].got("logging/setLevel", `{"level":"error"}`) == 1 })
	w.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	w.comes("the change of roots", func() bool { return w.toys["a"].got("roots/list_changed") == 1 })
	sent := 0
	for i := range 20 { // more than one change a moment is never told of
		w.ask(fmt.Sprint(100+i), "ping", "{}")
		select {
		case line := <-w.lines:
			if strings.Contains(line, "list_changed") {
				sent++
			}
		default:
		}
	}
	if sent > 0 {
		t.Errorf("%d more changes", sent)
	}
}

// What is in flight at a server that ends is answered, never sent again, and the others do
// not notice. The next call starts it anew, when it has been left alone for a moment.
func TestServerThatEndsIsStartedAgain(t *testing.T) {
	slow.Test(t)
	a := &toy{id: "a", tools: []string{"x"}, answer: func(_ *running, f *frame.Frame) string {
		if strings.Contains(string(f.Params), `"hang"`) {
			return "-"
		}
		return ""
	}}
	w := start(t, nil, a, &toy{id: "b"}).begin()
	w.ask("0", "tools/list", "{}")
	w.ask("100", "logging/setLevel", `{"level":"error"}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__hang"}}`)
	w.comes("the call", func() bool { return a.got(`"hang"`) == 1 })
	a.running().die()
	if got := w.next(`"id":1,`); !strings.Contains(got, "server a: it ended: exit code 3") {
		t.Error(got)
	}
	if got := w.call("2", "b__x"); !strings.Contains(got, "b:x") {
		t.Error(got)
	}
	if got := w.call("3", "a__x"); !strings.Contains(got, "it is tried again in") {
		t.Error(got)
	}
	n := 3
	w.comes("the second start", func() bool {
		n++
		return strings.Contains(w.call(fmt.Sprint(n), "a__x"), "a:x")
	})
	if a.starts.Load() != 2 || a.got(`"hang"`) != 1 || a.got("initialize\"") != 2 || a.got("logging/setLevel") != 2 {
		t.Errorf("%d starts: %q", a.starts.Load(), a.heard)
	}
}

// A server that closes its output and lives on answers nothing more: its calls fail at once.
func TestAServerThatClosesItsOutput(t *testing.T) {
	a := &toy{id: "a", tools: []string{"x"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method != "tools/call" {
			return ""
		}
		_ = r.out.Close()
		return "-"
	}}
	w := start(t, nil, a).begin()
	w.ask("0", "tools/list", "{}")
	if got := w.call("1", "a__x"); !strings.Contains(got, "server a: it closed its output") {
		t.Error(got)
	}
	w.comes("its end", func() bool { return a.running().closed.Load() })
}

func TestIdleServerIsStopped(t *testing.T) {
	a := &toy{id: "a", tools: []string{"x"}}
	w := start(t, func(o *hub.Options) { o.Servers[0].Idle = 20 * time.Millisecond }, a).begin()
	w.call("1", "a__x")
	first := a.running()
	w.comes("the stop", first.closed.Load)
	if got := w.call("2", "a__x"); !strings.Contains(got, "a:x") || a.starts.Load() != 2 {
		t.Error(got)
	}
}

func TestServerThatIsBusyIsNotStopped(t *testing.T) {
	free := make(chan struct{})
	a := &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			<-free
		}
		return ""
	}}
	w := start(t, func(o *hub.Options) { o.Servers[0].Idle = time.Millisecond }, a, &toy{id: "b"}).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`)
	for i, began := 0, time.Now(); time.Since(began) < 50*time.Millisecond; i++ {
		w.call(fmt.Sprint(i+10), "b__x")
	}
	close(free)
	if got := w.next(`"id":1,`); !strings.Contains(got, "a:x") {
		t.Error(got)
	}
}

// A question about a call of one server keeps nothing else waiting; the client may take
// the call back, and a server that ends takes the question with it.
func TestCallsThatWaitForAPerson(t *testing.T) {
	a := &toy{id: "a"}
	w := start(t, nil, a, &toy{id: "b"}).begin()
	ask := func(id int) gate.Question {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__ask","arguments":{"n":%[1]d},"_meta":{"progressToken":"t%[1]d"}}}`, id))
		q := <-w.person.asked
		if q.Server != "a" {
			t.Errorf("asked about server %q", q.Server)
		}
		return q
	}
	ask(1)
	w.next(`"progressToken":"t1"`)
	if got := w.call("2", "b__x"); !strings.Contains(got, "b:x") {
		t.Error(got)
	}
	w.person.answers <- gate.AllowOnce
	if got := w.next(`"id":1,`); !strings.Contains(got, "a:ask") {
		t.Error(got)
	}
	ask(3)
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	withdrawn := func(id string) func() bool {
		return func() bool {
			_, ok := w.record.find(func(ev event.Event) bool { return ev.Code == gate.CodeWithdrawn && string(ev.ID) == id })
			return ok
		}
	}
	w.comes("the withdrawal", withdrawn("3")) // which the connection numbers as the client does: 1 was initialize
	ask(4)
	a.running().die()
	w.comes("the end of the question", withdrawn("4"))
	if got := w.next(`"id":4,`); !strings.Contains(got, "server a: it ended") {
		t.Error(got)
	}
	if a.got(`"n":3`)+a.got(`"n":4`) > 0 {
		t.Error("a call crossed that nobody allowed")
	}
}

// Of a call that was taken back nothing is left, whether its server ever answers or not.
func TestNothingIsLeftOfACancelledCall(t *testing.T) {
	a := &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
		if strings.Contains(string(f.Params), `"hang"`) {
			return "-"
		}
		return ""
	}}
	w := start(t, func(o *hub.Options) { o.Servers[0].Idle = 20 * time.Millisecond }, a, &toy{id: "b"}).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__hang","_meta":{"progressToken":"p"}}}`)
	w.comes("the call", func() bool { return a.got(`"hang"`) == 1 })
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := w.call("1", "b__x"); !strings.Contains(got, "b:x") {
		t.Error(got)
	}
	w.comes("the cancellation", func() bool { return a.got("notifications/cancelled") == 1 })
	w.comes("the stop", a.running().closed.Load)
	w.cancel()
	w.end()
	for line := range w.lines {
		t.Errorf("the client was told %s", line)
	}
}

func TestIdsInFlightAreNotTakenTwice(t *testing.T) {
	free := make(chan struct{})
	a := &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			<-free
		}
		return ""
	}}
	w := start(t, nil, a, &toy{id: "b"}).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`)
	if got := w.call("1", "b__x"); !strings.Contains(got, "still in flight") || w.toys["b"].got("tools/call") > 0 {
		t.Error(got)
	}
	close(free)
	if got := w.next(`"id":1,`); !strings.Contains(got, "a:x") {
		t.Error(got)
	}
}

// The client's input may end behind its last request.
func TestLastRequestsAreAnswered(t *testing.T) {
	w := start(t, nil, &toy{id: "a", tools: []string{"x"}}).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x"}}`)
	_ = w.in.Close()
	w.next(`"id":2,`)
	w.end()
	if !w.toys["a"].running().closed.Load() {
		t.Error("the server was not closed")
	}
}

func TestArraysAreTakenApart(t *testing.T) {
	w := start(t, nil, &toy{id: "a"}, &toy{id: "b"})
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	w.next(`"protocolVersion":"2025-03-26"`)
	w.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b__x"}}]`)
	seen := w.next("id") + w.next("id")
	if !strings.Contains(seen, "a:x") || !strings.Contains(seen, "b:x") || strings.Contains(seen, "[{\"jsonrpc") {
		t.Error(seen)
	}
}

// However calls, answers, cancellations and questions of three servers come in between one
// another: each answer is its asker's, and a cancellation only the call's whose it is.
func TestInterleaving(t *testing.T) {
	slow.Test(t)
	for round := range uint64(slow.Rounds(2, 100)) { //nolint:gosec // not negative
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			for client := range uint64(3) { // at the same time
				t.Run(fmt.Sprint(client), func(t *testing.T) {
					t.Parallel()
					interleave(t, 3*round+client)
				})
			}
		})
	}
}

func interleave(t *testing.T, seed uint64) {
	type held struct {
		id   string
		call string // the number in its arguments
	}
	var mu sync.Mutex
	open, ownID := map[string][]held{}, map[string]string{}
	var toys []*toy
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		toys = append(toys, &toy{id: id, answer: func(r *running, f *frame.Frame) string {
			if f.Method != "tools/call" {
				return ""
			}
			mu.Lock()
			defer mu.Unlock()
			n := gjson.GetBytes(f.Params, "arguments.n").Raw
			open[r.id] = append(open[r.id], held{string(f.ID), n})
			ownID[r.id+"/"+n] = string(f.ID)
			return "-"
		}})
	}
	w := start(t, nil, toys...).begin()
	r := rand.New(rand.NewPCG(seed, 7))
	const calls = 400
	at, cancelled, asked := map[string]string{}, map[string]bool{}, map[string]bool{}
	answerOne := func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, i := range r.Perm(len(toys)) {
			y := toys[i]
			if n := len(open[y.id]); n > 0 {
				j := r.IntN(n)
				h := open[y.id][j]
				open[y.id] = append(open[y.id][:j], open[y.id][j+1:]...)
				mu.Unlock() // the toy may have to hear something before it is heard
				defer mu.Lock()
				y.running().say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"is":"%s/%s","client":%d}}`, h.id, y.id, h.call, seed))
				return true
			}
		}
		return false
	}
	for n := range calls {
		y := toys[r.IntN(len(toys))]
		id := fmt.Sprint(n)
		if r.IntN(2) == 0 {
			id = fmt.Sprintf("%q", id)
		}
		at[id] = fmt.Sprintf("%s/%d", y.id, n)
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s__x","arguments":{"n":%d}}}`, id, y.id, n))
		switch r.IntN(6) {
		case 0:
			cancelled[id] = true
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"n%d."}}`, id, n))
		case 1:
			if now := y.running(); now != nil {
				asked[fmt.Sprintf("%s:%d", y.id, n)] = true
				now.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, n))
			}
		case 2, 3:
			answerOne()
		}
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"b__x","arguments":{"n":%d}}}`, calls))
	w.comes("the last call", func() bool { return w.toys["b"].got(fmt.Sprintf(`{"n":%d}`, calls)) == 1 })
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"last","reason":"the last"}}`)
	w.comes("its cancellation", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return w.toys["b"].got(`"the last"`, `"requestId":`+ownID[fmt.Sprintf("b/%d", calls)]+",") == 1
	})
	answered, last := map[string]bool{}, time.Now()
	for time.Since(last) < 300*time.Millisecond || len(answered) < calls-len(cancelled) && time.Since(last) < patience {
		answerOne()
		select {
		case line := <-w.lines:
			last = time.Now()
			m := gjson.Parse(line)
			id := m.Get("id").Raw
			switch {
			case m.Get("method").String() == "roots/list":
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[],"to":%s}}`, id, id))
			case answered[id]:
				t.Errorf("%s is answered twice", id)
			default:
				answered[id] = true
				if got := m.Get("result.is").String(); got != at[id] || m.Get("result.client").Uint() != seed {
					t.Errorf("%s is %q, not %q: %s", id, got, at[id], line)
				}
			}
		case <-time.After(5 * time.Millisecond):
		}
	}
	for id, what := range at {
		if !answered[id] && !cancelled[id] {
			t.Errorf("%s (%s) has no answer", id, what)
		}
	}
	for id := range cancelled {
		server, n, _ := strings.Cut(at[id], "/")
		if w.toys[server].got("notifications/cancelled", `"n`+n+`."`) > w.toys[server].got("notifications/cancelled", `"n`+n+`."`, `"requestId":`+ownID[at[id]]+",") {
			t.Errorf("%s is cancelled under another id than %s", at[id], ownID[at[id]])
		}
		for _, y := range toys {
			if got := y.got("notifications/cancelled", `"n`+n+`."`); got > 0 && y.id != server {
				t.Errorf("the cancellation of %s reached %s", at[id], y.id)
			}
		}
	}
	for key := range asked {
		server, n, _ := strings.Cut(key, ":")
		for _, y := range toys {
			got := y.got(`"id":`+n+`,"result":{"roots":[],"to":"`+server+`-`) == 1
			if got != (y.id == server) {
				t.Errorf("the answer to %s: at %s %v", key, y.id, got)
			}
		}
	}
}
