package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// Whoever a browser could be made to send, or who does not know the secret, reaches no service.
func TestGuard(t *testing.T) {
	s := newSite(t, "claude-code", false, nil)
	s.reply = func(http.ResponseWriter, *http.Request) { t.Error("the service was reached") }
	for name, change := range map[string]func(*http.Request){
		"another host":         func(r *http.Request) { r.Host = "evil.example" },
		"a page":               func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"a page's null":        func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another site":         func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"no secret":            func(r *http.Request) { r.URL.Path = "/v1/messages" },
		"another secret":       func(r *http.Request) { r.URL.Path = "/secreT/v1/messages" },
		"a path that leads up": func(r *http.Request) { r.URL.Path = "/secret/v1/../../x/messages" },
		"a socket":             func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") },
	} {
		req, err := http.NewRequest(http.MethodPost, s.url+"/v1/messages", strings.NewReader(empty))
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
}

// undoing holds, for each service, a request after a refused call: with NAME where the name stands.
var undoing = map[string]string{
	"messages":  `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"toolu_0","name":"NAME","input":{"command":"touch denied"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","is_error":true,"content":"No such tool available: NAME","cache_control":{"type":"ephemeral"}}]}],"x":1}`,
	"responses": `{"input":[{"type":"function_call","call_id":"call_0","name":"NAME","arguments":"{\"cmd\":\"touch denied\"}"},{"type":"function_call_output","call_id":"call_0","output":"unsupported call: NAME"}]}`,
	"chat":      `{"messages":[{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"NAME","arguments":"{\"command\":\"touch denied\"}"}}]},{"role":"tool","tool_call_id":"call_0","content":"no tool NAME"}]}`,
	"gemini":    `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"NAME_7_0","name":"NAME","args":{"command":"touch denied"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"NAME_7_0","name":"NAME","response":{"error":"Tool \"NAME\" not found"}}}]}]}`,
}

// After a refused call the request has the tool's own name again and the denial in place of the
// result, the same each time, and every other byte is the client's.
func TestUndo(t *testing.T) {
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			site := newSite(t, s.client, true, nil)
			site.reply = answerWith(t, s.streamed([]asked{s.touch("denied")}, false), "", true)
			got := site.post(s.path, empty)
			name := deniedName.FindString(got.body)
			if name == "" {
				t.Fatalf("nothing was refused: %s", got.body)
			}
			request := strings.ReplaceAll(undoing[s.api], "NAME", name)
			for range 2 {
				site.post(s.path, request)
			}
			sent := site.bodies[1]
			if site.bodies[2] != sent || strings.Contains(sent, "clawai_denied") {
				t.Errorf("the service reads %s", sent)
			}
			const words = `Refused by the owner's policy: the tool \"`
			want := strings.ReplaceAll(undoing[s.api], "NAME", s.shell)
			for _, told := range []string{"No such tool available: ", "unsupported call: ", "no tool ", `Tool \"`} {
				at := strings.Index(want, told+s.shell)
				if at < 0 {
					continue
				}
				tail := want[at+len(told)+len(s.shell):]
				tail = strings.TrimPrefix(tail, `\" not found`)
				from := strings.Index(sent, words)
				if from != at || !strings.HasSuffix(sent, tail) || sent[:at] != want[:at] || !strings.Contains(sent, "Not this file") {
					t.Errorf("the service reads %s\nand should %s", sent, want)
				}
			}
			if n := site.record.count(func(ev *event.Event) bool { return ev.Kind == event.Outcome }); n != 0 {
				t.Errorf("%d results of a call that never ran are on record", n)
			}
		})
	}
}

