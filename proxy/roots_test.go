package proxy_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// TestDeclaredRoots: what a client answers to roots/list, or brings along when it calls
// again (MCP 2026-07-28), leaves open where the server's relative paths start.
func TestDeclaredRoots(t *testing.T) {
	const read = `"params":{"name":"read","arguments":{"path":"a"}}}`
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call",` + read
	}
	declare := map[string]func(w *harness, root string){
		"asked": func(w *harness, root string) {
			w.server.send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
			w.client.wantsLike(`roots/list`)
			w.client.send(`{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"` + root + `"}]}}`)
			w.server.wantsLike(root)
		},
		"in a retry": func(w *harness, root string) {
			w.client.send(`{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"list","inputResponses":{"k":{"roots":[{"uri":"` + root + `"}]}}}}`)
			w.server.wantsLike(root)
		},
	}
	for name, declared := range declare {
		for root, passes := range map[string]bool{"file:///srv/app": true, "file:///srv/app/": true, "file:///srv": false, "https://srv": false} {
			p, err := policy.Parse("test.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/srv/**\"\n[[rule]]\naction = \"allow\"\ntool = \"list\"\n"), policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w := newHarness(t, func(_ *proxy.Options, g *gate.Options) { g.Policy, g.Facts.Cwd = p, "/srv/app" })
			w.client.send(call("1"))
			w.server.wants(call("1"))
			declared(w, root)
			w.client.send(call("2"))
			if passes {
				w.server.wants(call("2"))
				continue
			}
			if got := w.client.wantsLike(`"id":2`); !strings.Contains(got, gate.CodeNoRule) {
				t.Errorf("%s, %s: %s", name, root, got)
			}
		}
	}
}
