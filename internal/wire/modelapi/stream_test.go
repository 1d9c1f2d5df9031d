package modelapi

import (
	"strings"
	"testing"
)

// Streams of which clients make another call than the one that the pieces seem to make. Each line is an
// event: its name, a blank, its data. All of them must end with an error.
var ambiguousStreams = map[API][]string{
	Messages: {
		withBash + `content_block_delta {"type":"content_block_delta","index":1.0,` + piece,
		withBash + `content_block_delta {"type":"content_block_delta","index":"1",` + piece,
		withBash + `content_block_delta {"type":"content_block_delta","index":1E0,` + piece,
		withBash + `content_block_delta {"type":"content_block_delta","index":-0,` + piece,
		withBash + `content_block_delta {"type":"content_block_delta","index":2,` + piece,
		withBash + stopBash + `content_block_delta {"type":"content_block_delta","index":1,` + piece,
		withBash + "message_stop {\"type\":\"message_stop\"}\n" + `content_block_delta {"type":"content_block_delta","index":1,` + piece,
		withBash + `ping {"type":"content_block_delta","index":1,` + piece,
		withBash + `ping {"type":"content_block_stop","index":1}`,
		withBash + ` {"type":"content_block_delta","index":1,` + piece,
		withBash + `content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"text"}}`,
		`content_block_start {"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}`,
		withBash + stopBash + `content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"Read","input":{}}}`,
	},
	Responses: {`ping {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f"}}`},
	Chat: {
		` {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"},"custom":{"name":"Read","input":"x"}}]}}]}`,
		` {"choices":[{"delta":{"tool_calls":[{"index":10e-1,"id":"a","function":{"name":"Bash","arguments":"{}"}}]}}]}`,
		` {"choices":[{"delta":{"tool_calls":[{"index":"0","id":"a","function":{"name":"Bash","arguments":"{}"}}]}}]}`,
		` {"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]}}]}`,
		` {"choices":[{"index":0.0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]}}]}`,
		` {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n" +
			` {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"Read","arguments":"x"}}]}}]}`,
		`thread.x {"choices":[]}`,
	},
	Gemini: {
		` {"candidates":[],"response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"Bash"}}]}}]}}`,
		`x {"candidates":[{"content":{"parts":[{"functionCall":{"name":"Bash"}}]}}]}`,
	},
}

const (
	withBash = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}
`
	stopBash = "content_block_stop {\"type\":\"content_block_stop\",\"index\":1}\n"
	piece    = `"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"x\"}"}}`
)

func TestAmbiguousStreams(t *testing.T) {
	for api, streams := range ambiguousStreams {
		for _, text := range streams {
			if _, err := readAll(api, text); err == nil {
				t.Errorf("%s: no error for\n%s", api, text)
			}
		}
	}
	const plain = withBash + `content_block_delta {"type":"content_block_delta","index":1,` + piece + "\n" + stopBash +
		`content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"b","name":"web_search","input":{}}}
content_block_delta {"type":"content_block_delta","index":2,` + piece
	if calls, err := readAll(Messages, plain); err != nil || len(calls) != 1 || string(calls[0].Args) != `{"command":"x"}` {
		t.Errorf("%v %+v", err, calls)
	}
}

func readAll(api API, text string) (calls []*Call, err error) {
	s := NewStream(api)
	for line := range strings.Lines(text) {
		name, data, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		step, err := s.ReadEvent(name, []byte(data))
		if err != nil {
			return nil, err
		}
		calls = append(calls, step.Calls...)
	}
	return append(calls, s.Finish().Calls...), nil
}

func TestPathsOfOtherLetters(t *testing.T) {
	for path, api := range map[string]API{"/v1/MESSAGES": Messages, "/v1beta/models/x:STREAMgeneratecontent": Gemini, "/v1/messages/models": NoAPI} {
		if got := FindAPI(path); got != api {
			t.Errorf("%s: %s", path, got)
		}
	}
	if IsSilent("/v1/messages/models") || !IsSilent("/v1/models") {
		t.Error("only a list of models is silent")
	}
}
