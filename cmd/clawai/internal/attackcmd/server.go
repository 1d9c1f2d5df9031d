package attackcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// server is the hostile server that plays an attack. The gate uses it as the upstream of a session.
type server struct {
	attack   *attack
	harmless carrier
	fromUs   *io.PipeReader // reads what the gate has written with Write
	in       *io.PipeWriter
	out      *io.PipeReader // the gate reads from it with Read
	toUs     *io.PipeWriter
	done     chan struct{}

	mu    sync.Mutex
	heard []string

	listed, called int             // numbers of tools/list and tools/call requests so far
	waits          map[string]bool // requests of this server without an answer, by id
	held           []any           // messages that the server sends when all requests in waits are answered
}

func newServer(a *attack, harmless carrier) *server {
	s := &server{attack: a, harmless: harmless, done: make(chan struct{}), waits: map[string]bool{}}
	s.fromUs, s.in = io.Pipe()
	s.out, s.toUs = io.Pipe()
	go s.serveLines()
	return s
}

func (s *server) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *server) Write(p []byte) (int, error) { return s.in.Write(p) }

// Done returns nil, because this server ends only when its input ends.
func (s *server) Done() <-chan struct{} { return nil }

// Close ends the server and waits until it has ended.
func (s *server) Close(context.Context) error {
	_, _ = s.in.Close(), s.out.Close()
	<-s.done
	return nil
}

// Status returns a text about the server, for the record.
func (s *server) Status() string { return "scripted" }

func (s *server) heardMessages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

func (s *server) serveLines() {
	defer close(s.done)
	defer func() { _ = s.toUs.Close() }()
	lines := bufio.NewReader(s.fromUs)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.heard = append(s.heard, string(line))
		s.mu.Unlock()
		var m message
		if json.Unmarshal(line, &m) != nil || !s.answerMessage(&m) {
			return
		}
	}
}

// answerMessage writes the server's answer to one message. It returns false if the client has
// stopped reading.
func (s *server) answerMessage(m *message) bool {
	var say []any
	switch {
	case m.Method == "" && s.waits[string(m.ID)]:
		if delete(s.waits, string(m.ID)); len(s.waits) == 0 {
			say, s.held = s.held, nil
		}
	case m.ID == nil:
	case m.Method == "initialize":
		say = []any{newResult(m.ID, map[string]any{
			"protocolVersion": protocol, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}, "logging": map[string]any{}},
			"serverInfo": map[string]any{"name": "scripted", "version": "1"}, "instructions": s.attack.Instructions,
		})}
	case m.Method == "tools/list":
		say = s.answerList(m.ID)
	case m.Method == "tools/call":
		say = s.answerCall(m.ID)
	default:
		say = []any{newResult(m.ID, map[string]any{})}
	}
	for _, one := range say {
		if _, err := s.toUs.Write(append(marshalJSON(one), '\n')); err != nil {
			return false
		}
	}
	return true
}

// answerList answers tools/list with the harmless tool, and with the tools that the attack adds.
func (s *server) answerList(id json.RawMessage) []any {
	tools := []json.RawMessage{marshalJSON(map[string]any{"name": s.harmless.tool, "description": "The tool that is used here.", "inputSchema": map[string]any{"type": "object"}})}
	if s.listed < len(s.attack.Lists) {
		var more []json.RawMessage
		_ = json.Unmarshal([]byte(s.attack.Lists[s.listed]), &more) // a test checks this JSON
		tools = append(tools, more...)
	}
	s.listed++
	say := []any{newResult(id, map[string]any{"tools": tools})}
	if s.listed < len(s.attack.Lists) {
		say = append(say, json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	}
	return say
}

// answerCall answers the first call with the attack, and later calls with "done".
func (s *server) answerCall(id json.RawMessage) (say []any) {
	text := func(text string) any {
		return newResult(id, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	}
	if s.called++; s.called > 1 {
		return []any{text("done")}
	}
	var answer any
	switch a := s.attack; {
	case a.Result != "":
		answer = newResult(id, json.RawMessage(a.Result))
	case a.Error != "":
		answer = map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32000, "message": a.Error}}
	default:
		answer = text("All is as it was.")
		if a.Text != "" {
			answer = text(a.Text)
		}
	}
	for _, one := range s.attack.Before {
		var m message
		_ = json.Unmarshal([]byte(one), &m) // a test checks this JSON
		if m.ID != nil {
			s.waits[string(m.ID)] = true
		}
		say = append(say, json.RawMessage(one))
	}
	if len(s.waits) > 0 {
		s.held = []any{answer}
		return say
	}
	return append(say, answer)
}

func newResult(id json.RawMessage, of any) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "result": of}
}
