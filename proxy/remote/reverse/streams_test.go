package reverse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/remote/reverse"
	"github.com/tidwall/gjson"
)

const modernMeta = `"_meta":{%s"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// modernCall is a request of 2026-07-28; rest are further members of its params,
// each with a comma behind.
func modernCall(id, tool, rest, token string) string {
	if token != "" {
		token = `"progressToken":` + token + `,`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},` + rest + fmt.Sprintf(modernMeta, token) + `}}`
}

// formApprover asks in the caller's own form.
type formApprover struct{}

func (formApprover) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	got, err := q.Client.Elicit(ctx, "let it through?", []byte(`{"type":"object","properties":{"answer":{"type":"string"}}}`))
	if err != nil || got.Action != "accept" {
		return gate.Answer{}, fmt.Errorf("no answer: %w", err)
	}
	return gate.Answer{Reply: gate.AllowOnce, Digest: q.Digest, Channel: "form"}, nil
}

func forms(o *reverse.Options) {
	o.Gate = func(server string) (reverse.Gate, error) {
		p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
		if err != nil {
			return reverse.Gate{}, err
		}
		g, err := gate.New(gate.Options{
			Policy: p, Recorder: &record{}, Approver: formApprover{},
			Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
		})
		return reverse.Gate{Session: g, End: g.Close}, err
	}
}

// retried is the request with which a caller comes back from its form.
func (w *harness) retried(id, token string) string {
	w.t.Helper()
	form := says(w.post(modernCall("1", "ask", "", `"a"`)))
	state := gjson.Get(strings.TrimPrefix(form, "200 "), "result.requestState").Raw
	if state == "" {
		w.t.Fatal("no form: ", form)
	}
	return modernCall(id, "ask", `"inputResponses":{"clawai":{"action":"accept","content":{"answer":"once"}}},"requestState":`+state+`,`, token)
}

// What the server says after a caller has come back, progress and answer, reaches
// the request it came back with.
func TestTheRetryIsAnswered(t *testing.T) {
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"a\",\"progress\":1}}\n\n")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"content\":[]}}\n\n", idOf(body))
	}}
	w := newHarness(t, back, forms)
	got := says(w.post(w.retried(`"again"`, `"b"`)))
	for _, want := range []string{": hello", `"progressToken":"b"`, `"id":"again","result":{"resultType":"complete"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if heard := back.all(); !strings.Contains(heard, `"id":1,`) || strings.Contains(heard, "again") {
		t.Error("the server heard", heard)
	}
}

// One that hangs up on the request it came back with cancels the call.
func TestTheRetryHangsUp(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	w := newHarness(t, &server{serve: func(_ http.ResponseWriter, r *http.Request, _ string) {
		close(begun)
		<-r.Context().Done()
		close(gone)
	}}, forms)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	retry := w.request(ctx, w.retried("2", ""))
	go func() {
		defer close(done)
		if resp, err := http.DefaultClient.Do(retry); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-begun
	cancel()
	<-done
	<-gone
}

// A subscription is a request that lasts: what the server says in it comes at
// once, and hanging up ends it there.
func TestSubscriptions(t *testing.T) {
	gone := make(chan struct{})
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, id := range []string{"7", "8"} { // 8 is somebody else's
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n\n", id)
		}
		fmt.Fprint(w, ": there\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := http.DefaultClient.Do(w.request(ctx, `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+fmt.Sprintf(modernMeta, "")+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	var got string
	for !strings.Contains(got, ": there") {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got += line
	}
	if !strings.Contains(got, `subscriptionId":7`) || strings.Contains(got, `subscriptionId":8`) {
		t.Error(got)
	}
	cancel()
	<-gone
}

// sessionServer begins a session; what follows is the test's.
func sessionServer(rest func(w http.ResponseWriter, r *http.Request, body string)) *server {
	return &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Mcp-Session-Id", "s1")
		if strings.Contains(body, `"initialize"`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
			return
		}
		rest(w, r, body)
	}}
}

func (w *harness) initialize() {
	w.t.Helper()
	if got := says(w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)); !strings.Contains(got, `"result"`) {
		w.t.Fatal(got)
	}
}

