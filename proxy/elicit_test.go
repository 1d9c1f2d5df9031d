package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// formApprover asks through the client's form and nothing else.
type formApprover struct{ ended chan error }

const formSchema = `{"type":"object","properties":{"answer":{"type":"string","enum":["deny","once"]}}}`

func (r *formApprover) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	if q.Client == nil {
		return gate.Answer{}, errors.New("no form")
	}
	name, version := q.Client.Name()
	got, err := q.Client.Elicit(ctx, "let it through? ("+name+" "+version+")", []byte(formSchema))
	if r.ended != nil {
		r.ended <- err
	}
	if err != nil {
		return gate.Answer{}, err
	}
	a := gate.Answer{Digest: q.Digest, Channel: "form"}
	if got.Action == "cancel" {
		return a, errors.New("cancelled")
	}
	if got.Action == "accept" && gjson.GetBytes(got.Content, "answer").Str == "once" {
		a.Reply = gate.AllowOnce
	}
	return a, nil
}

func forms(o *proxy.Options, g *gate.Options) { g.Approver = &formApprover{} }

func shortly(_ *proxy.Options, g *gate.Options) { g.AskTimeout = 50 * time.Millisecond }

// introduce opens a legacy session whose client has these capabilities.
func (w *harness) introduce(version, capabilities string) {
	w.t.Helper()
	w.client.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version +
		`","clientInfo":{"name":"test","version":"1.2"},"capabilities":` + capabilities + `}}`)
	w.server.wantsLike(`"initialize"`)
	w.server.send(`{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"` + version + `","capabilities":{}}}`)
	w.client.wantsLike(`"id":"init"`)
}

// question reads the client's next line, which must be a question of the
// pump's, and gives its id token.
func (w *harness) question() string {
	w.t.Helper()
	line := w.client.wantsLike(`"method":"elicitation/create"`, "let it through? (test 1.2)", `"requestedSchema":`+formSchema)
	return gjson.Get(line, "id").Raw
}

func elicited(id, answer string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"` + answer + `"}}}`
}

const elicits = `{"elicitation":{}}`

func TestTheClientIsAskedAndItsAnswerStaysHere(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	w.client.send(tool("2", "ok")) // nothing queues behind the question
	w.server.wants(tool("2", "ok"))
	w.client.send(elicited(id, "once"))
	w.server.wants(tool("1", "ask")) // and not the answer
	w.server.send(answer("1"))
	w.client.wants(answer("1"))
	sent, back := w.record.has(t, event.Asked, "sent"), w.record.has(t, event.Asked, "accept")
	if string(sent.ID) != id || string(back.ID) != id || back.Ref != sent.Record || sent.Digest != back.Digest || sent.Digest == [32]byte{} {
		t.Errorf("recorded %+v and %+v", sent, back)
	}
	if ev := w.record.has(t, event.Answered, ""); ev.Channel != "form" || ev.Digest != sent.Digest {
		t.Errorf("answered: %+v", ev)
	}

	w.client.send(tool("3", "ask"))
	again := w.question()
	if again == id {
		t.Error("an id was used twice")
	}
	w.client.send(elicited(again, "deny"))
	w.client.wantsLike(`"id":3`, gate.CodeDeniedByPerson)
}

func TestOnlyAClientThatSaidSoIsAsked(t *testing.T) {
	for _, c := range []struct{ version, capabilities string }{
		{"2024-11-05", elicits},
		{"2025-03-26", elicits},
		{"2026-07-28", elicits},
		{"2025-06-18", `{}`},
		{"2025-11-25", `{"elicitation":{"url":{}}}`},
	} {
		w := newHarness(t, forms)
		w.introduce(c.version, c.capabilities)
		w.client.send(tool("1", "ask"))
		w.client.wantsLike(`"id":1`, gate.CodeNobodyToAsk)
	}
	w := newHarness(t, forms) // never introduced
	w.client.send(tool("1", "ask"))
	w.client.wantsLike(`"id":1`, gate.CodeNobodyToAsk)
	w.client.send(array(tool("1", "ask")))
	w.introduce("2025-11-25", `{"elicitation":{"form":{},"url":{}}}`)
	w.client.send(tool("2", "ask"))
	w.client.send(elicited(w.question(), "once"))
	w.server.wants(tool("2", "ask"))
}

func TestAnswersThatAreNone(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once","Answer":"once"}}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"cancel"}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once","x":"` + strings.Repeat("x", 70<<10) + `"}}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once"}},"extra":1}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"` + strings.Repeat("x", 2<<20) + `"}}}`,
	} {
		id := fmt.Sprint(i)
		w.client.send(tool(id, "ask"))
		asked := w.question()
		go w.client.send(fmt.Sprintf(line, asked))
		w.client.wantsLike(`"id":`+id, gate.CodeNobodyToAsk)
	}
	w.client.send(tool("9", "ok"))
	w.server.wants(tool("9", "ok")) // and nothing before it
	w.record.has(t, event.Asked, "unusable")
}

