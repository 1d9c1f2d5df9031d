package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy"
)

func TestFramesCrossUnchangedAndInOrder(t *testing.T) {
	w := newHarness(t)
	odd := `{"id":1, "method" : "tools/call","jsonrpc":"2.0","params":{"arguments":{"b":1.50,"a":"\u00e9"},"name":"ok"}}`
	w.client.send(odd, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, tool("2", "ok"), tool(`"2"`, "ok"))
	w.server.wants(odd, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, tool("2", "ok"), tool(`"2"`, "ok"))
	log := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	w.server.send(answer(`"2"`), log, answer("1"), answer("2"))
	w.client.wants(answer(`"2"`), log, answer("1"), answer("2"))
}

func TestOuterBlanksAreTrimmed(t *testing.T) {
	w := newHarness(t)
	w.client.send("  " + tool("1", "ok") + " \t\r")
	w.server.wants(tool("1", "ok"))
}

func TestManyInFlightAnsweredBackwards(t *testing.T) {
	w := newHarness(t)
	const n = 500
	go func() {
		for i := range n {
			w.client.send(tool(fmt.Sprint(i), "ok"))
		}
	}()
	for i := range n {
		w.server.wants(tool(fmt.Sprint(i), "ok"))
	}
	go func() {
		for i := n - 1; i >= 0; i-- {
			w.server.send(answer(fmt.Sprint(i)))
		}
	}()
	for i := n - 1; i >= 0; i-- {
		w.client.wants(answer(fmt.Sprint(i)))
	}
}

func TestDeniedCallsNeverReachTheServer(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "no"), tool("2", "unknown"), tool("3", "ok"))
	w.server.wants(tool("3", "ok"))
	w.client.wantsLike(`"id":1`, `"isError":true`, "never", `"code":"denied_by_rule"`)
	w.client.wantsLike(`"id":2`, `"isError":true`, `"code":"no_rule"`)
	// The server has seen neither id, so that its answers to them are its own.
	w.server.send(answer("1"), answer("3"))
	w.client.wants(answer("3"))
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestDenialAsError(t *testing.T) {
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) { o.DenyAsError = true })
	w.client.send(tool("1", "no"))
	w.client.wantsLike(`"id":1`, `"error":{"code":4403`)
}

func TestAnIdInFlightIsTaken(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool(`"a"`, "ok"))
	w.server.wants(tool(`"a"`, "ok"))
	w.client.send(tool(`"\u0061"`, "ok")) // the same string
	w.client.wantsLike(`"error"`, "duplicate_id")
	w.server.send(answer(`"\u0061"`))
	w.client.wants(answer(`"\u0061"`))
	w.client.send(tool(`"a"`, "ok")) // free again
	w.server.wants(tool(`"a"`, "ok"))
}

func TestOnlyOneAnswerGoesOn(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"), tool("2", "ok"))
	w.server.wants(tool("1", "ok"), tool("2", "ok"))
	w.server.send(answer("1"), answer("1"), answer(`"2"`), answer("99"), answer("2"))
	w.client.wants(answer("1"), answer("2"))
	w.record.has(t, event.Dropped, "second_answer")
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestACancelledCallIsForgotten(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"), cancel("1"))
	w.server.wants(tool("1", "ok"), cancel("1"))
	w.server.send(answer("1"), `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	w.client.wantsLike("notifications/message")
	w.record.has(t, event.Dropped, "late_answer")
}

func TestACancelledQuestionLeavesNoTrace(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ask"))
	<-w.person.asked
	w.client.send(cancel("1"), tool("2", "ok"))
	w.server.wants(tool("2", "ok")) // neither the call nor its cancellation
	w.server.send(answer("2"))
	w.client.wants(answer("2"))
	if ev := w.record.has(t, event.Decision, gate.CodeWithdrawn); string(ev.ID) != "1" {
		t.Errorf("withdrawn %s", ev.ID)
	}
}

func TestCancellingWhatWasNeverForwarded(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "no"), cancel("1"), cancel("77"), tool("2", "ok"))
	w.server.wants(tool("2", "ok"))
	w.client.wantsLike(`"id":1`, "denied_by_rule")
	w.record.has(t, event.Dropped, "not_in_flight")
}

func TestNothingQueuesBehindAPerson(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ask"))
	<-w.person.asked
	note := `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	w.client.send(tool("2", "ok"), note)
	w.server.wants(tool("2", "ok"), note)
	w.person.answers <- gate.AllowOnce
	w.server.wants(tool("1", "ask"))
	w.server.send(answer("1"))
	w.client.wants(answer("1"))
}

func TestAWaitingCallerIsKeptAlive(t *testing.T) {
	w := newHarness(t)
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"tok"}}}`)
	w.client.wantsLike("notifications/progress", `"progressToken":"tok"`, `"progress":0.000001`)
	w.client.wantsLike(`"progress":0.000002`)
	w.person.answers <- gate.DenyOnce
	for {
		if line := w.client.next(); strings.Contains(line, `"id":1`) {
			if !strings.Contains(line, gate.CodeDeniedByPerson) {
				t.Fatal(line)
			}
			return
		}
	}
}

func TestProgressOnlyForWhatIsInFlight(t *testing.T) {
	w := newHarness(t)
	progress := func(token string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1}}`
	}
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","_meta":{"progressToken":5}}}`)
	w.server.next()
	w.server.send(progress("6"), progress(`"5"`), progress("5"), answer("1"), progress("5"),
		`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	w.client.wants(progress("5"), answer("1"))
	w.client.wantsLike("notifications/message")
}

func TestServerRequestsAreJudged(t *testing.T) {
	w := newHarness(t)
	sampling := func(id, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"` + text + `"}}]}}`
	}
	w.server.send(sampling("1", "steal"), sampling("2", "fine"))
	w.client.wants(sampling("2", "fine"))
	w.server.wantsLike(`"id":1`, `"error"`, `"decision":"deny"`)
	w.client.send(answer("1"), answer("2")) // the first was never asked
	w.server.wants(answer("2"))
	w.record.has(t, event.Dropped, "unsolicited")
}

