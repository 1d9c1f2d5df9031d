package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type object = map[string]any

// asked is a call that a double of a service asks for.
type asked struct {
	tool, text string
	args       object
	free       bool // the tool takes a text
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func cut(text string, pieces bool) (all []string) {
	if !pieces {
		return []string{text}
	}
	for len(text) > 3 {
		all, text = append(all, text[:3]), text[3:]
	}
	return append(all, text)
}

// stream writes events.
type stream struct{ bytes.Buffer }

func (s *stream) emit(kind string, v object) {
	if kind != "" {
		v["type"] = kind
		fmt.Fprintf(s, "event: %s\n", kind)
	}
	fmt.Fprintf(s, "data: %s\n\n", jsonOf(v))
}

// service is a double of one service.
type service struct {
	api, client, path string
	shell, argument   string
	whole             func(calls []asked) string
	streamed          func(calls []asked, pieces bool) string
	// read returns the calls of a reply as a client of that service would read them, by its own
	// means.
	read func(t *testing.T, body string, streamed bool) []string
}

var services = []service{
	{api: "messages", client: "claude-code", path: "/v1/messages?beta=true", shell: "Bash", argument: "command", whole: wholeMessages, streamed: streamMessages, read: readMessages},
	{api: "responses", client: "codex", path: "/v1/responses", shell: "exec_command", argument: "cmd", whole: wholeResponses, streamed: streamResponses, read: readResponses},
	{api: "chat", client: "qwen-code", path: "/v1/chat/completions", shell: "run_shell_command", argument: "command", whole: wholeChat, streamed: streamChat, read: readChat},
	{api: "gemini", client: "gemini-cli", path: "/v1beta/models/m:streamGenerateContent?alt=sse", shell: "run_shell_command", argument: "command", whole: wholeGemini, streamed: streamGemini, read: readGemini},
}

func (s *service) touch(file string) asked {
	return asked{tool: s.shell, args: object{s.argument: "touch " + file}}
}

func wholeMessages(calls []asked) string {
	blocks := []object{{"type": "text", "text": "On it."}}
	for i, c := range calls {
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.tool, "input": c.args})
	}
	return jsonOf(object{"id": "msg_1", "type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"})
}

func streamMessages(calls []asked, pieces bool) string {
	s := &stream{}
	s.emit("message_start", object{"message": object{"id": "msg_1", "role": "assistant", "content": []any{}}})
	s.emit("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	s.emit("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": "On it."}})
	s.emit("content_block_stop", object{"index": 0})
	for i, c := range calls {
		s.emit("content_block_start", object{"index": i + 1, "content_block": object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.tool, "input": object{}}})
		for _, piece := range cut(jsonOf(c.args), pieces) {
			s.emit("content_block_delta", object{"index": i + 1, "delta": object{"type": "input_json_delta", "partial_json": piece}})
		}
		s.WriteString(": a comment\n\n")
		s.emit("content_block_stop", object{"index": i + 1})
	}
	s.emit("message_delta", object{"delta": object{"stop_reason": "tool_use"}})
	s.emit("message_stop", object{})
	return s.String()
}

// dataOf returns the data of each event, read line by line.
func dataOf(body string) (all []object) {
	for line := range strings.Lines(body) {
		if text, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: "); is && text != "[DONE]" {
			var v object
			if json.Unmarshal([]byte(text), &v) == nil {
				all = append(all, v)
			}
		}
	}
	return all
}

func parse(t *testing.T, body string) (v object) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	return v
}

func list(v any) []any { all, _ := v.([]any); return all }

func readMessages(t *testing.T, body string, streamed bool) (all []string) {
	add := func(b object, input string) {
		if b["type"] == "tool_use" {
			all = append(all, fmt.Sprint(b["name"], " ", input))
		}
	}
	if !streamed {
		for _, b := range list(parse(t, body)["content"]) {
			add(b.(object), jsonOf(b.(object)["input"]))
		}
		return all
	}
	var block object
	input := ""
	for _, e := range dataOf(body) {
		switch e["type"] {
		case "content_block_start":
			block, input = e["content_block"].(object), ""
		case "content_block_delta":
			if piece, is := e["delta"].(object)["partial_json"].(string); is {
				input += piece
			}
		case "content_block_stop":
			add(block, input)
		}
	}
	return all
}

func responsesItems(calls []asked) (items []object) {
	for i, c := range calls {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": fmt.Sprintf("call_%d", i), "name": c.tool, "arguments": jsonOf(c.args)}
		if c.free {
			item = object{"type": "custom_tool_call", "id": fmt.Sprintf("ctc_%d", i), "call_id": fmt.Sprintf("call_%d", i), "name": c.tool, "input": c.text}
		}
		items = append(items, item)
	}
	return items
}

func wholeResponses(calls []asked) string {
	return jsonOf(object{"id": "resp_1", "object": "response", "output": responsesItems(calls)})
}

