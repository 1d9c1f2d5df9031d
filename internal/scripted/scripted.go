// Package scripted is a fake model: it asks an agent for a fixed list of tool
// calls, in the protocols of three vendors and in that of chat completions. A
// client that uses its address needs no account.
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Turn is one tool call that a model asks for.
type Turn struct {
	Tool string         // one of the agent's own tools
	Args map[string]any // by the tool's argument names
	Also []Turn         // further calls in the same reply
}

// calls returns all calls of one reply: the turn's own call and those in Also. It returns none for
// a nil Turn, which means the end.
func (c *Turn) calls() []Turn {
	if c == nil {
		return nil
	}
	return append([]Turn{*c}, c.Also...)
}

// Model asks for one tool call after another, whatever the answers are, and then ends. It is an
// HTTP handler. It speaks the streams of three vendors. It also speaks the chat completions of the
// first vendor, which other services use too.
type Model struct {
	Turns  []Turn
	Before func(n int)                // called before turn n is requested; may be nil
	After  func(n int, answer string) // called with the agent's report of turn n; may be nil
	Pieces bool                       // arguments are streamed in pieces; if the API allows it, the pieces of several calls alternate

	mu    sync.Mutex
	asked int // number of turns requested, plus one after the end
}

// maxRequest is the largest request in bytes. A client that has just started sends
// less.
const maxRequest = 16 << 20

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","object":"model"}]}`)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return
	}
	var request struct {
		Stream                    bool
		Tools                     []any
		Messages, Input, Contents json.RawMessage
	}
	if json.Unmarshal(body, &request) != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages"):
		answerAnthropic(w, m.Pieces, m.nextTurn(len(request.Tools) > 0, request.Messages, `"type":"tool_result"`))
	case strings.HasSuffix(r.URL.Path, "/responses"):
		answerResponses(w, m.Pieces, m.nextTurn(true, request.Input, `"type":"function_call_output"`))
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		answerGemini(w, m.nextTurn(len(request.Tools) > 0, request.Contents, `"functionResponse":`))
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		answerChat(w, m.Pieces, m.nextTurn(len(request.Tools) > 0, request.Messages, `"role":"tool"`), request.Stream)
	default:
		http.NotFound(w, r)
	}
}

