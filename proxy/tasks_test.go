package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

func task(id, method, handle string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tasks/%s","params":{"taskId":%q}}`, id, method, handle)
}

func result(id, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{` + members + `}}`
}

// The forms in which a call becomes a task: of 2025-11-25, and of the extension.
var became = map[string]string{
	"2025-11-25": `"task":{"taskId":"T","status":"working"}`,
	"2026-07-28": `"resultType":"task","taskId":"T","status":"working"`,
}

// makes has a call answered with the task T, and gives the call's record.
func (w *harness) makes(name, members string) event.Event {
	w.t.Helper()
	w.client.send(tool("1", name))
	w.server.wants(tool("1", name))
	w.server.send(result("1", members))
	w.client.wants(result("1", members))
	return w.record.has(w.t, event.Decision, gate.CodeAllowedByRule)
}

func TestATaskIsItsCallers(t *testing.T) {
	for version, members := range became {
		t.Run(version, func(t *testing.T) {
			w := newHarness(t)
			w.client.send(task("9", "get", "T")) // guessed
			w.client.wantsLike(`"id":9`, `"error"`, gate.CodeMalformed, "no call of this session")
			made := w.makes("ok", members)
			for i, method := range []string{"get", "result", "update", "cancel"} {
				id := fmt.Sprint(10 + i)
				w.client.send(task(id, method, "T"))
				w.server.wants(task(id, method, "T"))
				w.server.send(answer(id))
				w.client.wants(answer(id))
			}
			w.client.send(task("20", "get", "U"), task("21", "cancel", "U"))
			w.client.wantsLike(`"id":20`, gate.CodeMalformed)
			w.client.wantsLike(`"id":21`, gate.CodeMalformed)
			if got := w.record.about(t, "tasks/result"); got.Ref != made.Record {
				t.Errorf("the record of tasks/result names %q, the call is %q", got.Ref, made.Record)
			}
		})
	}
}

func TestATaskEndsWithWhatTheRulesAllow(t *testing.T) {
	w := newHarness(t)
	w.makes("ok", became["2025-11-25"])
	p, err := policy.Parse("new.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"ok\"\ndescription = \"not any more\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.gate.SetPolicy(p)
	w.client.send(task("2", "result", "T"))
	w.client.wantsLike(`"id":2`, `"error"`, "not any more")
	w.server.send(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"T","status":"completed","result":{}}}`)
	w.client.send(task("3", "cancel", "T"))
	w.server.wants(task("3", "cancel", "T"))
	w.server.send(answer("3"))
	w.client.wants(answer("3")) // and not the notification
}

// A person who let a call through is not asked for each look at it.
func TestATaskIsAskedAboutOnce(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ask"))
	<-w.person.asked
	w.person.answers <- gate.AllowOnce
	w.server.wants(tool("1", "ask"))
	w.server.send(result("1", became["2026-07-28"]))
	w.client.wants(result("1", became["2026-07-28"]))
	w.client.send(task("2", "get", "T"))
	w.server.wants(task("2", "get", "T"))
}

func TestNewsOfATask(t *testing.T) {
	w := newHarness(t)
	w.makes("ok", became["2026-07-28"])
	news := func(method, handle string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":{"taskId":"` + handle + `","status":"completed","result":{}}}`
	}
	for _, method := range []string{"notifications/tasks", "notifications/tasks/status"} {
		w.server.send(news(method, "U"), news(method, "T"))
		w.client.wants(news(method, "T"))
	}
	listen := func(id, handles string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"taskIds":` + handles + `}}}`
	}
	w.client.send(listen("2", `["T"]`))
	w.server.wants(listen("2", `["T"]`))
	for _, handles := range []string{`["T","U"]`, `"T"`, `{"T":"T"}`, `[1]`} {
		w.client.send(listen("3", handles))
		w.client.wantsLike(`"id":3`, gate.CodeMalformed)
	}
	w.client.send(`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":7}}`)
	w.client.wantsLike(`"id":4`, gate.CodeMalformed)
}

// A server that gives work to its client polls it in turn; the handles of one
// side are nothing to the other.
func TestTasksOfTheClient(t *testing.T) {
	w := newHarness(t)
	ask := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"fine"}}],"task":{}}}`
	w.server.send(ask)
	w.client.wants(ask)
	w.client.send(result("1", became["2025-11-25"]))
	w.server.wants(result("1", became["2025-11-25"]))
	w.client.send(task("5", "result", "T"))
	w.client.wantsLike(`"id":5`, gate.CodeMalformed)
	w.server.send(task("6", "result", "T"))
	w.client.wants(task("6", "result", "T"))
}

// The memory of tasks is bounded: the oldest handle is forgotten first.
func TestOldTasksAreForgotten(t *testing.T) {
	w := newHarness(t)
	for i := range 1025 {
		id := fmt.Sprint(i)
		w.client.send(tool(id, "ok"))
		w.server.wants(tool(id, "ok"))
		w.server.send(result(id, `"task":{"taskId":"T`+id+`"}`))
		w.client.wantsLike(`"T` + id + `"`)
	}
	w.client.send(task("2000", "get", "T0"), task("2001", "get", "T1"))
	if got := w.client.wantsLike(gate.CodeMalformed); !strings.Contains(got, `"id":2000`) {
		t.Error(got)
	}
	w.server.wants(task("2001", "get", "T1"))
}

// The frame of a long call is not kept while its answer is waited for, unless the call
// may become a task: then its arguments decide who may poll that.
func TestALongCallMayBecomeATask(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for extra, polled := range map[string]bool{`,"task":{}`: true, "": false} {
		w := newHarness(t)
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{"a":"` + long + `"}` + extra + `}}`
		w.client.send(call)
		w.server.wants(call)
		w.server.send(result("1", became["2025-11-25"]))
		w.client.wants(result("1", became["2025-11-25"]))
		p, err := policy.Parse("new.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"ok\"\nargs.a = \"x*\"\ndescription = \"by its argument\"\n"), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.client.send(task("2", "cancel", "T"))
		if !polled {
			w.client.wantsLike(`"id":2`, gate.CodeMalformed, "no call of this session")
			continue
		}
		w.server.wants(task("2", "cancel", "T"))
		w.gate.SetPolicy(p)
		w.client.send(task("3", "result", "T"))
		w.client.wantsLike(`"id":3`, `"error"`, "by its argument")
	}
}