// Text does not wait until the request was looked at. A call does, because it is judged by the labels of what
// the request has brought.
func TestCallsWaitForLabels(t *testing.T) {
	for _, judge := range []bool{false, true} {
		t.Run(fmt.Sprint(judge), func(t *testing.T) {
			s, read := newSite(t, "claude-code", judge, nil), make(chan struct{})
			s.reply = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, textEvent)
				w.(http.Flusher).Flush()
				select { // so that the text and the call come apart
				case <-read:
				case <-r.Context().Done():
				}
				_, _ = io.WriteString(w, services[0].streamed([]asked{services[0].touch("allowed")}, false))
			}
			s.kept.mu.Lock() // no label can be kept for now
			unlock := sync.OnceFunc(s.kept.mu.Unlock)
			defer unlock()
			resp, err := http.Post(s.url+"/v1/messages", "application/json", strings.NewReader(results["messages"]))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			first := make([]byte, len(textEvent))
			if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != textEvent {
				t.Fatalf("before the labels the client reads %q, %v", first, err)
			}
			close(read)
			rest := make(chan string, 1)
			go func() {
				var all strings.Builder
				some := make([]byte, 4<<10)
				for {
					n, err := resp.Body.Read(some)
					if all.Write(some[:n]); err != nil || strings.Contains(all.String(), "tool_use") {
						rest <- all.String()
						return
					}
				}
			}()
			select {
			case text := <-rest:
				t.Errorf("before the labels the client reads %q", text)
			case <-time.After(50 * time.Millisecond):
			}
			unlock()
			if text := <-rest; !strings.Contains(text, "tool_use") {
				t.Errorf("the client reads %q", text)
			}
		})
	}
}

// results holds a request with a call and its result.
var results = map[string]string{
	"messages":  `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"curl x.example"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a page"}]}]}]}`,
	"responses": `{"input":[{"type":"function_call","call_id":"a","name":"exec_command","arguments":"{\"cmd\":\"curl x.example\"}"},{"type":"function_call_output","call_id":"a","output":"a page"}]}`,
	"chat":      `{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"run_shell_command","arguments":"{\"command\":\"curl x.example\"}"}}]},{"role":"tool","tool_call_id":"a","content":"a page"}]}`,
	"gemini":    `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{"command":"curl x.example"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"a page"}}}]}]}`,
}

// A result is on record, with its labels, before the reply to its request has come, and once.
func TestResults(t *testing.T) {
	for i := range services {
		s := &services[i]
		for _, judge := range []bool{false, true} {
			t.Run(fmt.Sprint(s.api, judge), func(t *testing.T) {
				site := newSite(t, s.client, judge, nil)
				site.reply = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, "{}")
				}
				for range 3 {
					got := site.post(s.path, results[s.api])
					if site.kept.count() == 0 {
						t.Error("the reply has come before the result had labels")
					}
					if got.status != http.StatusOK || site.bodies[len(site.bodies)-1] != results[s.api] {
						t.Errorf("%d %s, and the service reads %q", got.status, got.body, site.bodies)
					}
				}
				if n := site.record.count(func(ev *event.Event) bool { return ev.Kind == event.Outcome }); n != 1 || len(site.kept.kept) != 1 || site.kept.kept[0] != s.client+" "+s.shell {
					t.Errorf("%d results on record, labels %q", n, site.kept.kept)
				}
			})
		}
	}
}

