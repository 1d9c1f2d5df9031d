package proxy_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
)

// What a server says to the call 2, as servers do in the wild, and what its client gets: the
// answer, or the reason why not, and never nothing.
func TestAnswersAsTheyCome(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"a":[`, n) + `]}` + strings.Repeat(`]}`, n-1) }
	for name, c := range map[string]struct {
		id, line string
		want     string   // the client's line
		like     []string // or what it holds
		code     string   // of the record
	}{
		"as it should be":       {line: result("2", `"a":1`), want: result("2", `"a":1`)},
		"a text for an id":      {line: result(`"2"`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"a number for an id":    {id: `"2"`, line: result(`2`, `"a":1`), want: result(`"2"`, `"a":1`), code: "repaired"},
		"a fraction for an id":  {line: result(`2.0`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"leading zeros":         {line: result(`"02"`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"a blank before":        {line: result(`" 2"`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"a blank behind":        {line: result(`"2 "`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"a text of a fraction":  {line: result(`"2.0"`, `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"another case":          {id: `"Req-A"`, line: result(`"req-a"`, `"a":1`), want: result(`"Req-A"`, `"a":1`), code: "repaired"},
		"an empty text":         {line: `{"jsonrpc":"2.0","id":"","error":{"code":-32602,"message":"path is missing"}}`, like: []string{`"id":2`, "path is missing"}, code: "repaired"},
		"None":                  {line: result(`"None"`, `"a":1`), like: []string{`"id":2`, `"error"`}, code: "id"},
		"an id in an array":     {line: result(`[2]`, `"a":1`), like: []string{`"id":2`, `"error"`}, code: "id"},
		"true":                  {line: result(`true`, `"a":1`), like: []string{`"id":2`, `"error"`}, code: "id"},
		"blanks, and too deep":  {line: result(`" 2"`, `"structuredContent":`+nest(400)), like: []string{`"id":2`, "nested deeper"}, code: "depth"},
		"a byte order mark":     {line: "\uFEFF" + result("2", `"a":1`), want: result("2", `"a":1`), code: "repaired"},
		"a code with a dot":     {line: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000.0,"message":"no"}}`, want: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`, code: "repaired"},
		"a text for a code":     {line: `{"jsonrpc":"2.0","id":2,"error":{"code":"-32000","message":"no"}}`, want: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`, code: "repaired"},
		"a word for a code":     {line: `{"jsonrpc":"2.0","id":2,"error":{"code":"ENOENT","message":"no"}}`, like: []string{`"id":2`, "integer code"}, code: "error"},
		"an error under null":   {line: `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"path is missing"}}`, like: []string{`"id":2`, "path is missing"}, code: "repaired"},
		"an error under no id":  {line: `{"jsonrpc":"2.0","error":{"code":-32602,"message":"path is missing"}}`, like: []string{`"id":2`, "path is missing"}, code: "repaired"},
		"an array of one":       {line: `[` + result("2", `"a":1`) + `]`, want: result("2", `"a":1`), code: "repaired"},
		"an array, odd inside":  {line: ` [ ` + result(`"2"`, `"a":"\ud83d"`) + ` ] `, want: result("2", `"a":"\ufffd"`), code: "repaired"},
		"an array with a note":  {line: `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},` + result("2", `"a":1`) + `]`, want: result("2", `"a":1`), code: "repaired"},
		"half a pair":           {line: result("2", `"a":"cut \ud83d"`), want: result("2", `"a":"cut \ufffd"`), code: "repaired"},
		"Latin-1":               {line: result("2", "\"a\":\"caf\xe9\""), want: result("2", "\"a\":\"caf\uFFFD\""), code: "repaired"},
		"a tree of 200 levels":  {line: result("2", `"structuredContent":`+nest(100)), want: result("2", `"structuredContent":`+nest(100))},
		"deeper than anything":  {line: result("2", `"structuredContent":`+nest(400)), like: []string{`"id":2`, "nested deeper"}, code: "depth"},
		"deeper, under a text":  {line: result(`"2"`, `"structuredContent":`+nest(400)), like: []string{`"id":2`, "nested deeper"}, code: "depth"},
		"a member twice":        {line: result("2", `"a":1,"a":2`), like: []string{`"id":2`, "names one member twice"}, code: "duplicate_name"},
		"a null result":         {line: `{"jsonrpc":"2.0","id":2,"result":null}`, like: []string{`"id":2`, "result is not an object"}, code: "result"},
		"an unknown member":     {line: `{"jsonrpc":"2.0","id":2,"result":{},"x":1}`, like: []string{`"id":2`, "does not define"}, code: "unknown_member"},
		"a result under null":   {line: `{"jsonrpc":"2.0","id":null,"result":{}}`, like: []string{`"id":2`}, code: "id"},
		"an array, bad inside":  {line: `[{"jsonrpc":"2.0","id":2,"result":{},"x":1}]`, like: []string{`"id":2`, "does not define"}, code: "unknown_member"},
		"asks, and is repaired": {line: `{"jsonrpc":"2.0","id":"2","result":{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}}`, like: []string{`"id":2`}, code: "repaired"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, func(o *proxy.Options, _ *gate.Options) { o.Limits = frame.DefaultLimits() })
			id := "2"
			if c.id != "" {
				id = c.id
			}
			w.client.send(tool(id, "ok"))
			w.server.wants(tool(id, "ok"))
			w.server.send(c.line)
			if c.want != "" {
				w.client.wants(c.want)
			} else {
				w.client.wantsLike(c.like...)
			}
			switch c.code {
			case "":
			case "repaired":
				ev := w.record.has(t, event.Passed, "repaired")
				if ev.Digest == ([32]byte{}) || len(ev.Altered) == 0 {
					t.Errorf("the record has %+v", ev)
				}
				if c.want != "" && !strings.HasPrefix(strings.TrimSpace(c.line), "[") && (ev.Sent != sha256.Sum256([]byte(c.want)) || ev.Digest != sha256.Sum256([]byte(c.line))) {
					t.Error("the record has other digests than those of what came and what went on")
				}
			default:
				w.record.has(t, event.Dropped, c.code)
			}
			// The session goes on.
			w.client.send(tool("3", "ok"))
			w.server.wants(tool("3", "ok"))
			w.server.send(answer("3"))
			w.client.wants(answer("3"))
		})
	}
}

// Of two calls in flight, an id that fits one as it stands is that one's, and an error without
// an id is nobody's.
func TestRepairsDoNotGuess(t *testing.T) {
	w := newHarness(t)
	w.client.send(tool("2", "ok"), tool(`"2"`, "ok"))
	w.server.wants(tool("2", "ok"), tool(`"2"`, "ok"))
	w.server.send(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`, answer(`"2"`), answer(`"2"`), answer("2"))
	w.client.wants(answer(`"2"`), answer("2"))
	w.record.has(t, event.Dropped, "id")
	w.record.has(t, event.Dropped, "second_answer")
}

