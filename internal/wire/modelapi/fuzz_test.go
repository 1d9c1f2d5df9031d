package modelapi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

var apis = []API{Messages, Responses, Chat, Gemini}

var requests = []string{
	`{"messages":[],"tools":[ {"type":"web_search_20250305"}, {"name":"a"} ,{"type":"code_execution_20250825"}]}`,
	`{"input":[],"tools":[{"type":"function"},{"type":"mcp"}]}`,
	`{"messages":[],"tools":[{"type":"function"}],"web_search_options":{}}`,
	`{"contents":[],"tools":[{"googleSearch":{}},{"functionDeclarations":[]}]}`,
	`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"document","source":{"data":"x"},"cache_control":{}},{"type":"new","y":{"z":["w"]}}]}]}`,
	`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"},{"type":"text","text":"z"}]}]}`,
	`{"input":[{"type":"function_call","call_id":"a","name":"f","namespace":"mcp__s","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"a","output":"x"},{"type":"custom_tool_call","call_id":"b","name":"p","input":"*** "},{"type":"local_shell_call","call_id":"c","action":{"command":["ls"]}}]}`,
	`{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]}]}`,
	`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":1}}}]}]}`,
}

// within reports whether a value is a part of a text, by its place in memory.
func within(v jsonscan.Value, text []byte) bool {
	if v == "" {
		return true
	}
	return bytes.Contains(text, v.Bytes()) && len(frame.SpliceAll(text, frame.Edit{Part: v.Bytes(), Token: []byte("x")})) == len(text)-len(v)+1
}

// FuzzRequest: each place is a part of the body, and a name that is replaced is the name that is
// read the next time, with all else as before.
func FuzzRequest(f *testing.F) {
	for i, text := range requests {
		f.Add(uint8(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		api := apis[int(which)%len(apis)]
		r, err := ReadRequest(api, body)
		if err != nil {
			return
		}
		for i := range r.Calls {
			c := &r.Calls[i]
			if !within(c.Place, body) || !within(c.IDPlace, body) {
				t.Fatalf("a place of call %d is elsewhere", i)
			}
			if c.Place == "" || c.Place.Kind() != jsonscan.String {
				continue
			}
			again, err := ReadRequest(api, frame.SplicePart(body, c.Place.Bytes(), []byte(`"clawai_denied_1"`)))
			if err != nil || len(again.Calls) != len(r.Calls) || len(again.Results) != len(r.Results) || again.Calls[i].Place.Text() != "clawai_denied_1" || again.Calls[i].ID != c.ID || !bytes.Equal(again.Calls[i].Args, c.Args) {
				t.Fatalf("%v: with another name for call %d it reads %+v", err, i, again)
			}
		}
		var alone []Offer
		for _, o := range r.Offers {
			if o.Alone {
				alone = append(alone, o)
			}
		}
		if len(alone) > 0 {
			less := frame.SplicePart(body, r.Tools.Bytes(), r.WithoutTools(alone))
			if again, err := ReadRequest(api, less); err != nil || len(again.Offers) != len(r.Offers)-len(alone) || len(again.Calls) != len(r.Calls) || len(again.Results) != len(r.Results) {
				t.Fatalf("%v: without %d tools it reads %s", err, len(alone), less)
			}
		}
		for _, v := range r.Words {
			if v == "" || v.Kind() != jsonscan.Object && !within(v, body) { // an object may be of this package's making
				t.Fatalf("words are elsewhere: %s", v)
			}
		}
		for i := range r.Results {
			if !within(r.Results[i].Place, body) || !within(r.Results[i].Content, body) {
				t.Fatalf("a place of result %d is elsewhere", i)
			}
		}
	})
}

var replies = []string{
	`{"type":"message_start","message":{"content":[]}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}
{"type":"content_block_stop","index":0}`,
	`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":""}}
{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}
{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}"}
{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}
{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
	`{"candidates":[{"content":{"parts":[{"text":"x"},{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
}

// FuzzStream: each call that a stream has begun is complete at its end, once; each name is a part of
// its event, and stands there before the call is complete or with it.
func FuzzStream(f *testing.F) {
	for i, text := range replies {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		s := NewStream(apis[int(which)%len(apis)])
		named, done := map[*Call]bool{}, map[*Call]bool{}
		take := func(step Step, data []byte) {
			for _, p := range step.Places {
				if !within(p.Name, data) {
					t.Fatal("a name is elsewhere")
				}
				if done[p.Call] && !named[p.Call] {
					t.Fatal("a call was complete before it was named")
				}
				named[p.Call] = true
			}
			for _, c := range step.Calls {
				if done[c] || !named[c] {
					t.Fatalf("a call is complete twice, or was never named: %+v", c)
				}
				done[c] = true
			}
			if open := len(named) - len(done); step.Hold != (open > 0) {
				t.Fatalf("%d calls are open, and hold is %v", open, step.Hold)
			}
		}
		for line := range strings.Lines(text) {
			data := []byte(strings.TrimSuffix(line, "\n"))
			name := ""
			if s.api == Messages {
				name = jsonscan.ValueOf(data).Member("type").Text()
			}
			step, err := s.ReadEvent(name, data)
			if err != nil {
				return
			}
			take(step, data)
		}
		take(s.Finish(), nil)
		if len(named) != len(done) {
			t.Fatalf("%d calls begun, %d complete", len(named), len(done))
		}
	})
}

// FuzzReply: a reply that is no stream is read as the one event of a stream is, and its names are
// parts of it.
func FuzzReply(f *testing.F) {
	f.Add(uint8(0), []byte(`{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]}`))
	f.Add(uint8(1), []byte(`{"output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`))
	f.Add(uint8(2), []byte(`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	f.Add(uint8(3), []byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}]`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		step, err := ReadReply(apis[int(which)%len(apis)], body)
		if err != nil {
			return
		}
		if step.Hold || len(step.Places) < len(step.Calls) {
			t.Fatalf("%d calls, %d names, hold %v", len(step.Calls), len(step.Places), step.Hold)
		}
		for _, p := range step.Places {
			if !within(p.Name, body) {
				t.Fatal("a name is elsewhere")
			}
		}
	})
}
