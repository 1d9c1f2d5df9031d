package elicit

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client of the official Go SDK checks the form before it shows it, and the
// answer before it sends it.
func TestTheGoSDKTakesTheForm(t *testing.T) {
	ctx := t.Context()
	choices := (&Form{}).choicesFor(question(nil))
	atServer, atClient := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	ss, err := server.Connect(ctx, atServer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ss.Close()
	content := map[string]any{"answer": "once"}
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
	})
	cs, err := client.Connect(ctx, atClient, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	ask := func() (*mcp.ElicitResult, error) {
		return ss.Elicit(ctx, &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(schema(choices))})
	}
	if got, err := ask(); err != nil || got.Content["answer"] != "once" {
		t.Errorf("%+v, %v", got, err)
	}
	content = map[string]any{"answer": "always"}
	if got, err := ask(); err == nil {
		t.Errorf("an answer that is no choice: %+v", got)
	}
}