// A server that answers notifications, under no id, does not fail a call by that.
func TestAnAnswerToANotification(t *testing.T) {
	w := newHarness(t)
	initialized := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	w.client.send(initialized, tool("2", "ok"))
	w.server.wants(initialized, tool("2", "ok"))
	w.server.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no such method"}}`, answer("2"))
	w.client.wants(answer("2"))
	w.client.send(initialized, tool("3", "ok"))
	w.server.wants(initialized, tool("3", "ok"))
	w.server.send(`{"jsonrpc":"2.0","id":null,"result":{}}`, answer("3"))
	w.client.wants(answer("3"))
	w.record.has(t, event.Dropped, "id")
}

// One bad entry does not take a list with it.
func TestOneBadEntryOfAList(t *testing.T) {
	w := newHarness(t)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	w.client.send(list)
	w.server.wants(list)
	w.server.send(result("1", `"tools":[{"name":"ok1","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object","type":"array"}}]`))
	w.client.wants(result("1", `"tools":[{"name":"ok1","inputSchema":{"type":"object"}}]`))
	w.record.has(t, event.Passed, "repaired")
}

// Requests stay as strict as they were, whoever sends them: nothing of them is repaired.
func TestRequestsAreNotRepaired(t *testing.T) {
	w := newHarness(t)
	w.client.send(`[`+tool("1", "ok")+`]`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ok","arguments":{"a":"\ud83d"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":null}`, tool("9", "ok"))
	w.server.wants(tool("9", "ok"))
	ask := `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`
	w.server.send(`[`+ask+`]`, ask)
	w.client.wantsLike(`"id":2`, `"error"`, "surrogate")
	w.client.wantsLike(`"id":3`, `"malformed"`)
	w.client.wants(ask)
	w.client.send(`{"jsonrpc":"2.0","id":"1","result":{"roots":[]}}`, `[{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}]`, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
	w.server.wants(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
}

// An answer that its client cannot read on one line is one failed call, by the name under which
// the client introduces itself; the session goes on.
func TestALineLongerThanTheClientReads(t *testing.T) {
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) {
		o.LongestLine = func(client string) int {
			if client == "short" {
				return 500
			}
			return 0
		}
	})
	long := result("2", `"a":"`+strings.Repeat("x", 600)+`"`)
	w.client.send(tool("2", "ok"))
	w.server.wants(tool("2", "ok"))
	w.server.send(long)
	w.client.wants(long)
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"short","version":"1"}}}`
	w.client.send(hello)
	w.server.wants(hello)
	w.server.send(answer("0"))
	w.client.wants(answer("0"))
	w.client.send(tool("3", "ok"))
	w.server.wants(tool("3", "ok"))
	w.server.send(strings.Replace(long, `"id":2`, `"id":3`, 1))
	w.client.wantsLike(`"id":3`, `"error"`, "longer than the client reads")
	w.record.has(t, event.Dropped, "too_long_for_client")
	w.client.send(tool("4", "ok"))
	w.server.wants(tool("4", "ok"))
	w.server.send(answer("4"))
	w.client.wants(answer("4"))
}

