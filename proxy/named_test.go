package proxy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
)

// named asks nobody, and keeps how the client of each question calls itself.
type named chan string

func (n named) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	n <- q.ClientName
	return gate.Answer{}, errors.New("nobody")
}

// A person is told which client asks, whether it has a form to show or not.
func TestTheClientIsNamedInTheQuestion(t *testing.T) {
	names := make(named, 1)
	w := newHarness(t, func(_ *proxy.Options, g *gate.Options) { g.Approver = names })
	asks := func(line, want string) {
		t.Helper()
		w.client.send(line)
		if got := <-names; got != want {
			t.Errorf("called %q, want %q", got, want)
		}
		w.client.wantsLike(gate.CodeNobodyToAsk)
	}
	asks(tool("1", "ask"), "")
	asks(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"new","version":"3"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, "new 3")
	long := strings.Repeat("ä", 150)
	asks(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"`+long+`","version":"3"}}}}`, long[:200]+"…")
	w.introduce("2024-11-05", `{}`)
	asks(tool("4", "ask"), "test 1.2")
}
