package proxy_test

import (
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// TestToolsThatAreListed: what a list says of a tool holds for the calls that the client
// makes when it has seen the list, page by page, and is not mended by a later one.
func TestToolsThatAreListed(t *testing.T) {
	p, err := policy.Parse("test.toml", []byte(`
[[rule]]
action = "deny"
tool = "*"
annotations = ["destructive", "open-world"]
[[rule]]
action = "allow"
tool = "*"
`), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := newHarness(t, func(_ *proxy.Options, g *gate.Options) { g.Policy = p })
	list := func(id, result string) {
		t.Helper()
		request := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list","params":{}}`
		w.client.send(request)
		w.server.wants(request)
		answer := `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
		w.server.send(answer)
		w.client.wants(answer)
	}
	const safe = `"annotations":{"readOnlyHint":true,"openWorldHint":false}}`
	passes := func(id, name string) {
		t.Helper()
		w.client.send(tool(id, name))
		w.server.wants(tool(id, name))
	}
	refused := func(id, name string) {
		t.Helper()
		w.client.send(tool(id, name))
		w.client.wantsLike(`"id":`+id, gate.CodeDeniedByRule)
	}
	refused("1", "read")
	list("2", `{"tools":[{"name":"read",`+safe+`,{"name":"drop"}],"nextCursor":"x"}`)
	passes("3", "read")
	refused("4", "drop")
	refused("5", "list")
	list("6", `{"tools":[{"name":"list",`+safe+`]}`)
	passes("7", "list")
	passes("8", "read")
	w.server.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	w.client.wantsLike("list_changed")
	list("9", `{"tools":[{"name":"read"},{"name":"drop",`+safe+`]}`)
	refused("10", "read")
	refused("11", "drop")
	passes("12", "list")
	// An answer to another method lists nothing.
	ask := `{"jsonrpc":"2.0","id":13,"method":"prompts/list","params":{}}`
	w.client.send(ask)
	w.server.wants(ask)
	w.server.send(`{"jsonrpc":"2.0","id":13,"result":{"tools":[{"name":"other",` + safe + `]}}`)
	w.client.wantsLike(`"id":13`)
	refused("14", "other")
}