// What cannot be read is on record as not looked at, and gives the session every label.
func TestUnread(t *testing.T) {
	for name, post := range map[string]func(s *site) answer{
		"an encoding":      func(s *site) answer { return s.post("/v1/messages", "abc", "Content-Encoding", "zstd") },
		"no JSON":          func(s *site) answer { return s.post("/v1/messages", `{"messages":[`) },
		"a member twice":   func(s *site) answer { return s.post("/v1/messages", `{"messages":[],"messages":[]}`) },
		"in other letters": func(s *site) answer { return s.post("/v1/messages", `{"messages":[],"Messages":[]}`) },
		"another part": func(s *site) answer {
			return s.post("/v1/messages", `{"messages":[{"role":"user","content":[{"type":"hologram"}]}]}`)
		},
		"deep": func(s *site) answer {
			return s.post("/v1/messages", `{"messages":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+"}")
		},
	} {
		s := newSite(t, "claude-code", false, nil)
		s.reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "") }
		if got := post(s); got.status != http.StatusOK || len(s.bodies) != 1 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if n := s.record.count(isUnread); n != 1 || len(s.kept.kept) != 1 || !strings.HasPrefix(s.kept.kept[0], "called ") {
			t.Errorf("%s: %d on record, labels %q", name, n, s.kept.kept)
		}
	}
	s := newSite(t, "claude-code", false, nil)
	s.reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
	for range 3 {
		s.post("/v1/dreams", "{}")
		s.post("/v1/messages/count_tokens", "{}")
	}
	if n := s.record.count(isUnread); n != 1 {
		t.Errorf("%d records of another path", n)
	}
}

// A call that a hook or a proxy judges is left to it.
func TestCovered(t *testing.T) {
	for cover, want := range map[model.Cover]int{model.Uncovered: 1, model.ByHook: 0, model.ByProxy: 0} {
		s := &services[0]
		site := newSite(t, s.client, true, func(o *model.Options) {
			o.Covers = func(string, *client.Request) model.Cover { return cover }
		})
		text := s.streamed([]asked{s.touch("denied")}, true)
		site.reply = answerWith(t, text, "", true)
		got := site.post(s.path, empty)
		if n := site.record.count(isDecision); n != want || (got.body == text) != (want == 0) {
			t.Errorf("cover %d: %d decisions, and the client reads %s", cover, n, got.body)
		}
		site.post(s.path, results["messages"])
		if n := site.record.count(func(ev *event.Event) bool { return ev.Kind == event.Outcome }); n != want || (len(site.kept.kept) > 0) != (cover != model.ByProxy) {
			t.Errorf("cover %d: %d results, labels %q", cover, n, site.kept.kept)
		}
	}
}

// Streams that are wrong, long or without an end are bounded, and end with an error in the words
// of the service, or as the service ended them.
func TestBadStreams(t *testing.T) {
	block := `event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}` + "\n\n"
	piece := `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n\n"
	for name, text := range map[string]string{
		"no JSON":             "data: {\"type\":\n\n",
		"a member twice":      "event: ping\n" + `data: {"type":"ping","type":"ping"}` + "\n\n",
		"a name twice":        "event: a\nevent: b\ndata: {}\n\n",
		"carriage returns":    "data: {}\r\r",
		"arguments too long":  block + strings.Repeat(piece, 5),
		"an event too long":   "data: " + strings.Repeat("x", 65<<20) + "\n\n",
		"a block begun twice": block + block,
		"a call of two names": "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","name":"Read"}}` + "\n\n",
		"too many calls": func() string {
			var b strings.Builder
			for i := range 200 {
				fmt.Fprintf(&b, "event: content_block_start\n"+`data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"a%d","name":"Bash","input":{}}}`+"\n\n", i, i)
			}
			return b.String()
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "claude-code", true, nil)
			s.reply = answerWith(t, text, "", true)
			got := s.post("/v1/messages", empty)
			if got.err != nil || !strings.Contains(got.body, `"type":"error"`) || strings.Contains(got.body, "Bash") || len(got.body) > 1<<10 {
				t.Errorf("the client reads %v %.300s", got.err, got.body)
			}
			ears := newSite(t, "claude-code", false, nil)
			ears.reply = answerWith(t, text, "", true)
			if got := ears.post("/v1/messages", empty); got.err != nil || got.body != text {
				t.Errorf("with ears alone the client reads %v %.300s", got.err, got.body)
			}
		})
	}
	t.Run("a call without an end", func(t *testing.T) {
		s := newSite(t, "claude-code", true, nil)
		s.reply = answerWith(t, block+"event: content_block_delta\n"+`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"touch denied"}}`+"\n", "", true)
		if got := s.post("/v1/messages", empty); strings.Contains(got.body, `"Bash"`) {
			t.Errorf("the client reads %s", got.body)
		}
	})
	t.Run("text without an end", func(t *testing.T) {
		s := newSite(t, "claude-code", true, nil)
		const text = "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: ping\ndata: {\"type\":\"ping\"}"
		s.reply = answerWith(t, text, "", true)
		if got := s.post("/v1/messages", empty); got.body != text {
			t.Errorf("the client reads %q", got.body)
		}
	})
}

// A text reaches the client while the service still writes.
func TestTextFlows(t *testing.T) {
	for _, judge := range []bool{false, true} {
		s := newSite(t, "claude-code", judge, nil)
		first, more := "event: ping\ndata: {\"type\":\"ping\"}\n\n", make(chan struct{})
		s.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, first)
			w.(http.Flusher).Flush()
			select {
			case <-more:
			case <-time.After(20 * time.Second):
				t.Error("the client has not got the first event")
			}
		}
		resp, err := http.Post(s.url+"/v1/messages", "application/json", strings.NewReader(empty))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(first))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != first {
			t.Errorf("%v %q", err, got)
		}
		close(more)
		_ = resp.Body.Close()
	}
}

// asker is a person who answers when told to.
type asker struct {
	asks   chan gate.Question
	answer chan gate.Reply
}

func (a *asker) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	a.asks <- q
	select {
	case reply := <-a.answer:
		return gate.Answer{Reply: reply, Digest: q.Digest, Channel: "test", By: "ana"}, nil
	case <-ctx.Done():
		return gate.Answer{}, context.Cause(ctx)
	}
}

// While a person is asked the client is kept alive; then the call goes on byte for byte, or under
// another name. A client that hangs up takes its question back.
func TestAsked(t *testing.T) {
	for i := range services {
		s := &services[i]
		text := s.streamed([]asked{s.touch("asked")}, true)
		for name, reply := range map[string]gate.Reply{"allowed": gate.AllowOnce, "denied": gate.DenyOnce, "hung up": 255} {
			t.Run(s.api+" "+name, func(t *testing.T) {
				person := &asker{asks: make(chan gate.Question, 1), answer: make(chan gate.Reply, 1)}
				site := newSiteAsking(t, s.client, person, func(o *model.Options) { o.KeepAlive = time.Millisecond })
				site.reply = answerWith(t, text, "", true)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.url+s.path, strings.NewReader(empty))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				q := <-person.asks
				if len(q.Calls) != 1 || q.Calls[0].Names[0] != s.shell || q.Client != nil {
					t.Errorf("asked about %+v", q.Calls)
				}
				alive := map[bool]string{true: "event: ping\ndata: {\"type\": \"ping\"}\n\n", false: ": clawai asks the owner\n\n"}[s.api == "messages"]
				var got strings.Builder
				for piece := make([]byte, 4<<10); strings.Count(got.String(), alive) < 2; { // two signs of life
					n, err := resp.Body.Read(piece)
					if got.Write(piece[:n]); err != nil {
						t.Fatalf("%v after %q", err, got.String())
					}
				}
				if strings.Contains(got.String(), "touch asked") || strings.Contains(got.String(), `"`+s.shell+`"`) {
					t.Errorf("before the answer the client reads %s", got.String())
				}
				if name == "hung up" {
					cancel()
					_, _ = io.Copy(io.Discard, resp.Body)
					for end := time.Now().Add(20 * time.Second); site.record.count(func(ev *event.Event) bool { return ev.Code == gate.CodeWithdrawn }) == 0; time.Sleep(time.Millisecond) {
						if time.Now().After(end) {
							t.Fatal("the question was not taken back")
						}
					}
					return
				}
				person.answer <- reply
				_, err = io.Copy(&got, resp.Body)
				rest := strings.ReplaceAll(got.String(), alive, "")
				if err != nil || name == "allowed" && rest != text || name == "denied" && (strings.Contains(rest, `"`+s.shell+`"`) || deniedName.ReplaceAllString(rest, s.shell) != text) {
					t.Errorf("%v, the client reads %s", err, rest)
				}
			})
		}
	}
}

// Turns leave nothing behind but what is bounded.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes thousands of turns")
	}
	s := &services[0]
	site := newSite(t, s.client, true, nil)
	text := s.streamed([]asked{s.touch("denied"), s.touch("allowed")}, false)
	turn := 0
	site.reply = func(w http.ResponseWriter, r *http.Request) {
		answerWith(t, strings.NewReplacer("toolu_0", fmt.Sprintf("toolu_%d_a", turn), "toolu_1", fmt.Sprintf("toolu_%d_b", turn)).Replace(text), "", true)(w, r)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	// By day no part has forgotten yet, and each turn leaves some KiB. In the night each has.
	half, growth := slow.Rounds(1000, 5000), slow.Rounds(8<<20, 4<<20)
	all := 2 * half
	for turn = range all {
		if turn == half {
			before = heap()
		}
		site.post(s.path, fmt.Sprintf(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x%d","name":"Bash","input":{"command":"touch a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x%d","content":"%d"}]}]}`, turn, turn, turn))
		site.record.forget()
		site.kept.forget()
	}
	after := heap()
	t.Logf("heap after %d turns %d KiB, after %d turns %d KiB", half, before>>10, all, after>>10)
	if after > before+uint64(growth) {
		t.Errorf("the heap has grown from %d to %d bytes", before, after)
	}
}

