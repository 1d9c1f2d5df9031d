package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// Agent is an MCP client of the real proxy.
type Agent struct {
	in    io.WriteCloser
	out   *json.Decoder
	calls int
	close func() error
}

// Start starts the proxy, and completes the handshake of MCP with it, as a client would.
func Start(proxy *exec.Cmd) (*Agent, error) {
	in, err := proxy.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := proxy.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := proxy.Start(); err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	a := &Agent{in: in, out: json.NewDecoder(out)}
	a.close = sync.OnceValue(func() error {
		_ = in.Close() // the proxy ends when its input ends
		return proxy.Wait()
	})
	hello := json.RawMessage(`{"protocolVersion":"` + protocol + `","capabilities":{},"clientInfo":{"name":"clawai-demo-agent","version":"1"}}`)
	err = a.requestReply("initialize", hello, nil)
	if err == nil {
		_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	if err != nil {
		_ = a.Close()
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	return a, nil
}

// requestReply sends a request and reads messages until the reply arrives. It decodes the reply's
// result into result.
func (a *Agent) requestReply(method string, params, result any) error {
	a.calls++
	if err := json.NewEncoder(a.in).Encode(map[string]any{"jsonrpc": "2.0", "id": a.calls, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		var got struct {
			ID     int
			Result json.RawMessage
			Error  *rpcError
		}
		switch err := a.out.Decode(&got); {
		case err != nil:
			return err
		case got.ID != a.calls: // a notification
		case got.Error != nil:
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(got.Result, result)
		}
	}
}

// ListTools returns the names of the server's tools.
func (a *Agent) ListTools() ([]string, error) {
	var list struct{ Tools []struct{ Name string } }
	if err := a.requestReply("tools/list", struct{}{}, &list); err != nil {
		return nil, err
	}
	names := make([]string, len(list.Tools))
	for i, tool := range list.Tools {
		names[i] = tool.Name
	}
	return names, nil
}

// TryStep makes the call of a step and returns the outcome.
func (a *Agent) TryStep(s Step) (Outcome, error) {
	var result callResult
	if err := a.requestReply("tools/call", callParams{s.Tool, s.Args}, &result); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Refused: result.IsError}
	for _, c := range result.Content {
		out.Text += c.Text
	}
	return out, nil
}

// Close ends the proxy, and the proxy ends the server.
func (a *Agent) Close() error { return a.close() }