func TestChatterStaysInTheRecord(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.server.send("listening on stdio", `{"level":"info","id":1}`, answer("1"))
	w.client.wants(answer("1"))
	if ev := w.record.has(t, event.Chatter, ""); ev.Detail != "listening on stdio" {
		t.Errorf("recorded %q", ev.Detail)
	}
}

func TestUnreadableRequestsAreAnswered(t *testing.T) {
	w := newHarness(t)
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","name":"no"}}`,
		"{garbage", `{"jsonrpc":"2.0","id":2,"Method":"tools/call"}`, `[`+tool("3", "ok")+`]`, tool("4", "ok"))
	w.server.wants(tool("4", "ok"))
	w.client.wantsLike(`"id":1`, `"error":{"code":4400`, `"code":"duplicate_name"`)
	w.record.has(t, event.Dropped, "syntax")
	w.record.has(t, event.Dropped, "batch")
}

func TestAnswersThatCannotBeReadFailTheirCall(t *testing.T) {
	w := newHarness(t)
	long := strings.Repeat("x", 2<<20)
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"a":"` + long + `"}}`,
		`{"result":{"a":"` + long + `"},"jsonrpc":"2.0","id":%d}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"inputRequests":5}}`,
	} {
		id := fmt.Sprint(i)
		w.client.send(tool(id, "ok"))
		w.server.wants(tool(id, "ok"))
		go w.server.send(fmt.Sprintf(line, i))
		w.client.wantsLike(`"id":`+id, `"error":{"code":4400`)
	}
}

func TestTheServersEndIsTold(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"), tool("2", "ok"), tool("3", "ask"))
	w.server.wants(tool("1", "ok"), tool("2", "ok"))
	<-w.person.asked
	w.server.send(answer("2"))
	_ = w.server.out.Close()
	w.client.wants(answer("2"))
	got := []string{w.client.next(), w.client.next()}
	for _, want := range []string{`"id":1,"error":{"code":4502`, `"id":3,"result"`} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	if !strings.Contains(strings.Join(got, ""), "exit code 3") {
		t.Errorf("last words missing: %q", got)
	}
	if err := w.end(); !errors.Is(err, proxy.ErrServerEnded) {
		t.Errorf("Run returned %v", err)
	}
}

func TestALauncherMayEndBeforeItsOutput(t *testing.T) {
	slow.Test(t)
	w := newHarness(t)
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	close(w.upstream.done)
	w.server.send(answer("1"))
	w.client.wants(answer("1"))
	if err := w.end(); !errors.Is(err, proxy.ErrServerEnded) {
		t.Errorf("Run returned %v", err)
	}
}

func TestTheClientsEndStopsTheServer(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ask"))
	<-w.person.asked
	_, _ = w.client.out.WriteString(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ok"}}`) // no LF
	_ = w.client.out.Close()
	if err := w.end(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if _, err := w.server.lines.ReadByte(); err == nil {
		t.Error("something reached the server")
	}
	w.record.has(t, event.Dropped, "truncated")
	w.record.has(t, event.Decision, gate.CodeClosed)
}

func TestAStopThatWasAskedFor(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.cancel()
	w.client.wantsLike(`"id":1`, `"error":{"code":4502`)
	if err := w.end(); err != nil {
		t.Errorf("Run returned %v", err)
	}
}

func TestWithoutARecordNothingCrosses(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.record.breakDown()
	w.client.send(tool("2", "ok"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.client.wantsLike(`"id":2`, gate.CodeRecordFailed)
	w.client.wantsLike(`"id":3`, gate.CodeRecordFailed)
	w.server.send(answer("1"))
	w.client.wantsLike(`"id":1`, gate.CodeRecordFailed)
	w.cancel()
	_ = w.end()
	if _, err := w.server.lines.ReadByte(); err == nil {
		t.Error("something reached the server")
	}
}

func TestAClientThatDoesNotReadDelaysNoEnd(t *testing.T) {
	slow.Test(t)
	w := newHarness(t)
	w.server.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 900<<10) + `"}}`)
	go func() { // more than the pipe and the queue hold
		for range 300 {
			_, _ = w.server.out.WriteString(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 16<<10) + "\"}}\n")
		}
	}()
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.cancel()
	_ = w.end()             // fails when there is none
	_ = w.client.in.Close() // lets the writer go, for the leak check
	w.record.has(t, event.Dropped, gate.CodeForwardFailed)
}

