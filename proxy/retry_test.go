package proxy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// meta is what each request of 2026-07-28 carries, and what a client that can
// show a form adds to it.
const meta = `"_meta":{%s"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1.2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// modernCall is a call of a client that can show a form; rest are more members of
// its params, each with a comma behind, token its progress token.
func modernCall(id, rest, token string) string {
	if token != "" {
		token = `"progressToken":` + token + `,`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ask","arguments":{"a":1.50},` + rest +
		fmt.Sprintf(meta, token) + `}}`
}

// retry is what the client sends when it has shown its form.
func retry(id, state, answer, token string) string {
	return modernCall(id, `"inputResponses":{"clawai":{"action":"accept","content":{"answer":"`+answer+`"}}},"requestState":`+state+`,`, token)
}

// formFor reads the form that answers a call and gives the state it came with.
func (w *harness) formFor(id string) (state string) {
	w.t.Helper()
	line := w.client.wantsLike(`{"jsonrpc":"2.0","id":`+id+`,"result":{"resultType":"input_required","inputRequests":{"clawai":{`+elicitation,
		"let it through? (test 1.2)")
	return gjson.Get(line, "result.requestState").Raw
}

func TestACallerReturnsWithItsAnswer(t *testing.T) {
	w := newHarness(t, forms)
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	w.client.send(tool("9", "ok"))
	w.server.wants(tool("9", "ok"))
	w.client.send(retry("2", state, "once", ""))
	w.server.wants(modernCall("1", "", "")) // the call as it was shown
	w.server.send(`{"result": {"id":1,"content":[]} , "id" : 1,"jsonrpc":"2.0"}`)
	w.client.wants(`{"result": {"id":1,"content":[]} , "id" : 2,"jsonrpc":"2.0"}`)
	w.server.send(answer("1"), answer("2"))
	w.record.has(t, event.Dropped, "second_answer")
	w.record.has(t, event.Dropped, "unsolicited")
	sent, back := w.record.has(t, event.Asked, "sent"), w.record.has(t, event.Asked, "accept")
	if string(sent.ID) != "1" || string(back.ID) != "2" || back.Ref != sent.Record || sent.Digest != back.Digest {
		t.Errorf("recorded %+v and %+v", sent, back)
	}
	if ev := w.record.has(t, event.Outcome, ""); string(ev.ID) != "2" {
		t.Errorf("the outcome is of %s", ev.ID)
	}

	// Both ids are free again.
	w.client.send(modernCall("1", "", ""))
	state = w.formFor("1")
	w.client.send(retry("2", state, "deny", ""))
	w.client.wantsLike(`"id":2`, `"resultType":"complete"`, gate.CodeDeniedByPerson)
}

func TestOnlyACallThatSaysSoGetsAForm(t *testing.T) {
	w := newHarness(t, forms)
	w.introduce("2025-06-18", elicits) // of no meaning for what is of another era
	for i, line := range []string{
		strings.Replace(modernCall("0", "", ""), `"elicitation":{}`, ``, 1),
		strings.Replace(modernCall("1", "", ""), `"elicitation":{}`, `"elicitation":{"url":{}}`, 1),
		strings.Replace(modernCall("2", "", ""), `2026-07-28`, `2027-07-28`, 1),
	} {
		w.client.send(line)
		w.client.wantsLike(`"id":`+fmt.Sprint(i), gate.CodeNobodyToAsk)
	}
}

func TestAStateIsForOneRetryOfTheSameCall(t *testing.T) {
	w := newHarness(t, forms)
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	other := `"` + state[1:len(state)-3] + `x-1"`
	w.client.send(retry("2", other, "once", ""))
	w.client.wantsLike(`"id":2`, `"isError":true`, "late_form", "too late")
	w.client.send(strings.Replace(retry("3", state, "once", ""), `1.50`, `1.5`, 1))
	w.client.wantsLike(`"id":3`, `"isError":true`, "other_call")
	w.client.send(strings.Replace(strings.Replace(retry("4", state, "once", ""), "tools/call", "prompts/get", 1), `"a":1.50`, ``, 1))
	w.client.wantsLike(`"id":4`, `"error"`, "other_call")
	w.client.send(array(retry("5", state, "once", "")))
	w.client.send(retry("6", state, "once", ""))
	w.server.wants(modernCall("1", "", ""))
	w.client.send(retry("7", state, "once", ""))
	w.client.wantsLike(`"id":7`, "late_form")
	w.server.send(answer("1"))
	w.client.wants(answer("6"))
	w.client.send(retry("8", state, "once", ""))
	w.client.wantsLike(`"id":8`, "late_form")
	// Of another session: the server's own, for all we know.
	w.client.send(modern("9", `"requestState":"clawai-AAAA-BBBB-1",`))
	w.server.wants(modern("9", `"requestState":"clawai-AAAA-BBBB-1",`))
}

