// Package serve is clawai's own MCP server, with tools for agents. Its messages pass the same gate
// as those of any other server. It gets the answers of its two tools from functions in Options. It
// has access to nothing else, so it cannot decide, reveal or change any protection.
package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Name is the server's name in rules.
const Name = "clawai"

// Options are the parameters of New. If the function of a tool is nil, the tool does not exist.
type Options struct {
	Version string
	// Status returns the answer of clawai_status, which is then encoded as JSON.
	Status func(detail string) (any, error)
	// Secret returns the value of a vault entry that the owner shows to agents. The error text is
	// for the agent.
	Secret func(skill, key string) (string, error)
}

// Server is an upstream of package proxy. It runs from New to Close.
type Server struct {
	o     Options
	tools []tool
	in    *os.File       // reading end of a system pipe, so that input from before Close is still answered
	toUs  *os.File       // writing end of this pipe
	out   *io.PipeWriter // writing end of the pipe for the answers
	from  *io.PipeReader
	ended chan struct{}
	once  sync.Once
}

// New starts the server.
func New(o Options) (_ *Server, err error) {
	s := &Server{o: o, ended: make(chan struct{})}
	for _, t := range tools {
		if t.name == statusTool && o.Status != nil || t.name == vaultTool && o.Secret != nil {
			s.tools = append(s.tools, t)
		}
	}
	if s.in, s.toUs, err = os.Pipe(); err != nil {
		return nil, err
	}
	s.from, s.out = io.Pipe()
	go s.serveLines()
	return s, nil
}

// Read returns messages of the server.
func (s *Server) Read(p []byte) (int, error) { return s.from.Read(p) }

// Write passes messages to the server.
func (s *Server) Write(p []byte) (int, error) { return s.toUs.Write(p) }

// Done returns a channel that is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.ended }

// Status returns how the server ended.
func (s *Server) Status() string { return "clawai's own server was closed" }

// closeGrace is how long Close waits until the proxy has read the last answers.
const closeGrace = time.Second

// Close ends the server after it has answered its requests. A pending Read ends too.
func (s *Server) Close(context.Context) error {
	s.once.Do(func() {
		_ = s.toUs.Close()
		late := time.AfterFunc(closeGrace, func() { _ = s.from.Close() })
		<-s.ended
		late.Stop()
	})
	return nil
}

func (s *Server) serveLines() {
	defer close(s.ended)
	defer func() { _, _ = s.out.Close(), s.in.Close() }()
	lines := bufio.NewReader(s.in)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if answer := s.answerLine(line); answer != nil {
				if _, err := s.out.Write(append(answer, '\n')); err != nil {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// Error codes of JSON-RPC.
const (
	unknownMethod = -32601
	invalidParams = -32602
)

// answerLine returns the answer to a line, or nil if the line needs no answer.
func (s *Server) answerLine(line []byte) []byte {
	limits := frame.DefaultLimits()
	limits.AllowBatch = true // MCP 2025-03-26 has batches
	f, err := frame.Parse(line, limits)
	switch {
	case err == nil && f.Kind == frame.Request:
		return s.answerRequest(&f)
	case err != nil || f.Kind != frame.Batch:
		return nil // cannot happen for a request, because the gate lets only valid frames through
	}
	var all [][]byte
	for i := range f.Elements {
		if one := &f.Elements[i]; one.Kind == frame.Request {
			all = append(all, s.answerRequest(one))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return append(append([]byte("["), bytes.Join(all, []byte(","))...), ']')
}

func (s *Server) answerRequest(f *frame.Frame) []byte {
	params := jsonscan.ValueOf(f.Params)
	switch f.Method {
	case "initialize":
		return resultLine(f, map[string]any{
			"protocolVersion": mcp.AgreeVersion(params.Member("protocolVersion").Text()), "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]string{"name": Name, "version": s.o.Version},
		})
	case "ping":
		return resultLine(f, map[string]any{})
	case "tools/list":
		list := []json.RawMessage{}
		for _, t := range s.tools {
			list = append(list, json.RawMessage(t.entry))
		}
		return resultLine(f, map[string]any{"tools": list})
	case "tools/call":
		return s.callTool(f, params)
	}
	return errorLine(f, unknownMethod, f.Method+" is unknown here")
}

// callTool runs a tool and returns the answer.
func (s *Server) callTool(f *frame.Frame, params jsonscan.Value) []byte {
	name := params.Member("name").Text()
	at := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
	if at < 0 {
		return errorLine(f, invalidParams, "there is no tool "+strconv.Quote(name))
	}
	args := map[string]string{}
	if raw := params.Member("arguments"); raw != "" {
		if err := json.Unmarshal(raw.Bytes(), &args); err != nil {
			return errorLine(f, invalidParams, "the arguments are not an object of texts")
		}
	}
	for name := range args {
		if !slices.Contains(s.tools[at].arguments, name) {
			return errorLine(f, invalidParams, "there is no argument "+strconv.Quote(name))
		}
	}
	said, err := s.tools[at].run(s.o, args)
	if err != nil {
		said = map[string]any{"blocked": true, "reason": err.Error()}
	}
	text, failed := json.Marshal(said)
	if failed != nil {
		return errorLine(f, invalidParams, "the answer cannot be written")
	}
	return resultLine(f, map[string]any{
		"content":           []map[string]string{{"type": "text", "text": string(text)}},
		"structuredContent": json.RawMessage(text), "isError": err != nil,
	})
}

func resultLine(f *frame.Frame, result any) []byte {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(f.ID), "result": result})
	if err != nil {
		return errorLine(f, invalidParams, "the answer cannot be written")
	}
	return text
}

func errorLine(f *frame.Frame, code int, text string) []byte {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(f.ID), "error": map[string]any{"code": code, "message": text}})
	return line
}

// errArguments is the error for a call with missing arguments.
var errArguments = errors.New("skill and key are both needed")
