package proxy_test

import (
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// TestListsFollowTheRules: what nothing allows is not listed where the owner wants that, with
// every other byte as it was, and a client is told when other rules list other tools.
func TestListsFollowTheRules(t *testing.T) {
	rules := func(more string) *policy.Policy {
		p, err := policy.Parse("test.toml", []byte(more+"\n[[rule]]\naction = \"allow\"\ntool = \"a*\"\n"), policy.Options{HideDenied: true})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	w := newHarness(t, func(_ *proxy.Options, g *gate.Options) {
		g.Policy, g.Inspector = rules(""), screening.New("s", nil, nil)
	})
	ask := func(id, method, result string) {
		t.Helper()
		request := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{}}`
		w.client.send(request)
		w.server.wants(request)
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
	}
	const all = `{"tools":[{ "name":"a1" },{"name":"b"}, {"name":"a2","x":1.50}]}`
	ask("1", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}`)
	w.client.wantsLike(`"id":1`)
	ask("2", "tools/list", all)
	w.client.wantsLike(`"tools":[{ "name":"a1" },{"name":"a2","x":1.50}]`)
	if ev := w.record.has(t, event.Listed, gate.CodeAltered); len(ev.Altered) != 1 || ev.Altered[0] != "leave out b" {
		t.Errorf("on record: %v", ev.Altered)
	}
	w.gate.SetPolicy(rules("[[rule]]\naction = \"prompt\"\ntool = \"b\"\n"))
	w.client.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	ask("3", "tools/list", all)
	w.client.wants(`{"jsonrpc":"2.0","id":3,"result":` + all + `}`)
}
