//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// turn is one tool call that a model asks for.
type turn struct {
	tool string         // of the agent's own tools
	args map[string]any // by that tool's names
}

// script is a model that asks for one tool call after another, whatever the answers,
// and then ends. It speaks the streams of three vendors.
type script struct {
	t      *testing.T
	turns  []turn
	before func(n int)                // what to do before turn n is asked for
	after  func(n int, answer string) // what the agent reported of turn n

	one   sync.Mutex
	asked int // turns, and the end
}

// serve gives the model's address on loopback.
func (s *script) serve() string {
	server := httptest.NewServer(http.HandlerFunc(s.answer))
	s.t.Cleanup(server.Close)
	return server.URL
}

func (s *script) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request struct {
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
		anthropic(w, s.next(len(request.Tools) > 0, request.Messages, `"type":"tool_result"`))
	case strings.HasSuffix(r.URL.Path, "/responses"):
		responses(w, s.next(true, request.Input, `"type":"function_call_output"`))
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		gemini(w, s.next(len(request.Tools) > 0, request.Contents, `"functionResponse":`))
	default:
		http.NotFound(w, r)
	}
}

// next is the turn that follows upon those whose answers the conversation has, told by
// the mark that each bears; nil is the end. A request without tools is about something
// else, a title for instance.
func (s *script) next(tools bool, conversation json.RawMessage, mark string) *turn {
	if !tools {
		return nil
	}
	s.one.Lock()
	defer s.one.Unlock()
	text := string(conversation)
	n := strings.Count(text, mark)
	if n > len(s.turns) {
		s.t.Errorf("%d answers to %d calls", n, len(s.turns))
		return nil
	}
	if n > 0 && n == s.asked {
		s.after(n-1, text[strings.LastIndex(text, mark):])
	}
	if n == len(s.turns) {
		s.asked = n + 1
		return nil
	}
	if n == s.asked {
		s.before(n)
		s.asked = n + 1
	}
	return &s.turns[n]
}

// emit writes one event of a stream.
func emit(w io.Writer, kind string, value any) {
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

// unique is an identifier that no other call has.
func unique(prefix string) string { return fmt.Sprintf("%s%08d", prefix, counted.Add(1)) }

func (c *turn) input() string {
	text, err := json.Marshal(c.args)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// anthropic answers as the Messages API does.
func anthropic(w io.Writer, c *turn) {
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "Done."}, "end_turn"
	if c != nil {
		block = object{"type": "tool_use", "id": unique("toolu_"), "name": c.tool, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": c.input()}, "tool_use"
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	for _, e := range []object{
		{"type": "message_start", "message": object{"id": unique("msg_"), "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "usage": usage}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage},
		{"type": "message_stop"},
	} {
		emit(w, e["type"].(string), e)
	}
}

// responses answers as the Responses API does.
func responses(w io.Writer, c *turn) {
	item := object{"type": "message", "id": unique("msg_"), "role": "assistant", "content": []object{{"type": "output_text", "text": "Done."}}}
	if c != nil {
		item = object{"type": "function_call", "id": unique("fc_"), "call_id": unique("call_"), "name": c.tool, "arguments": c.input()}
		if at := strings.LastIndex(c.tool, "__"); at > 0 { // of a server's tools
			item["namespace"], item["name"] = c.tool[:at], c.tool[at+2:]
		}
	}
	id := unique("resp_")
	for _, e := range []object{
		{"type": "response.created", "response": object{"id": id}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": object{"id": id, "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
	} {
		emit(w, e["type"].(string), e)
	}
}

// gemini answers as generateContent does.
func gemini(w io.Writer, c *turn) {
	part := object{"text": "Done."}
	if c != nil {
		part = object{"functionCall": object{"name": c.tool, "args": c.args}}
	}
	emit(w, "", object{
		"candidates":    []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
}