// do sends a request without a body in the session.
func (w *harness) do(method string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// A client whose stream broke gets again what may not have reached it, to the last
// byte what crossed; anything else that claims to be a repetition is judged.
func TestStreamsAreTakenUpAgain(t *testing.T) {
	const first = "id: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n"
	w := newHarness(t, sessionServer(func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: e0\ndata:\n\n", first)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, strings.Replace(first, "[]", "[{}]", 1), strings.Replace(first, "e1", "e2", 1))
		}
	}))
	w.initialize()
	if got := says(w.post(call(1, "ok"), "Mcp-Session-Id", "s1")); !strings.Contains(got, first) {
		t.Fatal(got)
	}
	got := says(w.do(http.MethodGet, "Mcp-Session-Id", "s1", "Last-Event-ID", "e0"))
	if strings.Count(got, `"result"`) != 1 || !strings.Contains(got, first) {
		t.Error("taken up:", got)
	}
	if !w.record.has("replayed") || !w.record.has("second_answer") {
		t.Error("not recorded")
	}
	if got := says(w.do(http.MethodGet, "Mcp-Session-Id", "s1")); strings.Contains(got, `"result"`) {
		t.Error("repeated to one that did not ask:", got)
	}
}

// What an event says besides its frame reaches the client, whatever becomes of the
// frame: where it can go on, and when.
func TestPlacesReachTheClient(t *testing.T) {
	w := newHarness(t, sessionServer(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: close\nid: a\nretry: 300\ndata: no frame\n\nid: b\ndata: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\n")
	}))
	w.initialize()
	if got := says(w.post(call(1, "ok"), "Mcp-Session-Id", "s1")); got != "200 id: a\nretry: 300\n\nid: b\n\n" {
		t.Errorf("%q", got)
	}
}

