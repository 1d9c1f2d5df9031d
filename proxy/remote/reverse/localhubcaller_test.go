package reverse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// official is a server of the official SDK that speaks these versions, with a tool that asks the
// client, one that brings another, and one that waits until it is cancelled.
func official(running *atomic.Int32, waits, cancelled chan<- bool, versions ...string) func() (proxy.Upstream, error) {
	return func() (proxy.Upstream, error) {
		s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: versions})
		answer := func(what ...any) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(what...)}}}, nil, nil
		}
		mcp.AddTool(s, &mcp.Tool{Name: "ok-greet"}, func(_ context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			switch got := r.Params.InputResponses["name"].(type) {
			case *mcp.CreateMessageResult:
				return answer("hello ", got.Content.(*mcp.TextContent).Text)
			case *mcp.CreateMessageWithToolsResult:
				return answer("hello ", got.Content[0].(*mcp.TextContent).Text)
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.CreateMessageParams{
				MaxTokens: 1, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "fine"}}},
			}}}, nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "ok-grow"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(s, &mcp.Tool{Name: "ok-new"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
				return answer("new")
			})
			return answer("grown")
		})
		mcp.AddTool(s, &mcp.Tool{Name: "ok-wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			waits <- true
			<-ctx.Done()
			cancelled <- true
			return answer("too late")
		})
		mcp.AddTool(s, &mcp.Tool{Name: "ok"}, func(_ context.Context, _ *mcp.CallToolRequest, args struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, any, error) {
			return answer(args.Text)
		})
		mcp.AddTool(s, &mcp.Tool{Name: "no"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			panic("a denied call reached the server")
		})
		return piped(s, running), nil
	}
}

// hubOf serves a hub of two such servers, one of each way.
type hubOf struct {
	t         testing.TB
	running   atomic.Int32
	waits     chan bool // a tool that waits has begun
	cancelled chan bool // and has been cancelled
}

func (h *hubOf) serve(ctx context.Context, g *gate.Session, in io.ReadCloser, out io.Writer) {
	o := hub.Options{ClientIn: in, ClientOut: out, Gate: g, Version: "test", ListWait: patience}
	for id, open := range map[string]func() (proxy.Upstream, error){
		"new": official(&h.running, h.waits, h.cancelled), "old": official(&h.running, h.waits, h.cancelled, "2025-11-25"),
	} {
		o.Servers = append(o.Servers, hub.Server{ID: id, Prefix: id, Open: open})
	}
	slices.SortFunc(o.Servers, func(a, b hub.Server) int { return strings.Compare(a.ID, b.ID) })
	if err := hub.Run(ctx, o); err != nil {
		h.t.Error(err)
	}
}

func newHubOf(t testing.TB, bend ...func(*reverse.Options)) (*harness, *hubOf) {
	h := &hubOf{t: t, waits: make(chan bool, 10), cancelled: make(chan bool, 10)}
	w := newHarness(t, http.NotFoundHandler(), append(bend, func(o *reverse.Options) {
		o.Upstreams, o.Local = nil, map[string]reverse.Local{"hub": h.serve}
	})...)
	w.url = w.front.URL + w.proxy.ServerPath("hub")
	return w, h
}

// Two clients of the official SDK at one hub, in the version without sessions: at servers of
// either way each is answered what it has asked, by the same servers for both, is asked what they
// ask, is told of a new tool, and cancels by hanging up. When nobody has come for a while, the
// servers are gone.
func TestHubOverHTTPWithoutSessions(t *testing.T) {
	slow.Test(t)
	w, h := newHubOf(t, func(o *reverse.Options) { o.Idle = 2 * time.Second })
	clients, grown := make([]*mcp.ClientSession, 2), make(chan bool, 100)
	for i := range clients {
		c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
			CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "client"}}, nil
			},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { grown <- true },
		})
		var err error
		if clients[i], err = c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url}, nil); err != nil {
			t.Fatal(err)
		}
		if v := clients[i].InitializeResult().ProtocolVersion; v != "2026-07-28" {
			t.Fatal(v)
		}
		if list, err := clients[i].ListTools(t.Context(), nil); err != nil || len(list.Tools) != 10 {
			t.Fatal(list, err)
		}
	}
	var all sync.WaitGroup
	for i, c := range clients {
		for _, id := range []string{"new", "old"} {
			for k := range 5 {
				all.Go(func() {
					for n := range 20 {
						sent := fmt.Sprintf("%d-%d-%d", i, k, n)
						if got := text(t, c, id+"__ok", sent); got != sent {
							t.Errorf("client %d at %s got %s for %s", i, id, got, sent)
						}
					}
				})
			}
		}
	}
	all.Wait()
	for _, id := range []string{"new", "old"} {
		if got := text(t, clients[0], id+"__ok-greet", ""); got != "hello client" {
			t.Error(id, got)
		}
		if got := text(t, clients[1], id+"__no", ""); !strings.Contains(got, "Refused by the owner's policy") {
			t.Error(id, got)
		}
		ctx, hangUp := context.WithCancel(t.Context())
		answered := make(chan error)
		go func() {
			_, err := clients[1].CallTool(ctx, &mcp.CallToolParams{Name: id + "__ok-wait"})
			answered <- err
		}()
		<-h.waits // on record is too early: a server never begins a call that is cancelled before
		if !w.record.forwarded(id, "ok-wait") {
			t.Error(id, "the call is not on record")
		}
		hangUp()
		if err := <-answered; err == nil {
			t.Error(id, "was not cancelled")
		}
		<-h.cancelled
		if got := text(t, clients[0], id+"__ok-grow", ""); got != "grown" {
			t.Error(got)
		}
		for range clients {
			select {
			case <-grown:
			case <-time.After(patience):
				t.Fatal(id, "the change is not told of")
			}
		}
		if got := text(t, clients[1], id+"__ok-new", ""); got != "new" {
			t.Error(got)
		}
	}
	if n := h.running.Load(); n != 2 {
		t.Errorf("%d servers", n)
	}
	for _, c := range clients {
		_ = c.Close()
	}
	w.comes("the end of the servers", func() bool { return h.running.Load() == 0 })
}

