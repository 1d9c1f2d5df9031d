//nolint:staticcheck // what 2026-07-28 deprecates, most servers still speak
package mcp

import (
	"encoding/json"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The official SDK's own encoding of each judged request is read as it was meant.
func TestParamsOfTheOfficialSDK(t *testing.T) {
	for _, c := range []struct {
		method string
		params any
		want   []string
	}{
		{"tools/call", &sdk.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ann"}}, []string{"greet"}},
		{"prompts/get", &sdk.GetPromptParams{Name: "review", Arguments: map[string]string{"lang": "go"}}, []string{"review"}},
		{"resources/read", &sdk.ReadResourceParams{URI: "file:///a"}, []string{"file:///a"}},
		{"resources/subscribe", &sdk.SubscribeParams{URI: "file:///a"}, []string{"file:///a"}},
		{"resources/unsubscribe", &sdk.UnsubscribeParams{URI: "file:///a"}, []string{"file:///a"}},
		{"subscriptions/listen", &sdk.SubscriptionsListenParams{Notifications: &sdk.NotificationSubscriptions{ResourceSubscriptions: []string{"a:1", "a:2"}}}, []string{"a:1", "a:2"}},
		{"elicitation/create", &sdk.ElicitParams{Mode: "url", Message: "log in", URL: "https://x.test", ElicitationID: "e"}, []string{"log in", "https://x.test"}},
		{"sampling/createMessage", &sdk.CreateMessageParams{SystemPrompt: "s", Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "hi"}}}}, []string{"s", "hi"}},
		{"sampling/createMessage", &sdk.CreateMessageWithToolsParams{
			Messages: []*sdk.SamplingMessageV2{
				{Role: "assistant", Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.ToolUseContent{ID: "1", Name: "t", Input: map[string]any{"q": "b"}}}},
				{Role: "user", Content: []sdk.Content{&sdk.ToolResultContent{ToolUseID: "1", Content: []sdk.Content{&sdk.TextContent{Text: "c"}, &sdk.ImageContent{Data: []byte{1}, MIMEType: "image/png"}}}}},
			},
			Tools: []*sdk.Tool{{Name: "t", Description: "d", InputSchema: map[string]any{"type": "object"}}},
		}, []string{"a", "b", "c", "d"}},
	} {
		row := methodNamed(c.method)
		m, r := Read(parse(t, request(c.method, marshal(t, c.params), false)), row.From, "s")
		if r != nil || len(m.Calls) != 1 || m.Calls[0].Malformed != "" {
			t.Errorf("%s: %+v %+v", c.method, r, m.Calls)
			continue
		}
		if diff := cmp.Diff(c.want, m.Calls[0].Names); diff != "" {
			t.Errorf("%s: %s", c.method, diff)
		}
	}
}

func TestInputRequestsOfTheOfficialSDK(t *testing.T) {
	asked := sdk.InputRequestMap{
		"a": &sdk.ElicitParams{Message: "your name?"},
		"b": &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "hi"}}}},
		"c": &sdk.ListRootsParams{},
	}
	in, r := InputCalls(parse(t, `{"jsonrpc":"2.0","id":1,"result":`+marshal(t, map[string]any{"resultType": "input_required", "inputRequests": asked})+`}`), "s")
	if r != nil {
		t.Fatal(r)
	}
	if diff := cmp.Diff([]policy.Call{elicitCall("your name?"), samplingCall("hi"), rootsCall()}, in.Calls, besideExtra); diff != "" {
		t.Error(diff)
	}

	f, m := retry(t, marshal(t, map[string]any{
		"a": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}},
		"b": &sdk.CreateMessageResult{Role: "assistant", Model: "m", Content: &sdk.TextContent{Text: "lo"}},
		"c": &sdk.ListRootsResult{Roots: []*sdk.Root{{URI: "file:///a"}}},
	}))
	calls, r := (&Asked{}).Answers(f, m, "s")
	if r != nil {
		t.Fatal(r)
	}
	if diff := cmp.Diff([]policy.Call{elicitCall("Ann"), samplingCall("lo"), rootsCall()}, calls, besideExtra); diff != "" {
		t.Error(diff)
	}
}

// The official SDK reads the gate's denials as what they are.
func TestDenialsReadByTheOfficialSDK(t *testing.T) {
	line := Denial{What: policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}}}.Answer(Caller{ID: []byte("1"), Method: "tools/call", Modern: true})
	f := parse(t, string(line))
	var res sdk.CallToolResult
	if err := json.Unmarshal(f.Result, &res); err != nil || !res.IsError || len(res.Content) != 1 || res.NeedsInput() {
		t.Errorf("%s: %v %+v", line, err, res)
	}
}