func TestAnIDInFlightIsNoPlaceToReturnTo(t *testing.T) {
	w := newHarness(t, forms)
	w.client.send(tool("2", "ok"), modernCall("1", "", ""))
	w.server.wants(tool("2", "ok"))
	state := w.formFor("1")
	w.client.send(retry("2", state, "once", ""))
	w.client.wantsLike(`"id":2`, "duplicate_id")
	w.client.send(retry("1", state, "once", ""))
	w.client.wantsLike(`"id":1`, "duplicate_id")
	w.client.send(retry("3", state, "once", ""), tool("1", "ok"), tool("3", "ok"))
	w.client.wantsLike(`"id":1`, "duplicate_id") // the server knows the call by it
	w.client.wantsLike(`"id":3`, "duplicate_id")
	w.server.wants(modernCall("1", "", ""))
}

func TestACallerReturnsWithoutAUsableAnswer(t *testing.T) {
	w := newHarness(t, forms)
	for i, responses := range []string{
		``,
		`"inputResponses":{},`,
		`"inputResponses":{"other":{"action":"accept","content":{"answer":"once"}}},`,
		`"inputResponses":{"clawai":{"action":"accept"}},`,
		`"inputResponses":{"clawai":{"action":"cancel"}},`,
		`"inputResponses":{"clawai":{"action":"accept","content":{"answer":"` + strings.Repeat("x", 70<<10) + `"}}},`,
	} {
		w.client.send(modernCall(fmt.Sprint(i), "", ""))
		state := w.formFor(fmt.Sprint(i))
		go w.client.send(modernCall(fmt.Sprint(100+i), responses+`"requestState":`+state+`,`, ""))
		w.client.wantsLike(`"id":`+fmt.Sprint(100+i), gate.CodeNobodyToAsk)
	}
}

func TestACallerThatDoesNotReturnIsGivenUp(t *testing.T) {
	w := newHarness(t, forms, shortly)
	w.client.send(modernCall("1", "", "7"))
	var state string
	for state == "" { // progress may come first
		if line := w.client.next(); strings.Contains(line, "input_required") {
			state = gjson.Get(line, "result.requestState").Raw
		}
	}
	w.record.has(t, event.Decision, gate.CodeNotAnswered)
	w.client.send(retry("2", state, "once", "8"), tool("3", "ok"))
	w.client.wantsLike(`"id":2`, "late_form") // and nothing for 1
	w.server.wants(tool("3", "ok"))
}

// both asks the client and the test's own person; who is first wins.
type both struct {
	person *person
	first  chan gate.Answer // what was taken
}

func (b *both) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	defer func() { <-ended }()
	got := make(chan gate.Answer, 2)
	go func() {
		defer close(ended)
		if a, err := (&formApprover{}).Ask(ctx, q); err == nil {
			got <- a
		}
	}()
	go func() {
		if a, err := b.person.Ask(ctx, q); err == nil {
			got <- a
		}
	}()
	select {
	case a := <-got:
		b.first <- a
		cancel()
		return a, nil
	case <-ctx.Done():
		return gate.Answer{}, ctx.Err()
	}
}

func elsewhere(t *testing.T, with ...setting) (*harness, *both) {
	p := &person{answers: make(chan gate.Reply), asked: make(chan gate.Question, 100)}
	b := &both{p, make(chan gate.Answer, 100)}
	return newHarness(t, append(with, func(_ *proxy.Options, g *gate.Options) { g.Approver = b })...), b
}

// answers gives a person's answer, and returns when it has been taken.
func (b *both) answers(r gate.Reply) {
	b.person.answers <- r
	<-b.first
}

