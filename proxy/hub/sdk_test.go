package hub_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// official is a server of the official SDK that speaks these versions, with a tool that asks the
// client, and one that brings another.
func official(versions ...string) func() (proxy.Upstream, error) {
	return func() (proxy.Upstream, error) {
		s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: versions})
		mcp.AddTool(s, &mcp.Tool{Name: "greet"}, func(_ context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			if got, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("hello ", got.Content["name"])}}}, nil, nil
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{Message: "who?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
			}}}}, nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(s, &mcp.Tool{Name: "new"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{}, nil, nil
			})
			return &mcp.CallToolResult{}, nil, nil
		})
		r := &running{done: make(chan struct{})}
		r.in, r.toToy = io.Pipe()
		r.toHub, r.out = io.Pipe()
		go func() {
			_ = s.Run(context.Background(), &mcp.IOTransport{Reader: r.in, Writer: r.out})
			r.die()
		}()
		return r, nil
	}
}

// The official SDK's client, of either way, at the official SDK's servers of either way: it is
// asked what a tool asks, gets the answer, and is told of a new tool.
func TestOfficialClients(t *testing.T) {
	slow.Test(t)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		clientIn, in := io.Pipe()
		out, clientOut := io.Pipe()
		w := start(t, func(o *hub.Options) {
			o.ClientIn, o.ClientOut = clientIn, clientOut
			o.Servers = []hub.Server{{ID: "new", Prefix: "new", Open: official()}, {ID: "old", Prefix: "old", Open: official("2025-11-25")}}
		})
		asked, grown := make(chan string, 10), make(chan bool, 10)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked <- r.Params.Message
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "me"}}, nil
			},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { grown <- true },
		}).Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("%s became %s", version, got)
		}
		for _, id := range []string{"new", "old"} {
			got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: id + "__greet"})
			if err != nil || len(got.Content) != 1 || got.Content[0].(*mcp.TextContent).Text != "hello me" {
				t.Fatalf("%s: %+v, %v", id, got, err)
			}
			if message := <-asked; message != "["+id+"] who?" {
				t.Error(message)
			}
		}
		if list, err := c.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 4 {
			t.Error(list, err)
		}
		for i, id := range []string{"new", "old"} {
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: id + "__grow"}); err != nil {
				t.Error(err)
			}
			for n := 0; n < 5+i; { // the change may be told of when the call is over
				select {
				case <-grown:
				case <-time.After(patience):
					t.Fatal("the change is not told of")
				}
				list, err := c.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				n = len(list.Tools)
			}
		}
		_ = c.Close()
		w.end()
	}
}
