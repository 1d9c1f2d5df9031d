//nolint:staticcheck // what 2026-07-28 deprecates, most servers still speak
package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clawai/clawai/internal/ask/elicit"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// What the official SDK writes and reads is held to several rooms here, where it is linked anyway.

// TestSDKUsesTheDemoServer: the server of the demo is written by hand, and is one.
func TestSDKUsesTheDemoServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := exec.Command("clawai", "demo-server", dir)
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	list, err := client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, c := range []struct {
		tool, path string
		failed     bool
		text       string
	}{
		{"write_file", filepath.Join(dir, "a"), false, "wrote 5 bytes"},
		{"read_text_file", filepath.Join(dir, "a"), false, "hello"},
		{"list_directory", dir, false, "a"},
		{"read_text_file", filepath.Join(dir, "b"), true, "openat b: no such file or directory"},
		{"read_text_file", filepath.Join(dir, "..", "b"), true, "openat ../b: path escapes from parent"},
		{"remove", dir, true, `there is no tool "remove"`},
	} {
		got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: map[string]any{"path": c.path, "content": "hello"}})
		if err != nil || got.IsError != c.failed || len(got.Content) != 1 || got.Content[0].(*sdk.TextContent).Text != c.text {
			t.Errorf("%s %s: %+v, %v", c.tool, c.path, got, err)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// formOf keeps the form that is asked for.
type formOf struct{ schema []byte }

func (*formOf) Name() (name, version string) { return "test", "1.0" }

func (f *formOf) Elicit(_ context.Context, _ string, schema []byte) (gate.Elicited, error) {
	f.schema = schema
	return gate.Elicited{Action: "cancel"}, nil
}

// TestSDKTakesTheForm: a client of the SDK checks the form before it shows it, and the answer
// before it sends it.
func TestSDKTakesTheForm(t *testing.T) {
	ctx := t.Context()
	form := &formOf{}
	_, _ = elicit.New(elicit.Options{}).Ask(ctx, gate.Question{
		Calls:  []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(`{}`)}},
		Server: "files", Client: form,
	})
	if form.schema == nil {
		t.Fatal("the client is asked nothing")
	}
	atServer, atClient := sdk.NewInMemoryTransports()
	ss, err := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil).Connect(ctx, atServer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ss.Close()
	content := map[string]any{"answer": "once"}
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		},
	})
	cs, err := client.Connect(ctx, atClient, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	ask := func() (*sdk.ElicitResult, error) {
		return ss.Elicit(ctx, &sdk.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(form.schema)})
	}
	if got, err := ask(); err != nil || got.Content["answer"] != "once" {
		t.Errorf("%+v, %v", got, err)
	}
	content = map[string]any{"answer": "always"}
	if got, err := ask(); err == nil {
		t.Errorf("an answer that is no choice: %+v", got)
	}
}

