package proxy_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
)

// negotiate settles the session's protocol version.
func (w *harness) negotiate(version string) {
	w.t.Helper()
	w.client.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `"}}`)
	w.server.wantsLike(`"initialize"`)
	w.server.send(`{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"` + version + `","capabilities":{}}}`)
	w.client.wantsLike(`"id":"init"`)
}

func array(elements ...string) string { return "[" + strings.Join(elements, ",") + "]" }

func TestBatchesCrossWholeOrNotAtAll(t *testing.T) {
	w := newHarness(t)
	w.negotiate("2025-03-26")
	both := array(tool("1", "ok"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, tool("2", "ok2"))
	w.client.send(both)
	w.server.wants(both)
	w.client.send(array(tool("3", "ok"), tool("4", "no")))
	w.client.wantsLike(`[{`, `"id":3`, `"id":4`, gate.CodeDeniedByRule)
	w.client.send(array(tool("5", "ok"), tool("1", "ok")))
	w.client.wantsLike(`[{`, `"id":5`, `"id":1`, "duplicate_id")
	w.server.send(array(answer("2"), answer("1")))
	w.client.wants(array(answer("2"), answer("1")))
	w.client.send(array(tool("5", "ok"))) // was given back
	w.server.wants(array(tool("5", "ok")))
	w.server.send(array(answer("5"), answer("3")))
	w.client.wantsLike(`"id":5`, `"error"`)
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestABatchWithOneWithdrawnCallIsRefusedWhole(t *testing.T) {
	w := newHarness(t)
	w.negotiate("2025-03-26")
	w.client.send(array(tool("1", "ask"), tool("2", "ok")))
	<-w.person.asked
	w.client.send(cancel("1"), tool("3", "ok"))
	w.server.wants(tool("3", "ok"))
	if got := w.client.wantsLike(`[{`, `"id":2`, gate.CodeWithdrawn); strings.Contains(got, `"id":1`) {
		t.Errorf("the withdrawn call was answered: %s", got)
	}
}

func TestMixedBatchesAreRefused(t *testing.T) {
	w := newHarness(t)
	w.negotiate("2025-03-26")
	w.client.send(array(tool("1", "ok"), answer("9")))
	w.client.wantsLike(`[{`, `"id":1`, "mixed_batch")
}

func TestOtherVersionsHaveNoBatches(t *testing.T) {
	w := newHarness(t)
	w.negotiate("2025-06-18")
	w.client.send(array(tool("1", "ok")), tool("2", "ok"))
	w.server.wants(tool("2", "ok"))
	w.record.has(t, event.Dropped, "batch")
}

// modern is a tools/call of 2026-07-28.
func modern(id, rest string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ok",` + rest +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
}

// inputRequired is a result that asks the client's model something.
func inputRequired(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"` + text + `"}}]}}}}}`
}

func TestInputRequestsAreJudged(t *testing.T) {
	w := newHarness(t)
	w.client.send(modern("1", ""), modern("2", ""))
	w.server.wants(modern("1", ""), modern("2", ""))
	w.server.send(inputRequired("1", "steal"), inputRequired("2", "fine"))
	w.client.wantsLike(`"id":1`, `"resultType":"complete"`, `"isError":true`)
	w.client.wants(inputRequired("2", "fine"))

	// The retry is judged as what was asked; another answer by its own text.
	retry := func(id, key string) string {
		return modern(id, `"requestState":"s","inputResponses":{"`+key+`":{"role":"assistant","model":"m","content":{"type":"text","text":"out"}}},`)
	}
	w.client.send(retry("3", "k"), retry("4", "other"))
	w.server.wants(retry("3", "k"))
	w.client.wantsLike(`"id":4`, `"isError":true`)
}

func TestAnInputRequestMayNeedAPerson(t *testing.T) {
	w := newHarness(t)
	w.client.send(modern("1", ""), modern("2", ""))
	w.server.wants(modern("1", ""), modern("2", ""))
	w.server.send(inputRequired("1", "maybe"))
	<-w.person.asked
	w.server.send(answer("1"), answer("2")) // a second answer while the first waits
	w.client.wants(answer("2"))
	w.person.answers <- gate.AllowOnce
	w.client.wants(inputRequired("1", "maybe"))
	w.record.has(t, event.Dropped, "second_answer")

	w.client.send(modern("3", ""))
	w.server.wants(modern("3", ""))
	w.server.send(inputRequired("3", "maybe"))
	<-w.person.asked
	w.client.send(cancel("3"), modern("4", ""))
	w.server.wants(modern("4", "")) // nothing left to cancel there
	w.record.has(t, event.Decision, gate.CodeWithdrawn)
}

func TestSubscriptionsBelongToTheirRequest(t *testing.T) {
	w := newHarness(t)
	listen := `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`
	w.client.send(listen)
	w.server.wants(listen)
	changed := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
	}
	w.server.send(changed(`"other"`), changed(`"sub"`), cancel(`"sub"`), changed(`"sub"`), changed("1"),
		`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	w.client.wants(changed(`"sub"`), cancel(`"sub"`))
	w.client.wantsLike("notifications/message")
}
