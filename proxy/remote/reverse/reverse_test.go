package reverse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools is a real server. What it is asked it asks the client, when told to.
func tools() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}`)
	s.AddTool(&mcp.Tool{Name: "ok", InputSchema: schema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok " + string(r.Params.Arguments)}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "no", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("a denied call reached the server")
	})
	closed := new(bool)
	s.AddTool(&mcp.Tool{Name: "ok-marked", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{OpenWorldHint: closed}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "closed"}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "ok-sample", InputSchema: schema}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct{ Text string }
		_ = json.Unmarshal(r.Params.Arguments, &args)
		got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
			{Role: "user", Content: &mcp.TextContent{Text: args.Text}},
		}})
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "not sampled: " + err.Error()}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sampled: " + got.Content.(*mcp.TextContent).Text}}}, nil
	})
	return s
}

func connect(t *testing.T, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "hello"}}, nil
		},
	})
	session, err := c.Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func text(t *testing.T, s *mcp.ClientSession, tool, arg string) string {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": arg}})
	if err != nil {
		return "error: " + err.Error()
	}
	return got.Content[0].(*mcp.TextContent).Text
}

// The SDK's own client and server do not notice what stands between them, but
// for what the rules deny.
func TestRealPeers(t *testing.T) {
	back := tools()
	get := func(*http.Request) *mcp.Server { return back }
	for name, handler := range map[string]http.Handler{
		"sessions":  mcp.NewStreamableHTTPHandler(get, nil),
		"JSON":      mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"stateless": mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}),
		"SSE":       mcp.NewSSEHandler(get, nil),
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, handler)
			var over mcp.Transport = &mcp.StreamableClientTransport{Endpoint: w.url}
			if name == "SSE" {
				over = &mcp.SSEClientTransport{Endpoint: w.url}
			}
			s := connect(t, over)
			if got := text(t, s, "ok-marked", ""); !strings.Contains(got, "Refused by the owner's policy") {
				t.Errorf("before it was listed: %s", got)
			}
			if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 4 {
				t.Fatal(list, err)
			}
			if got := text(t, s, "ok-marked", ""); got != "closed" {
				t.Errorf("listed as of a closed world: %s", got)
			}
			if got := text(t, s, "ok", "Zoë"); !strings.Contains(got, "Zo") {
				t.Error(got)
			}
			if got := text(t, s, "no", ""); !strings.Contains(got, "Refused by the owner's policy") {
				t.Error(got)
			}
			if name == "stateless" || name == "JSON" {
				return // such a server cannot ask its client
			}
			if got := text(t, s, "ok-sample", "fine"); got != "sampled: hello" {
				t.Error(got)
			}
			if got := text(t, s, "ok-sample", "evil"); !strings.HasPrefix(got, "not sampled:") {
				t.Error(got)
			}
		})
	}
}

// What waits for a person keeps the client alive, and goes on with the answer.
func TestAskingAPerson(t *testing.T) {
	back := &server{}
	w := newHarness(t, back)
	answered := make(chan string, 1)
	go func() {
		resp, err := http.DefaultClient.Do(w.request(t.Context(),
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"p"}}}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- says(resp)
	}()
	<-w.person.asked
	w.person.answers <- gate.AllowOnce
	if got := <-answered; !strings.Contains(got, `"id":1,"result":{"content":[]}`) {
		t.Error(got)
	}
	go func() { <-w.person.asked; w.person.answers <- gate.DenyOnce }()
	if got := says(w.post(call(2, "ask"))); !strings.Contains(got, "the owner denied it") || !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if strings.Contains(back.all(), `"id":2`) {
		t.Error("a denied call was forwarded")
	}
}

// Two clients that use the same ids do not meet (CVE-2026-25536).
func TestClientsDoNotMeet(t *testing.T) {
	release := make(chan struct{})
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, body)
	}}
	w := newHarness(t, back)
	const clients = 50
	got := make(chan string, clients)
	for i := range clients {
		go func() {
			resp, err := http.DefaultClient.Do(w.request(t.Context(), call(1, fmt.Sprintf("ok%d.", i))))
			if err != nil {
				got <- err.Error()
				return
			}
			if s := says(resp); !strings.Contains(s, fmt.Sprintf("ok%d.", i)) {
				got <- s
				return
			}
			got <- ""
		}()
	}
	close(release)
	for range clients {
		if s := <-got; s != "" {
			t.Error(s)
		}
	}
}

// Events come as they were sent, one by one, comments and ids and times included.
func TestEventsPassUnchanged(t *testing.T) {
	const events = ": hello\n\nid: 1\nretry: 250\ndata:\n\n" +
		"event: message\r\nid: 2\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/message\",\"params\":{}}\r\n\r\n"
	const answer = "id: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	seen := make(chan struct{})
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, events)
		w.(http.Flusher).Flush()
		<-seen // the client has these before the answer is there
		fmt.Fprint(w, answer)
	}}
	w := newHarness(t, back)
	resp := w.post(call(1, "ok"))
	got := make([]byte, len(events))
	if _, err := bufio.NewReader(resp.Body).Read(got[:1]); err != nil {
		t.Fatal(err)
	}
	close(seen)
	if rest := says(w.post(call(1, "ok"))); rest != "200 "+events+answer {
		t.Errorf("got %q", rest)
	}
}

// What a server sends into a stream is judged like anything else.
func TestWhatComesInAStreamIsJudged(t *testing.T) {
	sample := func(id int, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":%q}}]}}`, id, text)
	}
	back := &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		if !strings.Contains(body, "tools/call") {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range []string{
			sample(7, "evil"), sample(8, "fine"), `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"a":1}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", line)
		}
	}}
	w := newHarness(t, back)
	got := says(w.post(call(1, "ok")))
	for _, evil := range []string{"evil", `"id":99`, `{"a":1}`, `"a":2`} {
		if strings.Contains(got, evil) {
			t.Errorf("%s came through: %s", evil, got)
		}
	}
	if !strings.Contains(got, `"id":8`) || !strings.Contains(got, `"id":1,"error":{"code":4400`) {
		t.Error(got)
	}
	w.comes("the refusal to the server", func() bool { return strings.Contains(back.all(), `"id":7,"error":{"code":4403`) })
}

// An agent session has a gate of its own: what is allowed in one for the session
// is asked again in another.
func TestSessionsOfThePath(t *testing.T) {
	w := newHarness(t, &server{})
	base := w.front.URL + "/" + secret + "/mcp/"
	for i, path := range []string{"one/s", "one/s", "two/s", "s"} {
		w.url = base + path
		if i != 1 {
			go func() { <-w.person.asked; w.person.answers <- gate.AllowSession }()
		}
		if got := says(w.post(call(i, "ask"))); !strings.Contains(got, `"result"`) {
			t.Error(path, got)
		}
	}
}

// A client that hangs up cancels its call, in the era in which that means it.
func TestHangingUp(t *testing.T) {
	gone := make(chan string, 10)
	begun := make(chan struct{}, 10)
	back := &server{serve: func(_ http.ResponseWriter, r *http.Request, body string) {
		begun <- struct{}{}
		<-r.Context().Done()
		gone <- body
	}}
	w := newHarness(t, back)
	hang := func(message string, until <-chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			resp, err := http.DefaultClient.Do(w.request(ctx, message))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-until
		cancel()
		<-done
	}
	modern := strings.Replace(call(1, "ok"), `"arguments":{}`,
		`"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, 1)
	hang(modern, begun)
	if body := <-gone; body != modern {
		t.Error(body)
	}
	// One that waits for a person is withdrawn.
	asked := make(chan struct{})
	go func() { <-w.person.asked; close(asked) }()
	hang(strings.Replace(modern, `"ok"`, `"ask"`, 1), asked)
	w.comes("the withdrawal", func() bool { return w.record.has("withdrawn") })
}