func written(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func frameOf(t *testing.T, line string) *frame.Frame {
	t.Helper()
	f, err := frame.Parse([]byte(line), frame.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &f
}

// TestSDKWritesParams: the SDK's own encoding of each judged request is read as it was meant.
func TestSDKWritesParams(t *testing.T) {
	const up, down = mcp.ClientToServer, mcp.ServerToClient
	for _, c := range []struct {
		method string
		from   mcp.Direction
		params any
		want   []string
	}{
		{"tools/call", up, &sdk.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ann"}}, []string{"greet"}},
		{"prompts/get", up, &sdk.GetPromptParams{Name: "review", Arguments: map[string]string{"lang": "go"}}, []string{"review"}},
		{"resources/read", up, &sdk.ReadResourceParams{URI: "file:///a"}, []string{"file:///a"}},
		{"resources/subscribe", up, &sdk.SubscribeParams{URI: "file:///a"}, []string{"file:///a"}},
		{"resources/unsubscribe", up, &sdk.UnsubscribeParams{URI: "file:///a"}, []string{"file:///a"}},
		{"subscriptions/listen", up, &sdk.SubscriptionsListenParams{Notifications: &sdk.NotificationSubscriptions{ResourceSubscriptions: []string{"a:1", "a:2"}}}, []string{"a:1", "a:2"}},
		{"elicitation/create", down, &sdk.ElicitParams{Mode: "url", Message: "log in", URL: "https://x.test", ElicitationID: "e"}, []string{"log in", "https://x.test"}},
		{"sampling/createMessage", down, &sdk.CreateMessageParams{SystemPrompt: "s", Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "hi"}}}}, []string{"s", "hi"}},
		{"sampling/createMessage", down, &sdk.CreateMessageWithToolsParams{
			Messages: []*sdk.SamplingMessageV2{
				{Role: "assistant", Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.ToolUseContent{ID: "1", Name: "t", Input: map[string]any{"q": "b"}}}},
				{Role: "user", Content: []sdk.Content{&sdk.ToolResultContent{ToolUseID: "1", Content: []sdk.Content{&sdk.TextContent{Text: "c"}, &sdk.ImageContent{Data: []byte{1}, MIMEType: "image/png"}}}}},
			},
			Tools: []*sdk.Tool{{Name: "t", Description: "d", InputSchema: map[string]any{"type": "object"}}},
		}, []string{"a", "b", "c", "d"}},
	} {
		line := `{"jsonrpc":"2.0","id":1,"method":"` + c.method + `","params":` + written(t, c.params) + `}`
		m, r := mcp.Read(frameOf(t, line), c.from, "s")
		if r != nil || len(m.Calls) != 1 || m.Calls[0].Malformed != "" {
			t.Errorf("%s: %+v %+v", c.method, r, m.Calls)
			continue
		}
		if diff := cmp.Diff(c.want, m.Calls[0].Names); diff != "" {
			t.Errorf("%s: %s", c.method, diff)
		}
	}
}

func TestSDKWritesInputRequests(t *testing.T) {
	calls := func(elicited, sampled string) []policy.Call {
		return []policy.Call{
			{Server: "s", Method: "elicitation/create", Subject: policy.ElicitationSubject, Names: []string{elicited}},
			{Server: "s", Method: "sampling/createMessage", Subject: policy.SamplingSubject, Names: []string{sampled}},
			{Server: "s", Method: "roots/list", Subject: policy.MethodSubject, Names: []string{"roots/list"}},
		}
	}
	besideExtra := cmpopts.IgnoreFields(policy.Call{}, "Extra", "Quiet")
	in, r := mcp.InputCalls(frameOf(t, `{"jsonrpc":"2.0","id":1,"result":`+written(t, map[string]any{
		"resultType": "input_required", "inputRequests": sdk.InputRequestMap{
			"a": &sdk.ElicitParams{Message: "your name?"},
			"b": &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "hi"}}}},
			"c": &sdk.ListRootsParams{},
		},
	})+`}`), "s")
	if r != nil {
		t.Fatal(r)
	}
	if diff := cmp.Diff(calls("your name?", "hi"), in.Calls, besideExtra); diff != "" {
		t.Error(diff)
	}

	f := frameOf(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+written(t, map[string]any{
		"name": "greet", "requestState": "x", "inputResponses": map[string]any{
			"a": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}},
			"b": &sdk.CreateMessageResult{Role: "assistant", Model: "m", Content: &sdk.TextContent{Text: "lo"}},
			"c": &sdk.ListRootsResult{Roots: []*sdk.Root{{URI: "file:///a"}}},
		},
	})+`}`)
	m, r := mcp.Read(f, mcp.ClientToServer, "s")
	if r != nil {
		t.Fatal(r)
	}
	answers, r := (&mcp.Asked{}).AnswerCalls(f, &m, "s")
	if r != nil {
		t.Fatal(r)
	}
	if diff := cmp.Diff(calls("Ann", "lo"), answers, besideExtra); diff != "" {
		t.Error(diff)
	}
}

// TestSDKReadsDenials: the SDK reads the gate's denials as what they are.
func TestSDKReadsDenials(t *testing.T) {
	line := mcp.Denial{What: policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}}}.AnswerFrame(mcp.Caller{ID: []byte("1"), Method: "tools/call", Modern: true})
	f := frameOf(t, string(line))
	var res sdk.CallToolResult
	if err := json.Unmarshal(f.Result, &res); err != nil || !res.IsError || len(res.Content) != 1 || res.NeedsInput() {
		t.Errorf("%s: %v %+v", line, err, res)
	}
}
