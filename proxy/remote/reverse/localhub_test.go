package reverse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/clawai/clawai/proxy/remote/reverse"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// member is a real server of a hub, at the other end of two pipes.
type member struct {
	io.Reader
	io.Writer
	done chan struct{}
	end  func()
}

func (m *member) Done() <-chan struct{}       { return m.done }
func (m *member) Status() string              { return "it ended" }
func (m *member) Close(context.Context) error { m.end(); <-m.done; return nil }

// begun starts one, of which running counts those that there are. Its tools say whose they are.
func begun(name string, running, starts *atomic.Int32) (proxy.Upstream, error) {
	nth := starts.Add(1)
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	said := func(format string, args ...any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil
	}
	var text struct{ Text string }
	s.AddTool(&mcp.Tool{Name: "ok", InputSchema: schema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args := text
		_ = json.Unmarshal(r.Params.Arguments, &args)
		return said("%s %d %s", name, nth, args.Text)
	})
	s.AddTool(&mcp.Tool{Name: "ok-sample", InputSchema: schema}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
			{Role: "user", Content: &mcp.TextContent{Text: "fine"}},
		}})
		if err != nil {
			return nil, err
		}
		return said("%s %d %s", name, nth, got.Content.(*mcp.TextContent).Text)
	})
	s.AddTool(&mcp.Tool{Name: "no", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("a denied call reached the server")
	})
	return piped(s, running), nil
}

// piped runs a server at the other end of two pipes.
func piped(s *mcp.Server, running *atomic.Int32) *member {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{Reader: fromServer, Writer: toServer, done: make(chan struct{}), end: func() { cancel(); _ = toServer.Close(); _ = fromServer.Close() }}
	running.Add(1)
	go func() {
		defer close(m.done)
		defer running.Add(-1)
		_ = s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
		_ = out.Close()
	}()
	return m
}

// Two clients of a hub with two servers, all real: each has servers of its own, is asked
// what they ask, and gets its own answers. What is denied is on record, once, with its
// server. When a client goes, its servers do.
func TestHubOverHTTP(t *testing.T) {
	slow.Test(t)
	var running, starts atomic.Int32
	serve := func(ctx context.Context, g *gate.Session, in io.ReadCloser, out io.Writer) {
		o := hub.Options{ClientIn: in, ClientOut: out, Gate: g, Version: "test", ListWait: patience}
		for _, id := range []string{"a", "b"} {
			o.Servers = append(o.Servers, hub.Server{ID: id, Prefix: id, Open: func() (proxy.Upstream, error) { return begun(id, &running, &starts) }})
		}
		if err := hub.Run(ctx, o); err != nil {
			t.Error(err)
		}
	}
	w := newHarness(t, http.NotFoundHandler(), func(o *reverse.Options) { o.Upstreams, o.Local = nil, map[string]reverse.Local{"s": serve} })
	clients := make([]*mcp.ClientSession, 2)
	for i := range clients {
		c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
			CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: fmt.Sprint("client ", i)}}, nil
			},
		})
		var err error
		if clients[i], err = c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}); err != nil {
			t.Fatal(err)
		}
		if list, err := clients[i].ListTools(t.Context(), nil); err != nil || len(list.Tools) != 6 {
			t.Fatal(list, err)
		}
	}
	whose := map[string]int{} // client, by server and its number
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, c := range clients {
		for _, id := range []string{"a", "b"} {
			for k := range 5 {
				all.Go(func() {
					for n := range 20 {
						sent := fmt.Sprintf("%d-%d-%d", i, k, n)
						var name, got string
						var nth int
						if _, err := fmt.Sscan(text(t, c, id+"__ok", sent), &name, &nth, &got); err != nil || name != id || got != sent {
							t.Errorf("client %d at %s got %s of %s: %v", i, id, got, name, err)
						}
						mu.Lock()
						if other, ok := whose[fmt.Sprint(name, nth)]; ok && other != i {
							t.Errorf("server %s %d serves two clients", name, nth)
						}
						whose[fmt.Sprint(name, nth)] = i
						mu.Unlock()
					}
					if got, want := text(t, c, id+"__ok-sample", ""), fmt.Sprint("client ", i); !strings.HasSuffix(got, want) {
						t.Errorf("client %d: %s", i, got)
					}
				})
			}
		}
	}
	all.Wait()
	if got := text(t, clients[0], "b__no", ""); !strings.Contains(got, "Refused by the owner's policy") {
		t.Error(got)
	}
	denied := 0
	w.record.mu.Lock()
	for _, ev := range w.record.events {
		if ev.Kind == event.Decision && ev.Decision == "deny" && ev.Server == "b" && ev.RuleText == "never" {
			denied++
		}
	}
	w.record.mu.Unlock()
	if denied != 1 {
		t.Errorf("the denied call is on record %d times", denied)
	}
	if n := running.Load(); n != 4 {
		t.Errorf("%d servers", n)
	}
	_ = clients[0].Close()
	w.comes("the end of two servers", func() bool { return running.Load() == 2 })
	if got := text(t, clients[1], "a__ok", "still"); got == "" {
		t.Error("the other client has lost its server")
	}
	_ = clients[1].Close()
	w.comes("the end of all", func() bool { return running.Load() == 0 })
}