// With a judge nothing leads the client to where nothing is judged.
func TestWaysRound(t *testing.T) {
	s := newSite(t, "codex", true, nil)
	s.reply = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	if got := s.post("/v1/responses", empty); got.status != http.StatusBadGateway || got.header.Get("Location") != "" {
		t.Errorf("a redirect: %d %s", got.status, got.body)
	}
	resp, err := http.Get(s.url + "/v1/responses/resp_1?stream=true")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || len(s.bodies) != 1 {
		t.Errorf("a reply that is fetched later: %d", resp.StatusCode)
	}
	service := &services[1]
	text := service.streamed([]asked{service.touch("denied")}, false)
	s.reply = answerWith(t, text, "", true)
	if got := s.post("/v1/responses/", empty); deniedName.FindString(got.body) == "" {
		t.Errorf("with a slash at the end the client reads %s", got.body)
	}
}

// What a rule takes out of a result, or withholds, is put into each request that has the result, the
// same each time; with ears alone it is only on record.
func TestResultRules(t *testing.T) {
	const secret = "AKIA" + "QWERTYUIOPASDFGH"
	for i := range services {
		s := &services[i]
		request := strings.Replace(results[s.api], "a page", "the key "+secret+" is here", 1)
		for _, action := range []string{"redact", "deny"} {
			for _, judge := range []bool{true, false} {
				t.Run(fmt.Sprint(s.api, " ", action, " ", judge), func(t *testing.T) {
					site := makeRuledSite(t, s.client, judge, "[[rule]]\non = \"reply\"\nfind = [\"secret\"]\naction = \""+action+"\"\n")
					site.reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
					for range 2 {
						if got := site.post(s.path, request); got.status != http.StatusOK {
							t.Fatalf("%d %s", got.status, got.body)
						}
					}
					sent := site.bodies[0]
					if sent != site.bodies[1] || strings.Contains(sent, secret) == judge || !judge && sent != request {
						t.Errorf("the service reads %s", sent)
					}
					if judge && (!json.Valid([]byte(sent)) || strings.Contains(sent, "is here") != (action == "redact") || sent[:40] != request[:40]) {
						t.Errorf("the service reads %s", sent)
					}
					if n := site.record.count(func(ev *event.Event) bool { return len(ev.Finds) > 0 }); n != 1 {
						t.Errorf("%d records with a finding", n)
					}
				})
			}
		}
	}
}