func TestAnAnswerTwiceOrToNothing(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	wrong := strings.Replace(id, "clawai-", "clawai-x", 1)
	w.client.send(elicited(wrong, "once"), elicited("1", "once"), elicited(id, "deny"), elicited(id, "once"), tool("2", "ok"))
	w.client.wantsLike(`"id":1`, gate.CodeDeniedByPerson)
	w.server.wants(tool("2", "ok"))
	w.record.has(t, event.Dropped, "second_answer")
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestAQuestionThatIsOverIsTakenBack(t *testing.T) {
	w := newHarness(t, forms, shortly)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	// Both follow from the deadline, in either order.
	first, second := w.client.next(), w.client.next()
	if !strings.Contains(first+second, `"method":"notifications/cancelled","params":{"requestId":`+id) ||
		!strings.Contains(first+second, gate.CodeNotAnswered) {
		t.Errorf("the client was told %s\n%s", first, second)
	}
	w.client.send(elicited(id, "once"), tool("2", "ok"))
	w.server.wants(tool("2", "ok"))
	w.record.has(t, event.Dropped, "late_answer")
}

func TestACancelledCallTakesItsQuestionBack(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	w.client.send(cancel("1"))
	w.client.wantsLike(`"method":"notifications/cancelled"`, `"requestId":`+id)
	w.client.send(elicited(id, "once"), tool("2", "ok"))
	w.server.wants(tool("2", "ok"))
	w.record.has(t, event.Decision, gate.CodeWithdrawn)
}

func TestTwoCallsAskAtOnce(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"), tool("2", "ask2"))
	first, second := w.question(), w.question() // of either
	w.client.send(elicited(second, "deny"))
	denied := gjson.Get(w.client.wantsLike(gate.CodeDeniedByPerson), "id").Raw
	w.client.send(elicited(first, "once"))
	w.server.wants(map[string]string{"2": tool("1", "ask"), "1": tool("2", "ask2")}[denied])
}

// A server can neither use an id of ours nor end, answer or repeat our question.
func TestTheServerCannotTouchOurQuestion(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	sampling := `{"jsonrpc":"2.0","id":` + id + `,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"fine"}}]}}`
	w.server.send(cancel(id), elicited(id, "once"), sampling,
		strings.Replace(sampling, `-1",`, `-9",`, 1), `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	w.server.wantsLike(`"id":`+id, "duplicate_id")
	w.server.wantsLike("duplicate_id") // nobody uses the beginning of our ids
	w.client.wantsLike("notifications/message")
	w.client.send(elicited(id, "once"))
	w.server.wants(tool("1", "ask"))
	w.record.has(t, event.Dropped, "not_in_flight")
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestTheServersOwnQuestionsPassBesideOurs(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	id := w.question()
	theirs := `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"fine?","requestedSchema":{"type":"object","properties":{}}}}`
	w.server.send(theirs)
	w.client.wants(theirs)
	w.client.send(`{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{}}}`)
	w.server.wants(`{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{}}}`)
	w.client.send(elicited(id, "once"))
	w.server.wants(tool("1", "ask"))

	// What the server asks of the client can itself need a person.
	w.server.send(`{"jsonrpc":"2.0","id":8,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"maybe"}}]}}`)
	w.client.send(elicited(w.question(), "once"))
	w.client.wantsLike(`"id":8`, "maybe")
}

func TestProgressGoesOnWhileTheClientIsAsked(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"tok"}}}`)
	var id string
	for progress := 0; id == "" || progress < 2; {
		line := w.client.next()
		if strings.Contains(line, elicitation) {
			id = gjson.Get(line, "id").Raw
		} else if strings.Contains(line, `"progressToken":"tok"`) {
			progress++
		}
	}
	w.client.send(elicited(id, "once"))
	w.server.wantsLike(`"name":"ask"`)
}

const elicitation = `"method":"elicitation/create"`

func TestWithoutARecordNobodyIsAsked(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.record.breakDown()
	w.client.send(tool("2", "ask"))
	w.client.wantsLike(`"id":2`, gate.CodeRecordFailed)
}

func TestAClientThatGoesAwayWhileItIsAsked(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits)
	w.client.send(tool("1", "ask"))
	w.question()
	_ = w.client.out.Close()
	if err := w.end(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	w.record.has(t, event.Decision, gate.CodeClosed)
}