// TestASlowClientGetsTheLastAnswer: the server ends as soon as it has answered, and the client reads later.
func TestASlowClientGetsTheLastAnswer(t *testing.T) {
	slow.Test(t)
	w := newHarness(t)
	long := `{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 900<<10) + `"}}` // more than the pipe holds
	w.client.send(tool("1", "ok"))
	w.server.wants(tool("1", "ok"))
	w.server.send(long)
	_ = w.server.out.Close()
	close(w.upstream.done)
	time.Sleep(1500 * time.Millisecond) // longer than the proxy waits after a signal
	w.client.wants(long)
	if err := w.end(); !errors.Is(err, proxy.ErrServerEnded) {
		t.Errorf("Run returned %v", err)
	}
	if slices.ContainsFunc(w.record.events, func(ev event.Event) bool { return ev.Code == gate.CodeForwardFailed }) {
		t.Error("the answer is recorded as lost")
	}
}

// TestTheLastAnswerOutlastsASlowDisk: the server ends as soon as it has answered, while the record still writes
// what became of an earlier call.
func TestTheLastAnswerOutlastsASlowDisk(t *testing.T) {
	slow.Test(t)
	w := newHarness(t)
	w.client.send(tool("1", "ok"), tool("2", "ok"))
	w.server.wants(tool("1", "ok"), tool("2", "ok"))
	done := w.record.slowDown()
	w.server.send(answer("1"))
	w.client.wants(answer("1"))
	w.server.send(answer("2"))
	_ = w.server.out.Close()
	close(w.upstream.done)
	time.Sleep(1500 * time.Millisecond) // longer than the proxy waits for more output
	close(done)
	w.client.wants(answer("2"))
	if err := w.end(); !errors.Is(err, proxy.ErrServerEnded) {
		t.Errorf("Run returned %v", err)
	}
}

// faulty is a stream that panics once it has been read from.
type faulty struct {
	first io.Reader
	ready chan struct{}
}

func (f *faulty) Read(p []byte) (int, error) {
	if n, err := f.first.Read(p); err == nil {
		return n, nil
	}
	<-f.ready
	panic("a defect")
}

func TestADefectEndsTheSessionInGoodOrder(t *testing.T) {
	f := &faulty{first: strings.NewReader(tool("1", "ok") + "\n"), ready: make(chan struct{})}
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) { o.ClientIn = f })
	w.server.wants(tool("1", "ok"))
	close(f.ready)
	w.client.wantsLike(`"id":1`, `"error":{"code":4502`)
	if err := w.end(); err == nil || !strings.Contains(err.Error(), "a defect") {
		t.Errorf("Run returned %v", err)
	}
	w.record.has(t, event.Dropped, "panic")
}

// A server that asks and asks of a client that says nothing is refused before it fills the memory.
func TestServerRequestsAreBounded(t *testing.T) {
	w := newHarness(t)
	const most = 1024
	ask := func(n int, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":"ping"%s}`, n, more)
	}
	for n := range most {
		w.server.send(ask(n, ""))
		w.client.wants(ask(n, ""))
	}
	w.server.send(ask(most, ""))
	w.server.wantsLike(fmt.Sprintf(`"id":"s%d"`, most), `"error"`, "too_many_requests")
	w.client.send(answer(`"s0"`))
	w.server.wants(answer(`"s0"`))
	w.server.send(ask(most, "")) // there is room again
	w.client.wants(ask(most, ""))
}

// Few requests may be long, too.
func TestServerRequestsAreBoundedInBytes(t *testing.T) {
	slow.Test(t)
	w := newHarness(t)
	long := `,"params":{"x":"` + strings.Repeat("x", 1<<20-200) + `"}}`
	for n := range 65 {
		w.server.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"`, n) + long)
		w.client.wantsLike(fmt.Sprintf(`"id":%d`, n))
	}
	w.server.send(`{"jsonrpc":"2.0","id":"one more","method":"ping"}`)
	w.server.wantsLike(`"one more"`, "too_many_requests")
}
