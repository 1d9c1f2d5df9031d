// Package scripted is a fake model: it asks an agent for a fixed list of tool
// calls, in the protocols of three vendors and in that of chat completions. A
// client that uses its address needs no account.
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Turn is one tool call that a model asks for.
type Turn struct {
	Tool string         // one of the agent's own tools
	Args map[string]any // by the tool's argument names
}

// Model asks for one tool call after another, whatever the answers, and then
// ends. It is an HTTP handler and speaks the streams of three vendors, and chat
// completions, which other services have adopted from the first vendor.
type Model struct {
	Turns  []Turn
	Before func(n int)                // called before turn n is requested; may be nil
	After  func(n int, answer string) // called with the agent's report of turn n; may be nil

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
		answerAnthropic(w, m.nextTurn(len(request.Tools) > 0, request.Messages, `"type":"tool_result"`))
	case strings.HasSuffix(r.URL.Path, "/responses"):
		answerResponses(w, m.nextTurn(true, request.Input, `"type":"function_call_output"`))
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		answerGemini(w, m.nextTurn(len(request.Tools) > 0, request.Contents, `"functionResponse":`))
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		answerChat(w, m.nextTurn(len(request.Tools) > 0, request.Messages, `"role":"tool"`), request.Stream)
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
	n := strings.Count(text, mark)
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

// answerAnthropic answers like the Messages API.
func answerAnthropic(w io.Writer, c *Turn) {
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "Done."}, "end_turn"
	if c != nil {
		block = object{"type": "tool_use", "id": uniqueID("toolu_"), "name": c.Tool, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": c.ArgumentsJSON()}, "tool_use"
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	for _, e := range []object{
		{"type": "message_start", "message": object{"id": uniqueID("msg_"), "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "usage": usage}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage},
		{"type": "message_stop"},
	} {
		emitEvent(w, e["type"].(string), e)
	}
}

// answerResponses answers like the Responses API.
func answerResponses(w io.Writer, c *Turn) {
	item := object{"type": "message", "id": uniqueID("msg_"), "role": "assistant", "content": []object{{"type": "output_text", "text": "Done."}}}
	if c != nil {
		item = object{"type": "function_call", "id": uniqueID("fc_"), "call_id": uniqueID("call_"), "name": c.Tool, "arguments": c.ArgumentsJSON()}
		if name, ok := strings.CutPrefix(c.Tool, "mcp__"); ok { // a server's tool; a hub's tool name may contain __
			server, tool, _ := strings.Cut(name, "__")
			item["namespace"], item["name"] = "mcp__"+server, tool
		} else if space, tool, ok := strings.Cut(c.Tool, "."); ok {
			item["namespace"], item["name"] = space, tool
		}
	}
	id := uniqueID("resp_")
	for _, e := range []object{
		{"type": "response.created", "response": object{"id": id}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": object{"id": id, "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
	} {
		emitEvent(w, e["type"].(string), e)
	}
}

// answerGemini answers like generateContent.
func answerGemini(w io.Writer, c *Turn) {
	part := object{"text": "Done."}
	if c != nil {
		part = object{"functionCall": object{"name": c.Tool, "args": c.Args}}
	}
	emitEvent(w, "", object{
		"candidates":    []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP", "index": 0}},
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
func answerChat(w http.ResponseWriter, c *Turn, stream bool) {
	message, reason := object{"role": "assistant", "content": "Done."}, "stop"
	if c != nil {
		call := object{"index": 0, "id": uniqueID("call_"), "type": "function", "function": object{"name": c.Tool, "arguments": c.ArgumentsJSON()}}
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": []object{call}}, "tool_calls"
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
	emitEvent(w, "", whole("chat.completion.chunk", "delta", message, nil))
	emitEvent(w, "", whole("chat.completion.chunk", "delta", object{}, reason))
	fmt.Fprint(w, "data: [DONE]\n\n")
}