func streamResponses(calls []asked, pieces bool) string {
	s := &stream{}
	s.emit("response.created", object{"response": object{"id": "resp_1"}, "sequence_number": 0})
	items := responsesItems(calls)
	if pieces {
		var left [][]string
		for i, item := range items {
			begun := object{}
			for k, v := range item {
				begun[k] = v
			}
			member := "arguments"
			if calls[i].free {
				member = "input"
			}
			begun[member] = ""
			s.emit("response.output_item.added", object{"output_index": i, "item": begun})
			left = append(left, cut(item[member].(string), true))
		}
		for more := true; more; {
			more = false
			for i := range left {
				if len(left[i]) > 0 {
					kind := "response.function_call_arguments.delta"
					if calls[i].free {
						kind = "response.custom_tool_call_input.delta"
					}
					s.emit(kind, object{"output_index": i, "delta": left[i][0]})
					left[i], more = left[i][1:], true
				}
			}
		}
		for i, item := range items {
			if !calls[i].free {
				s.emit("response.function_call_arguments.done", object{"output_index": i, "arguments": item["arguments"], "name": item["name"]})
			}
		}
	}
	for i, item := range items {
		s.emit("response.output_item.done", object{"output_index": i, "item": item})
	}
	s.emit("response.completed", object{"response": object{"id": "resp_1", "output": items}})
	return s.String()
}

func readResponses(t *testing.T, body string, streamed bool) (all []string) {
	add := func(items []any) {
		for _, one := range items {
			item := one.(object)
			all = append(all, fmt.Sprint(item["name"], " ", item["arguments"], item["input"]))
		}
	}
	if !streamed {
		add(list(parse(t, body)["output"]))
		return all
	}
	for _, e := range dataOf(body) {
		switch e["type"] {
		case "response.output_item.added", "response.output_item.done":
			add([]any{e["item"]})
		case "response.completed":
			add(list(e["response"].(object)["output"]))
		}
	}
	return all
}

func chatCalls(calls []asked) (all []object) {
	for i, c := range calls {
		all = append(all, object{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": object{"name": c.tool, "arguments": jsonOf(c.args)}})
	}
	return all
}

func wholeChat(calls []asked) string {
	return jsonOf(object{"id": "c", "choices": []object{{"index": 0, "message": object{"role": "assistant", "content": nil, "tool_calls": chatCalls(calls)}, "finish_reason": "tool_calls"}}})
}

func streamChat(calls []asked, pieces bool) string {
	s := &stream{}
	chunk := func(delta object, reason any) {
		s.emit("", object{"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	chunk(object{"role": "assistant", "content": "On it."}, nil)
	all := chatCalls(calls)
	if !pieces {
		chunk(object{"tool_calls": all}, nil)
	} else {
		var left [][]string
		for _, c := range all {
			fn := c["function"].(object)
			left = append(left, cut(fn["arguments"].(string), true))
			fn["arguments"] = ""
			chunk(object{"tool_calls": []object{c}}, nil)
		}
		for more := true; more; {
			more = false
			for i := range left {
				if len(left[i]) > 0 {
					chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": left[i][0]}}}}, nil)
					left[i], more = left[i][1:], true
				}
			}
		}
	}
	chunk(object{}, "tool_calls")
	s.WriteString("data: [DONE]\n\n")
	return s.String()
}

func readChat(t *testing.T, body string, streamed bool) (all []string) {
	bodies := dataOf(body)
	if !streamed {
		bodies = []object{parse(t, body)}
	}
	names, args := map[any]string{}, map[any]string{}
	var order []any
	for _, v := range bodies {
		for _, choice := range list(v["choices"]) {
			for _, member := range []string{"delta", "message"} {
				m, _ := choice.(object)[member].(object)
				for _, one := range list(m["tool_calls"]) {
					c := one.(object)
					fn := c["function"].(object)
					at := c["index"]
					if name, is := fn["name"].(string); is {
						names[at] = name
						order = append(order, at)
					}
					args[at] += fn["arguments"].(string)
				}
			}
		}
	}
	for _, at := range order {
		all = append(all, names[at]+" "+args[at])
	}
	return all
}

func geminiParts(calls []asked) (parts []object) {
	for _, c := range calls {
		parts = append(parts, object{"functionCall": object{"name": c.tool, "args": c.args}, "thoughtSignature": "sig"})
	}
	return parts
}

func geminiChunk(parts []object) object {
	return object{"candidates": []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}}}
}

func wholeGemini(calls []asked) string { return jsonOf(geminiChunk(geminiParts(calls))) }

func streamGemini(calls []asked, pieces bool) string {
	s := &stream{}
	s.emit("", geminiChunk([]object{{"text": "On it."}}))
	if !pieces {
		s.emit("", geminiChunk(geminiParts(calls)))
	} else {
		for _, part := range geminiParts(calls) {
			s.emit("", geminiChunk([]object{part}))
		}
	}
	return s.String()
}

func readGemini(t *testing.T, body string, streamed bool) (all []string) {
	bodies := dataOf(body)
	if !streamed {
		bodies = []object{parse(t, body)}
	}
	for _, v := range bodies {
		for _, candidate := range list(v["candidates"]) {
			for _, part := range list(candidate.(object)["content"].(object)["parts"]) {
				if c, is := part.(object)["functionCall"].(object); is {
					all = append(all, fmt.Sprint(c["name"], " ", jsonOf(c["args"])))
				}
			}
		}
	}
	return all
}