func TestAnAnswerElsewhereIsOfNoUseToACallerThatStaysAway(t *testing.T) {
	slow.Test(t)
	w, b := elsewhere(t, func(_ *proxy.Options, g *gate.Options) { g.AskTimeout = time.Second })
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	b.answers(gate.AllowOnce)
	w.record.has(t, event.Decision, gate.CodeCallerAway)
	w.client.send(retry("2", state, "once", ""), tool("3", "ok"))
	w.client.wantsLike(`"id":2`, `"isError":true`) // too late, or away until now: nothing was done
	w.server.wants(tool("3", "ok"))
}

func TestAnAnswerElsewhereWaitsForTheCaller(t *testing.T) {
	w, b := elsewhere(t)
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	b.answers(gate.AllowOnce)
	w.client.send(tool("9", "ok"))
	w.server.wants(tool("9", "ok")) // the call itself waits
	w.client.send(retry("2", state, "deny", ""))
	w.server.wants(modernCall("1", "", "")) // the first answer holds
	w.server.send(answer("1"))
	w.client.wants(answer("2"))
	w.record.has(t, event.Asked, "accept")

	w.client.send(modernCall("3", "", ""))
	state = w.formFor("3")
	b.answers(gate.DenyOnce)
	w.client.send(retry("4", state, "once", ""))
	w.client.wantsLike(`"id":4`, gate.CodeDeniedByPerson)
}