// A server that knows no sessions can ask its client, and be told to stop.
func TestAskingWithoutSessions(t *testing.T) {
	answered := make(chan string, 1)
	back := &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case strings.Contains(body, `"cancelled"`), strings.Contains(body, "notifications/cancelled"):
			w.WriteHeader(http.StatusAccepted)
		case strings.Contains(body, `"roots"`):
			w.WriteHeader(http.StatusAccepted)
			answered <- body
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
			w.(http.Flusher).Flush()
			select {
			case got := <-answered:
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"heard\":%s}}\n\n", idOf(body), got)
			case <-r.Context().Done():
			}
		}
	}}
	w := newHarness(t, back)
	resp := w.post(call(1, "ok"))
	in := bufio.NewReader(resp.Body)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "roots/list") {
		t.Fatal(line, err)
	}
	if got := says(w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)); got != "202 " {
		t.Error(got)
	}
	if got := says(w.post(`{"jsonrpc":"2.0","id":"other","result":{"roots":[]}}`)); got != "202 " {
		t.Error(got)
	}
	if got := says(w.post(`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`)); got != "202 " {
		t.Error(got)
	}
	_, _ = in.ReadString('\n')
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"heard":{"jsonrpc"`) {
		t.Fatal(line, err)
	}
	if heard := back.all(); strings.Contains(heard, "other") || strings.Contains(heard, `"requestId":5`) {
		t.Error("what belongs to no request crossed:", heard)
	}
}

// What we answer the server ourselves is a message of its own, whatever the
// request was that its question came in.
func TestOurAnswersToTheServer(t *testing.T) {
	header := make(chan http.Header, 1)
	w := newHarness(t, sessionServer(func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodPost {
			header <- r.Header
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Header.Get("Last-Event-Id") == "" {
			fmt.Fprint(w, "id: e9\ndata:\n\n")
			return
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":1,\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"evil\"}}]}}\n\n")
	}))
	w.initialize()
	_ = says(w.do(http.MethodGet, "Mcp-Session-Id", "s1"))
	_ = says(w.do(http.MethodGet, "Mcp-Session-Id", "s1", "Last-Event-ID", "e9", "Mcp-Name", "x"))
	h := <-header
	if h.Get("Accept") != "application/json, text/event-stream" || h.Get("Last-Event-Id") != "" || h.Get("Mcp-Name") != "" || h.Get("Mcp-Session-Id") != "s1" {
		t.Error(h)
	}
}

// A DELETE that the server does not allow ends nothing; one without a session is
// the server's to refuse.
func TestDelete(t *testing.T) {
	status := http.StatusMethodNotAllowed
	w := newHarness(t, sessionServer(func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(body))
	}))
	w.initialize()
	for _, want := range []struct {
		method string
		id     string
		status int
		is     int
	}{
		{http.MethodDelete, "", 405, 405},
		{http.MethodDelete, "s1", 405, 405},
		{http.MethodDelete, "unknown", 404, 200},
		{http.MethodPost, "s1", 200, 200},
		{http.MethodDelete, "s1", 200, 200},
		{http.MethodPost, "s1", 404, 200},
	} {
		status = want.is
		var resp *http.Response
		if want.method == http.MethodPost {
			resp = w.post(call(1, "ok"), "Mcp-Session-Id", want.id)
		} else if want.id == "" {
			resp = w.do(want.method)
		} else {
			resp = w.do(want.method, "Mcp-Session-Id", want.id)
		}
		if resp.StatusCode != want.status {
			t.Errorf("%+v: %s", want, says(resp))
		}
	}
}

// A stream stays one, with its id, also when the answer is the first thing in it.
func TestAStreamOfOneEvent(t *testing.T) {
	const answer = "id: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n"
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, answer)
	}})
	for range 20 {
		resp := w.post(call(1, "ok"))
		if kind, got := resp.Header.Get("Content-Type"), says(resp); kind != "text/event-stream" || got != "200 "+answer {
			t.Fatalf("%s: %q", kind, got)
		}
		if n := resp.ContentLength; n != int64(len(answer)) && n != -1 { // -1: the header did not wait for it
			t.Fatalf("a length of %d", n)
		}
	}
}

// A client that hangs up on a call that was let through ends it at the server, in
// every era.
func TestHangingUpEndsTheCall(t *testing.T) {
	for name, message := range map[string]string{"sessions": call(1, "ok"), "modern": modernCall("1", "ok", "", "")} {
		t.Run(name, func(t *testing.T) {
			begun, gone := make(chan struct{}), make(chan struct{})
			w := newHarness(t, &server{serve: func(_ http.ResponseWriter, r *http.Request, _ string) {
				close(begun)
				<-r.Context().Done()
				close(gone)
			}})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := http.DefaultClient.Do(w.request(ctx, message)); err == nil {
					_ = resp.Body.Close()
				}
			}()
			<-begun
			cancel()
			<-done
			<-gone
		})
	}
}

// Close ends a call that the client's own request carries.
func TestCloseEndsTheCall(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	w := newHarness(t, &server{serve: func(_ http.ResponseWriter, r *http.Request, _ string) {
		close(begun)
		<-r.Context().Done()
		close(gone)
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.DefaultClient.Do(w.request(t.Context(), call(1, "ok"))); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-begun
	w.proxy.Close()
	<-gone
	<-done
}

// A request of the server's under the id of the call it comes in is no answer to
// that call.
func TestARequestIsNoAnswer(t *testing.T) {
	w := newHarness(t, &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"id\":1,\"jsonrpc\":\"2.0\",\"params\":{},\"method\":\"roots/list\"}\n\n")
		fmt.Fprint(w, "data: {\"result\":{\"content\":[]},\"id\":1,\"jsonrpc\":\"2.0\"}\n\n")
	}})
	if got := says(w.post(call(1, "ok"))); strings.Count(got, "data: ") != 2 || !strings.Contains(got, "roots/list") {
		t.Error(got)
	}
}

// TestACutStreamIsOnRecord: a stream ends before the answer of its call, because the server ends it or because the
// client hangs up. What became of the call is on record, with the decision's record.
func TestACutStreamIsOnRecord(t *testing.T) {
	for name, message := range map[string]string{"sessions": call(1, "ok"), "modern": modernCall("1", "ok", "", "")} {
		for _, hangs := range []bool{false, true} {
			t.Run(fmt.Sprint(name, hangs), func(t *testing.T) {
				w := newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, _ string) {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, ": begun\n\n")
					w.(http.Flusher).Flush()
					if hangs {
						<-r.Context().Done()
					}
				}})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				resp, err := http.DefaultClient.Do(w.request(ctx, message))
				if err != nil {
					t.Fatal(err)
				}
				if hangs {
					_, _ = io.ReadFull(resp.Body, make([]byte, 1))
					cancel()
				} else if got := says(resp); !strings.Contains(got, "the stream ended before the answer") {
					t.Error(got)
				}
				_ = resp.Body.Close()
				w.comes("what became of the call", func() bool {
					w.record.mu.Lock()
					defer w.record.mu.Unlock()
					return slices.ContainsFunc(w.record.events, func(ev event.Event) bool {
						return (ev.Kind == event.Outcome || ev.Kind == event.Dropped) && string(ev.ID) == "1"
					})
				})
			})
		}
	}
}
