//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goServer is a server of the official Go SDK on our stdin and stdout, with pages of two and
// with what the servers of npm do not have.
func goServer() int {
	s := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ServerOptions{
		PageSize:           2,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Ref.Name + r.Params.Ref.URI, r.Params.Argument.Value}}}, nil
		},
	})
	tool := func(name string, do func(context.Context, *mcp.CallToolRequest) (any, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "does \"it\"", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				got, err := do(ctx, r)
				text, _ := json.Marshal(got)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
			})
	}
	const uri = "go:///note"
	tool("arguments", func(_ context.Context, r *mcp.CallToolRequest) (any, error) { return r.Params, nil })
	tool("fails", func(context.Context, *mcp.CallToolRequest) (any, error) { return nil, errors.New("it \"fails\"") })
	tool("progress", func(ctx context.Context, r *mcp.CallToolRequest) (any, error) {
		for i := range 3 {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	tool("logs", func(ctx context.Context, r *mcp.CallToolRequest) (any, error) {
		return nil, errors.Join(
			r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Logger: "its own", Data: "a"}), //nolint:staticcheck // of the versions up to 2025-11-25
			r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: map[string]int{"b": 1}}), //nolint:staticcheck // likewise
			r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "debug", Data: "below what was set"}))   //nolint:staticcheck // likewise
	})
	tool("updates", func(ctx context.Context, _ *mcp.CallToolRequest) (any, error) {
		return nil, s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
	})
	tool("grows", func(context.Context, *mcp.CallToolRequest) (any, error) {
		tool("grown", func(context.Context, *mcp.CallToolRequest) (any, error) { return nil, nil })
		return nil, nil
	})
	// What is asked in an answer, the SDK asks clients up to 2025-11-25 by a request.
	asks := func(name string, question mcp.InputRequest) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Params.InputResponses == nil {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"its key": question}, RequestState: "its \"state\""}, nil
			}
			text, err := json.Marshal([]any{r.Params.InputResponses, r.Params.RequestState})
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
		})
	}
	asks("samples", &mcp.CreateMessageParams{MaxTokens: 7, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}) //nolint:staticcheck // likewise
	asks("elicits", &mcp.ElicitParams{Message: "who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
	asks("roots", &mcp.ListRootsParams{}) //nolint:staticcheck // likewise
	for i := range 3 {
		s.AddPrompt(&mcp.Prompt{Name: fmt.Sprint("prompt ", i), Description: "asks"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text, _ := json.Marshal(r.Params)
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: string(text)}}}}, nil
		})
		s.AddResourceTemplate(&mcp.ResourceTemplate{Name: fmt.Sprint(i), URITemplate: fmt.Sprintf("go:///%d/{name}", i)}, read)
		s.AddResource(&mcp.Resource{Name: fmt.Sprint(i), URI: uri + []string{"", "s/1", "s/2"}[i], Description: "a note"}, read)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func read(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "of " + r.Params.URI}}}, nil
}