// nextTurn returns the turn after those that the conversation already answers,
// or nil at the end. It counts the answers by their mark. A request without
// tools is about something else, for instance a title.
func (m *Model) nextTurn(tools bool, conversation json.RawMessage, mark string) *Turn {
	if !tools {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text := compactJSON(conversation)
	n, left := 0, strings.Count(text, mark) // n is the number of answered turns, and left is the number of answers that are not assigned to a turn yet
	for n < len(m.Turns) && left > len(m.Turns[n].Also) {
		left -= 1 + len(m.Turns[n].Also)
		n++
	}
	n += left // these answers are for calls that the model did not request
	if n > 0 && n == m.asked && n <= len(m.Turns) && m.After != nil {
		m.After(n-1, text[strings.LastIndex(text, mark):])
	}
	if n >= len(m.Turns) {
		m.asked = n + 1
		return nil
	}
	if n == m.asked {
		if m.Before != nil {
			m.Before(n)
		}
		m.asked = n + 1
	}
	return &m.Turns[n]
}

// CountAsked returns the number of requests to the model: its turns, and the
// end. It is higher when an agent has sent answers that the model did not
// request.
func (m *Model) CountAsked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// emitEvent writes one event of a stream.
func emitEvent(w io.Writer, kind string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if kind != "" {
		fmt.Fprintf(w, "event: %s\n", kind)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
}

type object = map[string]any

var counted atomic.Int64

// uniqueID returns an identifier that no other call has.
func uniqueID(prefix string) string { return fmt.Sprintf("%s%08d", prefix, counted.Add(1)) }

// ArgumentsJSON returns the call's arguments as JSON.
func (c *Turn) ArgumentsJSON() string {
	text, err := json.Marshal(c.Args)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// cutArguments returns the pieces in which the arguments of a call are streamed.
func cutArguments(text string, pieces bool) (all []string) {
	if !pieces {
		return []string{text}
	}
	for len(text) > 3 {
		all, text = append(all, text[:3]), text[3:]
	}
	return append(all, text)
}

// answerAnthropic answers like the Messages API.
func answerAnthropic(w io.Writer, pieces bool, c *Turn) {
	emit := func(kind string, members object) {
		members["type"] = kind
		emitEvent(w, kind, members)
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	emit("message_start", object{"message": object{"id": uniqueID("msg_"), "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "usage": usage}})
	block := func(at int, begins object, deltas ...object) {
		emit("content_block_start", object{"index": at, "content_block": begins})
		for _, d := range deltas {
			emit("content_block_delta", object{"index": at, "delta": d})
		}
		emit("content_block_stop", object{"index": at})
	}
	stop := "tool_use"
	for i, one := range c.calls() {
		var deltas []object
		for _, piece := range cutArguments(one.ArgumentsJSON(), pieces) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(i, object{"type": "tool_use", "id": uniqueID("toolu_"), "name": one.Tool, "input": object{}}, deltas...)
	}
	if c == nil {
		stop = "end_turn"
		block(0, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "Done."})
	}
	emit("message_delta", object{"delta": object{"stop_reason": stop}, "usage": usage})
	emit("message_stop", object{})
}

// responsesItem returns a call as an item of the Responses API.
func responsesItem(c *Turn) object {
	item := object{"type": "function_call", "id": uniqueID("fc_"), "call_id": uniqueID("call_"), "name": c.Tool, "arguments": c.ArgumentsJSON()}
	if name, ok := strings.CutPrefix(c.Tool, "mcp__"); ok { // a server's tool; a hub's tool name may contain __
		server, tool, _ := strings.Cut(name, "__")
		item["namespace"], item["name"] = "mcp__"+server, tool
	} else if space, tool, ok := strings.Cut(c.Tool, "."); ok {
		item["namespace"], item["name"] = space, tool
	}
	return item
}

// answerResponses answers like the Responses API.
func answerResponses(w io.Writer, pieces bool, c *Turn) {
	emit := func(kind string, members object) {
		members["type"] = kind
		emitEvent(w, kind, members)
	}
	id := uniqueID("resp_")
	emit("response.created", object{"response": object{"id": id}})
	var items []object
	calls := c.calls()
	for i := range calls {
		items = append(items, responsesItem(&calls[i]))
	}
	if c == nil {
		items = append(items, object{"type": "message", "id": uniqueID("msg_"), "role": "assistant", "content": []object{{"type": "output_text", "text": "Done."}}})
	}
	if c != nil && pieces {
		var left [][]string
		for i, item := range items {
			begun := maps.Clone(item)
			begun["arguments"] = ""
			emit("response.output_item.added", object{"output_index": i, "item": begun})
			left = append(left, cutArguments(item["arguments"].(string), true))
		}
		for more := true; more; {
			more = false
			for i := range left {
				if len(left[i]) > 0 {
					emit("response.function_call_arguments.delta", object{"output_index": i, "item_id": items[i]["id"], "delta": left[i][0]})
					left[i], more = left[i][1:], true
				}
			}
		}
	}
	for i, item := range items {
		emit("response.output_item.done", object{"output_index": i, "item": item})
	}
	emit("response.completed", object{"response": object{"id": id, "output": items, "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}

// answerGemini answers like generateContent.
func answerGemini(w io.Writer, c *Turn) {
	var parts []object
	for _, one := range c.calls() {
		parts = append(parts, object{"functionCall": object{"name": one.Tool, "args": one.Args}})
	}
	if c == nil {
		parts = []object{{"text": "Done."}}
	}
	emitEvent(w, "", object{
		"candidates":    []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
}

// compactJSON removes blanks between tokens, so that a mark is found in every
// format.
func compactJSON(conversation json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, conversation) != nil {
		return string(conversation)
	}
	return b.String()
}

// answerChat answers like chat completions, as one document or as a stream.
func answerChat(w http.ResponseWriter, pieces bool, c *Turn, stream bool) {
	message, reason := object{"role": "assistant", "content": "Done."}, "stop"
	var calls []object
	for i, one := range c.calls() {
		calls = append(calls, object{"index": i, "id": uniqueID("call_"), "type": "function", "function": object{"name": one.Tool, "arguments": one.ArgumentsJSON()}})
	}
	if c != nil {
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	whole := func(kind, member string, value object, reason any) object {
		return object{"id": "chatcmpl-1", "created": 1, "model": "scripted", "object": kind, "usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			"choices": []object{{"index": 0, member: value, "finish_reason": reason}}}
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole("chat.completion", "message", message, reason))
		return
	}
	chunk := func(delta object, reason any) {
		emitEvent(w, "", whole("chat.completion.chunk", "delta", delta, reason))
	}
	if c != nil && pieces {
		var left [][]string
		for _, call := range calls {
			fn := call["function"].(object)
			left = append(left, cutArguments(fn["arguments"].(string), true))
			fn["arguments"] = ""
			chunk(object{"tool_calls": []object{call}}, nil)
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
	} else {
		chunk(message, nil)
	}
	chunk(object{}, reason)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
