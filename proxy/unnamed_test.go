package proxy_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

const (
	toldInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	toldRoots       = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	namesNone       = `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"path is missing"}}`
	resultUnderNull = `{"jsonrpc":"2.0","id":null,"result":{}}`
	noMethod        = `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`
	asksPing        = `{"jsonrpc":"2.0","id":"p","method":"ping","params":{}}`
	listTools       = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	toolsListed     = `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`
)

// An answer that names no request goes to the call that it can only be for, to none when it is
// about a notification, and never to a wrong one. A line is what the client says (>), what the
// server says (<), what the client hears (=, a part of the line; a line of its own for each),
// or that the client hears nothing more at once (.) or only after the wait (~).
func TestAnswersThatNameNoRequest(t *testing.T) {
	for name, says := range map[string][]string{
		"one call, no notification": {">" + tool("2", "ok"), "<" + namesNone, "=path is missing"},
		"one call, a result":        {">" + tool("2", "ok"), "<" + resultUnderNull, `="id":2,"error"`},
		"the notification's, first": {">" + toldInitialized, ">" + tool("2", "ok"), "<" + namesNone, ".", "<" + answer("2"), "=" + answer("2")},
		"the first request fails":   {">" + toldInitialized, ">" + tool("2", "ok"), "<" + namesNone, ".", "~", `="id":2,"error"`},
		"the same, a result":        {">" + toldInitialized, ">" + tool("2", "ok"), "<" + resultUnderNull, ".", "~", `="id":2,"error"`},
		"both are answered so":      {">" + toldInitialized, ">" + tool("2", "ok"), "<" + namesNone, ".", "<" + namesNone, `="id":2,"error"`},
		"a server that is silent":   {">" + toldInitialized, ">" + tool("2", "ok"), "<" + answer("2"), "=" + answer("2"), ">" + toldInitialized, ">" + tool("3", "ok"), "<" + namesNone, "=path is missing"},
		"a server that answers":     {">" + toldInitialized, "<" + namesNone, ".", ">" + toldInitialized, ">" + tool("2", "ok"), "<" + namesNone, ".", "<" + namesNone, "=path is missing"},
		"it says what it means":     {">" + toldRoots, ">" + tool("2", "ok"), "<" + strings.Replace(namesNone, "path is missing", "unknown: notifications/roots/list_changed", 1), "~", ".", "<" + answer("2"), "=" + answer("2")},
		"a method that it knows":    {">" + listTools, "<" + toolsListed, "=" + toolsListed, ">" + toldRoots, ">" + tool("2", "ok"), "<" + noMethod, "~", ".", "<" + answer("2"), "=" + answer("2")},
		"of two calls, the other":   {">" + tool("2", "ok"), ">" + tool("3", "ok"), "<" + namesNone, "~", ".", "<" + answer("2"), "=" + answer("2"), "=path is missing"},
		"two calls, and two errors": {">" + tool("2", "ok"), ">" + tool("3", "ok"), "<" + namesNone, ".", "<" + namesNone, `="error"`, `="error"`},
		"a call that came after":    {">" + tool("2", "ok"), "<" + answer("2"), "=" + answer("2"), "<" + namesNone, ">" + tool("3", "ok"), "~", ".", "<" + answer("3"), "=" + answer("3")},
		"one that was given up":     {">" + tool("2", "ok"), ">" + cancel("2"), ">" + tool("3", "ok"), "<" + namesNone, ".", "<" + answer("3"), "=" + answer("3")},
		"an id twice":               {">" + tool("2", "ok"), `<{"jsonrpc":"2.0","id":null,"id":2,"error":{"code":1,"message":"no"}}`, ".", "<" + answer("2"), "=" + answer("2")},
		"a log in JSON":             {">" + tool("2", "ok"), `<{"level":"info","result":"ok"}`, `<{"error":"disk","id":null}`, "~", ".", "<" + answer("2"), "=" + answer("2")},
		"behind a repair":           {">" + tool("2", "ok"), "<" + strings.Replace(namesNone, "missing", `\ud83d`, 1), `=path is \ufffd`},
		"about an answer":           {">" + tool("2", "ok"), "<" + asksPing, "=" + asksPing, ">" + answer(`"p"`), "<" + namesNone, ".", "<" + answer("2"), "=" + answer("2")},
		"about an answer, again":    {">" + tool("2", "ok"), "<" + asksPing, "=" + asksPing, ">" + answer(`"p"`), "<" + answer("2"), "=" + answer("2"), ">" + tool("3", "ok"), "<" + asksPing, "=" + asksPing, ">" + answer(`"p"`), "<" + namesNone, ".", "<" + answer("3"), "=" + answer("3")},
		"about a refusal of ours":   {">" + tool("2", "ok"), "<" + strings.Replace(asksPing, `"params":{}`, `"params":[]`, 1), "<" + namesNone, ".", "<" + answer("2"), "=" + answer("2")},
		"an answer long ago":        {"<" + asksPing, "=" + asksPing, ">" + answer(`"p"`), ">" + tool("2", "ok"), "<" + answer("2"), "=" + answer("2"), ">" + tool("3", "ok"), "<" + namesNone, "=path is missing"},
		"no error that is one":      {">" + tool("2", "ok"), `<{"jsonrpc":"2.0","error":"no"}`, `="id":2,"error"`},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { play(t, says) }) })
	}
}

// play has a client and a server say these lines.
func play(t *testing.T, says []string) {
	var toServer, toClient hearer
	s := newSession(t)
	client := s.NewStream(mcp.ClientToServer, "", &toServer, &toClient)
	server := s.NewStream(mcp.ServerToClient, "", &toClient, &toServer)
	for _, line := range says {
		what, line := line[0], line[1:]
		synctest.Wait()
		switch what {
		case '>':
			client.HandleLines(t.Context(), []byte(line))
		case '<':
			server.HandleLines(t.Context(), []byte(line))
		case '~':
			time.Sleep(time.Minute)
		case '=':
			if heard := toClient.heard(1); len(heard) == 0 || !strings.Contains(heard[0], line) {
				t.Fatalf("the client hears %q, want %s", heard, line)
			}
			continue
		}
		synctest.Wait()
		if heard := toClient.heard(0); (what == '.' || what == '>') && len(heard) > 0 {
			t.Fatalf("the client hears %q", heard)
		}
	}
	if heard := toClient.heard(0); len(heard) > 0 {
		t.Errorf("the client hears %q, too", heard)
	}
}

// An array of requests that is answered by one error without an id, as by a server that knows
// no arrays, has all its calls answered.
func TestAnArrayThatFailsWhole(t *testing.T) {
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	begun := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	synctest.Test(t, func(t *testing.T) {
		play(t, []string{">" + hello, "<" + begun, "=" + begun, ">[" + tool("2", "ok") + "," + tool("3", "ok") + "]", "<" + namesNone, "~", `="error"`, `="error"`})
	})
}

func newSession(t *testing.T) *proxy.Session {
	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{Policy: p, Recorder: &record{}, Approver: &person{}, WaitEvery: time.Hour, Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{}})
	if err != nil {
		t.Fatal(err)
	}
	return proxy.NewSession(proxy.Options{Gate: g, Name: "fs"})
}

// hearer keeps what it is told, also by a timer.
type hearer struct {
	mu    sync.Mutex
	lines []string
}

func (h *hearer) Add(line []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, string(line))
	return nil
}

// heard takes what it was told first, and gives all that it was told.
func (h *hearer) heard(take int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	heard := h.lines
	h.lines = h.lines[min(take, len(h.lines)):]
	return heard
}

func (h *hearer) Flush() {}