// forwarded says that a call is on record as let through.
func (r *record) forwarded(server, tool string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(ev event.Event) bool {
		return ev.Kind == event.Decision && ev.Decision == "allow" && ev.Server == server && slices.Contains(ev.Names, tool)
	})
}

// What a client asks the hub over HTTP is judged, answered and recorded as it is over stdio.
func TestHubOverHTTPIsTheHub(t *testing.T) {
	steps := []string{
		says26("1", "server/discover", "", ""),
		says26("2", "tools/list", "", ""),
		says26("3", "tools/call", `,"progressToken":3`, `,"name":"new__ok","arguments":{"text": "a\u00fc"}`),
		says26("4", "tools/call", "", `,"name":"old__ok","arguments":{"text":"b"}`),
		says26("5", "tools/call", "", `,"name":"new__no","arguments":{}`),
		says26("6", "tools/call", "", `,"name":"old__no","arguments":{}`),
		says26("7", "tools/call", "", `,"name":"nobody__ok","arguments":{}`),
		says26("8", "tools/call", "", `,"name":"new__ok","arguments":{"text":1}`),
		says26("9", "prompts/list", "", ""),
		says26("10", "prompts/get", "", `,"name":"new__none"`),
		says26("11", "resources/read", "", `,"uri":"f:///none"`),
		says26("12", "completion/complete", "", `,"ref":{"type":"ref/prompt","name":"old__none"},"argument":{"name":"a","value":"b"}`),
		says26("13", "no/method", "", ""),
		says26("14", "ping", "", ""),
		says26("15", "tools/call", "", `,"name":"new__ok-greet","arguments":{}`), // this client cannot be asked
		says26("16", "tools/call", "", `,"name":"old__ok-greet","arguments":{}`),
		says26("17", "subscriptions/listen", "", `,"notifications":{"resourceSubscriptions":["f:///none"]}`),
		strings.Replace(says26("18", "tools/list", "", ""), "2026-07-28", "2027-01-01", 1),
		says26("19", "tools/call", "", `,"name":"new__ask-nobody","arguments":{}`),
		says26("20", "tools/call", "", `,"name":"new__ok","Name":"new__no","arguments":{}`), // which no id of the hub's is used for
	}
	var overHTTP, overStdio []string
	w, h := newHubOf(t)
	w.person.answers = make(chan gate.Reply, 2)
	w.person.answers <- gate.DenyOnce
	for _, step := range steps {
		resp := w.post(step, mirrored(step, "")...)
		_, body, _ := strings.Cut(says(resp), " ")
		overHTTP = append(overHTTP, lastOf(body))
	}
	w.proxy.Close()

	one := newHarness(t, http.NotFoundHandler())
	one.person.answers = make(chan gate.Reply, 2)
	one.person.answers <- gate.DenyOnce
	g := one.newGate()
	in, toHub := io.Pipe()
	fromHub, out := io.Pipe()
	ended := make(chan struct{})
	go func() { defer close(ended); h.serve(t.Context(), g.Session, in, out) }()
	lines := bufio.NewScanner(fromHub)
	for _, step := range steps {
		_, _ = io.WriteString(toHub, step+"\n")
		for lines.Scan() && !strings.Contains(lines.Text(), `"id":`+idOf(step)) {
		}
		overStdio = append(overStdio, masked(lines.Text()))
	}
	_ = toHub.Close()
	<-ended
	if diff := cmp.Diff(overStdio, overHTTP); diff != "" {
		t.Errorf("over HTTP (+) it is not answered as over stdio:\n%s", diff)
	}
	if diff := cmp.Diff(one.record.verdicts(), w.record.verdicts()); diff != "" {
		t.Errorf("over HTTP (+) it is not recorded as over stdio:\n%s", diff)
	}
	if n := len(one.record.verdicts()); n < 2*len(steps) {
		t.Errorf("%d records of %d requests", n, len(steps))
	}
}

// lastOf is the last message of a response.
func lastOf(body string) string {
	for line := range strings.Lines(body) {
		if data, event := strings.CutPrefix(line, "data: "); event {
			body = data
		}
	}
	return masked(strings.TrimSuffix(body, "\n"))
}

var (
	stateOf  = regexp.MustCompile(`"requestState":"[^"]*"`)
	recordOf = regexp.MustCompile(`r-\d+`)
)

// masked is a message without what is made up anew each time.
func masked(line string) string {
	return recordOf.ReplaceAllString(stateOf.ReplaceAllString(line, `"requestState":"*"`), "r-*")
}

// verdicts are what is on record of each server, in its order.
func (r *record) verdicts() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.events {
		ev.Record, ev.Ref, ev.Time, ev.Waited = "", "", time.Time{}, 0
		if ev.Method == "server/discover" && ev.Server != "" || ev.Kind == event.Start || ev.Kind == event.End {
			continue
		}
		all = append(all, masked(fmt.Sprintf("%s%s %+v", ev.Server, ev.ServerGuess, ev)))
	}
	slices.Sort(all) // servers are beside each other
	return all
}