// A server that asks in a line which is longer than the client reads hears that it has no answer.
func TestAQuestionLongerThanTheClientReads(t *testing.T) {
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) { o.LongestLine = func(string) int { return 500 } })
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"short","version":"1"}}}`
	w.client.send(hello)
	w.server.wants(hello)
	begun := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	w.server.send(begun)
	w.client.wants(begun)
	ask := `{"jsonrpc":"2.0","id":"q","method":"ping","params":{"_meta":{"a":"` + strings.Repeat("x", 600) + `"}}}`
	w.server.send(ask)
	w.server.wantsLike(`"id":"q"`, `"error"`, "longer than the client reads")
	w.server.send("[" + ask + "]")
	w.server.wantsLike(`[{`, `"id":"q"`, `"error"`, "longer than the client reads")
}

// The bound of a client's line is that of what goes on: a repair makes an answer longer, and an
// array is as long as its answers are together.
func TestARepairedLineIsBoundedToo(t *testing.T) {
	for name, c := range map[string]struct {
		line, want string // the error or the result
	}{
		"a repair makes it too long":  {result("2", "\"a\":\""+strings.Repeat("\xe9", 300)+"\""), "longer than the client reads"},
		"an array of a long answer":   {"[" + result("2", `"a":"`+strings.Repeat("x", 600)+`"`) + "]", "longer than the client reads"},
		"a long array, short answers": {"[" + result("2", `"a":1`) + strings.Repeat(","+answer("9"), 50) + "]", `"a":1`},
		"more answers than an array":  {"[" + result("2", `"a":1`) + strings.Repeat(","+answer("9"), 1100) + "]", `"error"`},
		"an array too deep to read":   {`[` + result("2", `"a":`+strings.Repeat("[", 1100)+strings.Repeat("]", 1100)) + `]`, `"error"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, func(o *proxy.Options, _ *gate.Options) { o.LongestLine = func(string) int { return 500 } })
			hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"short","version":"1"}}}`
			w.client.send(hello)
			w.server.wants(hello)
			w.server.send(answer("0"))
			w.client.wants(answer("0"))
			w.client.send(tool("2", "ok"))
			w.server.wants(tool("2", "ok"))
			w.server.send(c.line)
			w.client.wantsLike(`"id":2`, c.want)
		})
	}
}
