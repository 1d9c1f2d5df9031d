package model_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// hidingPlaces are requests that hold a secret, where K stands, at other places than a text of the user or a
// result's text; D stands for the secret in base64.
var hidingPlaces = []struct {
	name string
	api  int
	body string
}{
	{"metadata", 0, `{"messages":[{"role":"user","content":"x"}],"metadata":{"user_id":"K"}}`},
	{"unknown member", 0, `{"messages":[{"role":"user","content":"x"}],"tomorrow":{"a":["K"]}}`},
	{"mcp token", 0, `{"messages":[{"role":"user","content":"x"}],"mcp_servers":[{"name":"a","url":"http://a","authorization_token":"K"}]}`},
	{"role", 0, `{"messages":[{"role":"K","content":"x"}]}`},
	{"type", 0, `{"messages":[{"role":"user","content":[{"type":"K","text":"x"}]}]}`},
	{"status", 0, `{"messages":[{"role":"user","content":[{"type":"tomorrow","status":"K"}]}]}`},
	{"cache_control", 0, `{"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","why":"K"}}]}]}`},
	{"member of a message", 0, `{"messages":[{"role":"user","content":"x","name":"K"}]}`},
	{"name of a member", 0, `{"messages":[{"role":"user","content":[{"type":"tomorrow","K":true}]}]}`},
	{"member beside a result", 0, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x","note":"K"}]}]}`},
	{"claimed to be the service's", 0, `{"messages":[{"role":"user","content":[{"type":"my_tool_result","tool_use_id":"c","content":"K"}]}]}`},
	{"call of the user", 0, `{"messages":[{"role":"user","content":[{"type":"tool_use","id":"c","name":"x","input":{"a":"K"}}]}]}`},
	{"unknown block of the agent", 0, `{"messages":[{"role":"assistant","content":[{"type":"tomorrow","x":"K"}]}]}`},
	{"nested result", 0, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"search_result","source":"s","title":"K","content":[{"type":"text","text":"x"}]}]}]}]}`},
	{"nested result id", 0, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"tool_reference","tool_name":"K"}]}]}]}`},
	{"document", 0, `{"messages":[{"role":"user","content":[{"type":"document","title":"K","source":{"type":"text","data":"x"}}]}]}`},
	{"document base64", 0, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"D"}}]}]}`},
	{"document content", 0, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"K"}]}}]}]}`},
	{"image url", 0, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://a/?K"}}]}]}`},
	{"image data url", 0, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"data:text/plain;base64,D"}}]}]}`},
	{"escapes", 0, `{"messages":[{"role":"user","content":[{"type":"text","te\u0078t":"\u0067hp_16C7e42F292c6912E7710c838347Ae178B4a"}]}]}`},
	{"twice", 0, `{"messages":[{"role":"user","content":[{"type":"text","text":"x","text":"K"}]}]}`},
	{"twice deep", 0, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"x","data":"K"}}]}]}`},
	{"twice root", 0, `{"messages":[],"messages":[{"role":"user","content":"K"}]}`},
	{"other case", 0, `{"Messages":[{"role":"user","content":"K"}],"messages":[]}`},
	{"other case content", 0, `{"messages":[{"role":"user","Content":"K"}]}`},
	{"system case", 0, `{"System":"K","messages":[]}`},
	{"prompt variables", 1, `{"input":"x","prompt":{"id":"p","variables":{"a":"K"}}}`},
	{"text format", 1, `{"input":"x","text":{"format":{"type":"json_schema","schema":{"description":"K"}}}}`},
	{"file data", 1, `{"input":[{"role":"user","content":[{"type":"input_file","filename":"a","file_data":"data:text/plain;base64,D"}]}]}`},
	{"file data without a head", 1, `{"input":[{"role":"user","content":[{"type":"input_file","filename":"a","file_data":"D"}]}]}`},
	{"file name", 1, `{"input":[{"role":"user","content":[{"type":"input_file","filename":"K","file_id":"x"}]}]}`},
	{"image url", 1, `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:text/plain;base64,D"}]}]}`},
	{"approval", 1, `{"input":[{"type":"mcp_approval_response","approval_request_id":"a","approve":true,"reason":"K"}]}`},
	{"reasoning", 1, `{"input":[{"type":"tomorrow","content":[{"type":"x","id":"K"}]}]}`},
	{"role agent unknown", 1, `{"input":[{"type":"agent_message","role":"assistant","content":"K"}]}`},
	{"shell output", 1, `{"input":[{"type":"shell_call_output","call_id":"c","output":[{"stdout":"K","stderr":"","outcome":{"type":"exit","exit_code":0}}]}]}`},
	{"item beside a result", 1, `{"input":[{"type":"function_call_output","call_id":"c","output":"x","note":"K"}]}`},
	{"result part file", 1, `{"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_file","file_data":"data:text/plain;base64,D"}]}]}`},
	{"prediction", 2, `{"messages":[],"prediction":{"type":"content","content":"K"}}`},
	{"name of the user", 2, `{"messages":[{"role":"user","content":"x","name":"K"}]}`},
	{"file data", 2, `{"messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a","file_data":"data:text/plain;base64,D"}}]}]}`},
	{"refusal of a user", 2, `{"messages":[{"role":"user","content":[{"type":"refusal","refusal":"K"}]}]}`},
	{"role tool parts", 2, `{"messages":[{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"K"}]}]}`},
	{"unknown role", 2, `{"messages":[{"role":"tomorrow","x":{"y":"K"}}]}`},
	{"metadata", 2, `{"messages":[],"metadata":{"a":"K"}}`},
	{"labels", 3, `{"contents":[],"labels":{"a":"K"}}`},
	{"inline text", 3, `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"text/plain","data":"D"}}]}]}`},
	{"file uri", 3, `{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"text/plain","fileUri":"http://a/K"}}]}]}`},
	{"unknown part", 3, `{"contents":[{"role":"model","parts":[{"tomorrow":{"id":"K"}}]}]}`},
	{"code result of the user", 3, `{"contents":[{"role":"user","parts":[{"codeExecutionResult":{"outcome":"Okay","output":"K"}}]}]}`},
	{"wrapped", 3, `{"request":{"contents":[{"role":"user","parts":[{"text":"K"}]}]},"user_prompt_id":"a"}`},
	{"beside the wrapped", 3, `{"request":{"contents":[]},"user_prompt_id":"K"}`},
	{"response parts", 3, `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"text/plain","data":"D"}}]}}]}]}`},
	{"response beside", 3, `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"x"},"tomorrow":"K"}}]}]}`},
	{"system of a user", 3, `{"contents":[],"systemInstruction":{"role":"model","parts":[{"text":"K"}]}}`},
	{"content member", 3, `{"contents":[{"role":"user","parts":[],"tomorrow":"K"}]}`},
	{"generation config", 3, `{"contents":[],"generationConfig":{"responseSchema":{"description":"K"}}}`},
}

// A secret is found wherever it stands in a request.
func TestHidingPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range hidingPlaces {
		s := &services[c.api]
		t.Run(s.api+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			data := base64.StdEncoding.EncodeToString([]byte("the key is " + token + " and that is all\n"))
			body := strings.NewReplacer("K", token, "D", data).Replace(c.body)
			site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
			got := site.post(s.path, body)
			if sent := site.lastBody(); strings.Contains(sent, token[5:]) || strings.Contains(sent, data) || got.status == http.StatusOK && sent == body {
				t.Errorf("sent %s", sent)
			}
		})
	}
}