// What the rules say by then holds, and is said when there is somebody to hear.
func TestRulesThatChangeWhileTheCallerIsAway(t *testing.T) {
	for action, want := range map[string]string{"allow": "", "deny": gate.CodeDeniedByRule} {
		w := newHarness(t, forms)
		w.client.send(modernCall("1", "", ""))
		state := w.formFor("1")
		p, err := policy.Parse("test.toml", []byte("[[rule]]\naction = \""+action+"\"\ntool = \"*\"\n"), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.gate.SetPolicy(p)
		w.client.send(retry("2", state, "once", ""))
		if want != "" {
			w.client.wantsLike(`"id":2`, want)
			continue
		}
		w.server.wants(modernCall("1", "", ""))
		w.server.send(answer("1"))
		w.client.wants(answer("2"))
	}
}

func TestCancellingACallerThatIsAwayOrBack(t *testing.T) {
	w, _ := elsewhere(t)
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	w.client.send(cancel("1"), retry("2", state, "once", ""), tool("9", "ok"))
	w.client.wantsLike(`"id":2`, "late_form")
	w.server.wants(tool("9", "ok"))

	w.client.send(modernCall("3", "", ""))
	state = w.formFor("3")
	w.client.send(retry("4", state, "once", ""))
	w.server.wants(modernCall("3", "", ""))
	w.client.send(cancel("3"), cancel("4")) // the first names what was answered long ago
	w.server.wants(cancel("3"))             // the second, as the server knows it
	w.server.send(answer("3"), `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	w.client.wantsLike("notifications/message")
	w.record.has(t, event.Dropped, "late_answer")
	w.client.send(cancel("4"), tool("10", "ok"))
	w.server.wants(tool("10", "ok"))

	// Back, and the answer of no use: the other way of asking is still open.
	w.client.send(modernCall("5", "", ""))
	state = w.formFor("5")
	w.client.send(modernCall("6", `"inputResponses":{},"requestState":`+state+`,`, ""), cancel("6"), tool("11", "ok"))
	w.server.wants(tool("11", "ok"))
}

func TestProgressIsTheRetrys(t *testing.T) {
	progress := func(token string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken": ` + token + `,"progress":1}}`
	}
	w := newHarness(t, forms, func(_ *proxy.Options, g *gate.Options) { g.WaitEvery = 0 })
	w.client.send(modernCall("1", "", "1"))
	state := w.formFor("1")
	w.client.send(retry("2", state, "once", `"two"`))
	w.server.wants(modernCall("1", "", "1"))
	w.server.send(progress(`"two"`), progress("1"), answer("1"), progress("1"))
	w.client.wants(progress(`"two"`), answer("2"))

	w.client.send(modernCall("3", "", "3"))
	state = w.formFor("3")
	w.client.send(retry("4", state, "once", "")) // wants none
	w.server.wants(modernCall("3", "", "3"))
	w.server.send(progress("3"), `{"jsonrpc":"2.0","id":3,"result":{"resultType":"task","taskId":"t"}}`, progress("3"))
	w.client.wantsLike(`"id":4`, `"task"`)

	// Another call may have the same token again.
	again := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ok","_meta":{"progressToken":3}}}`
	w.client.send(again)
	w.server.wants(again)
	w.server.send(progress("3"))
	w.client.wants(progress("3"))
}

// A server's own rounds pass around ours: its state reaches it in the call that
// was judged, whatever the client's retry has left out.
func TestAServersOwnRoundsPassAroundOurs(t *testing.T) {
	w := newHarness(t, forms)
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	w.client.send(retry("2", state, "once", ""))
	w.server.wants(modernCall("1", "", ""))
	w.server.send(inputRequired("1", "fine"))
	w.client.wants(inputRequired("2", "fine"))

	round := modernCall("3", `"inputResponses":{"k":{"role":"assistant","model":"m","content":{"type":"text","text":"out"}}},"requestState":"s",`, "")
	w.client.send(round)
	state = w.formFor("3")
	w.client.send(retry("4", state, "once", "")) // as SDKs do: the first params and our state
	w.server.wants(round)
	w.server.send(answer("3"))
	w.client.wants(answer("4"))
}

func TestUnreadableAnswersReachTheCallerThatReturned(t *testing.T) {
	w := newHarness(t, forms)
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}`,
		`{"result":{"a":"` + strings.Repeat("x", 2<<20) + `"},"jsonrpc":"2.0","id":%d}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"inputRequests":5}}`,
	} {
		w.client.send(modernCall(fmt.Sprint(i), "", ""))
		state := w.formFor(fmt.Sprint(i))
		w.client.send(retry(fmt.Sprint(100+i), state, "once", ""))
		w.server.wants(modernCall(fmt.Sprint(i), "", ""))
		go w.server.send(fmt.Sprintf(line, i))
		w.client.wantsLike(`"id":`+fmt.Sprint(100+i), `"error":{"code":4400`)
	}
}

func TestEachCallerIsToldOnceThatTheServerEnded(t *testing.T) {
	w := newHarness(t, forms)
	w.client.send(tool("3", "ok"))
	w.server.wants(tool("3", "ok"))
	w.client.send(modernCall("1", "", ""))
	state := w.formFor("1")
	w.client.send(retry("4", state, "once", ""))
	w.server.wants(modernCall("1", "", ""))
	w.client.send(modernCall("2", "", ""))
	w.formFor("2")
	close(w.upstream.done)
	_ = w.upstream.Close(t.Context())
	got := w.client.next() + w.client.next()
	if !strings.Contains(got, `"id":3,`) || !strings.Contains(got, `"id":4,`) || strings.Count(got, "4502") != 2 {
		t.Errorf("told %s", got)
	}
	_ = w.end()
	_ = w.told.Close() // nothing more is written
	if line, err := w.client.lines.ReadString('\n'); err == nil {
		t.Errorf("and %s", line)
	}
}

// Whatever the ids, the progress tokens and the server's answer are, the server
// reads the bytes that were shown and the caller the server's, but for its id.
func TestNothingButTheIDChanges(t *testing.T) {
	often := func(_ *proxy.Options, g *gate.Options) { g.MaxWaiting = 1000 }
	w := newHarness(t, forms, often)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		id := rapid.StringMatching(`[1-9][0-9]{0,5}|"[a-z"]{0,0}[a-zA-Z:/ ]{1,20}"|"\\u00e9[a-z]{0,5}"`)
		first := strings.TrimSuffix(id.Draw(r, "id"), `"`)
		second := strings.TrimSuffix(id.Draw(r, "retry"), `"`)
		unique := func(s, what string) string {
			if strings.HasPrefix(s, `"`) {
				return s + what + fmt.Sprint(n) + `"`
			}
			return s + fmt.Sprint(n) + map[string]string{"a": "1", "b": "2"}[what]
		}
		first, second = unique(first, "a"), unique(second, "b")
		text := rapid.StringMatching(`[a-z ]{0,30}|("id":1 ?){0,3}`).Draw(r, "text")
		before := strings.ReplaceAll(text, `"`, `\"`)
		call := modernCall(first, `"note":"`+before+`",`, "")
		w.client.send(call)
		state := w.formFor(first)
		w.client.send(strings.Replace(retry(second, state, "once", ""), `"inputResponses"`, `"note":"`+before+`","inputResponses"`, 1))
		w.server.wants(call)
		reply := `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"` + before + `"}]},"id":`
		w.server.send(reply + first + `}`)
		w.client.wants(reply + second + `}`)
	})
}
