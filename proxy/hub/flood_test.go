package hub_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
)

// However much one server says, and whatever it never does, another answers meanwhile.
func TestFloodsStopNoOther(t *testing.T) {
	slow.Test(t)
	var n atomic.Int64
	numbered := func(line string) func() string {
		return func() string { return fmt.Sprintf(line, n.Add(1)) }
	}
	for name, say := range map[string]func() string{
		"print statements": numbered("no message %d"),
		"unreadable":       numbered(`{"jsonrpc":"2.0","id":%d,"id":1}`),
		"replies to none":  numbered(`{"jsonrpc":"2.0","id":%d,"result":{}}`),
		"progress of none": numbered(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}`),
		"words":            numbered(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%d"}}`),
		"changes":          numbered(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"n":%d}}}`),
		"questions":        numbered(`{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1}}`),
		"long lines":       numbered(strings.Repeat("x", 1<<18) + "%d"),
		"pings":            numbered(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`),
		"one id, again":    numbered(`{"jsonrpc":"2.0","id":"q","method":"ping","params":{"_meta":{"n":%d}}}`),
		"roots":            numbered(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`),
		"forms":            numbered(`{"jsonrpc":"2.0","id":"f%d","method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{}}}}`),
		"unknown methods":  numbered(`{"jsonrpc":"2.0","id":"u%d","method":"x/y"}`),
		"unknown news":     numbered(`{"jsonrpc":"2.0","method":"notifications/x%d"}`),
		"cancellations":    numbered(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b%d"}}`),
		"errors to none":   numbered(`{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"x"}}`),
		"errors to nobody": numbered(`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"%d"}}`),
		"arrays":           numbered(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%d"}},{"jsonrpc":"2.0","id":"z","method":"ping"}]`),
		"depth":            numbered(strings.Repeat("[", 2000) + "%d"),
		"empty lines":      func() string { return "\n\n\n" },
		"resources":        numbered(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:%d"}}`),
		"all lists change": numbered(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"n":%d}}}`),
		"tasks":            numbered(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t%d","status":"working"}}`),
		"silence":          nil,
	} {
		t.Run(name, func(t *testing.T) {
			silent := make(chan struct{})
			a, b := &toy{id: "a", tools: []string{"x"}}, &toy{id: "b", tools: []string{"x"}}
			a.answer = func(_ *running, f *frame.Frame) string {
				if say == nil && f.Method == "tools/call" {
					<-silent
				}
				return ""
			}
			w := start(t, nil, a, b).begin()
			w.call(`"begin"`, "b__x")
			w.send(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"a__x","arguments":{}}}`)
			w.comes("the server", func() bool { return a.got("initialized") > 0 })
			end, said := make(chan struct{}), make(chan int)
			go func() {
				lines := 0
				for ; say != nil; lines++ {
					select {
					case <-end:
						said <- lines
						return
					default:
						a.running().say(say())
					}
				}
				said <- 0
			}()
			const calls = 50
			from := time.Now()
			for i := range calls {
				id := fmt.Sprintf(`"b%d"`, i)
				w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"b__x","arguments":{}}}`)
				if line := w.next(`"id":` + id + `,`); !strings.Contains(line, "b:x") {
					t.Fatal(line)
				}
			}
			took := time.Since(from)
			close(end)
			close(silent)
			if lines := <-said; took > 20*time.Second || say != nil && lines == 0 {
				t.Errorf("%d calls took %v, beside %d lines", calls, took, lines)
			}
		})
	}
}
