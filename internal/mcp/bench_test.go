package mcp

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

var benchCalls = map[string]string{
	"tools_call": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go","head":40},"_meta":{"progressToken":12}}}`,
	"tools_list": `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`,
	"progress":   `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12,"progress":0.5}}`,
	"vendor":     `{"jsonrpc":"2.0","id":7,"method":"vendor/do_it","params":{"a":1}}`,
	"tools_call_1MiB": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/p","content":"` +
		strings.Repeat(`some text in lines\n`, 1<<20/20) + `"}}}`,
}

func BenchmarkRead(b *testing.B) {
	for name, line := range benchCalls {
		b.Run(name, func(b *testing.B) {
			f := parse(b, line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, r := Read(f, ClientToServer, "fs"); r != nil {
					b.Fatal(r)
				}
			}
		})
	}
}

func BenchmarkInputCalls(b *testing.B) {
	text := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`some text in lines\n`, 1<<20/20) + `"}],"isError":false}}`
	many := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ok"}],"structuredContent":{"rows":[` + strings.Repeat(`{"id":1,"name":"x"},`, 1<<20/20) + `{}]}}}`
	for name, line := range map[string]string{
		"small":     `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ok"}]}}`,
		"text_1MiB": text, "rows_1MiB": many,
	} {
		b.Run(name, func(b *testing.B) {
			f := parse(b, line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, r := InputCalls(f, "fs"); r != nil {
					b.Fatal(r)
				}
			}
		})
	}
}

func BenchmarkDeny(b *testing.B) {
	f := parse(b, benchCalls["tools_call"])
	m, _ := Read(f, ClientToServer, "fs")
	b.ReportAllocs()
	for b.Loop() {
		Denial{What: m.Calls[0], Stage: "policy", Code: "denied_by_rule", Description: "no", Record: "r"}.AnswerFrame(Caller{ID: f.ID, Method: f.Method})
	}
}

// One allocation for the call and its name: nothing is copied, nothing decoded.
func TestReadAllocatesOnce(t *testing.T) {
	f := parse(t, benchCalls["tools_call"])
	if n := testing.AllocsPerRun(100, func() {
		if _, r := Read(f, ClientToServer, "fs"); r != nil {
			t.Fatal(r)
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traced := parse(t, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"n","_meta":{"traceparent":"`+trace+`"}}}`)
	if n := testing.AllocsPerRun(100, func() {
		if m, r := Read(traced, ClientToServer, "fs"); r != nil || m.Traceparent != trace {
			t.Fatal(r, m.Traceparent)
		}
	}); n > 1 {
		t.Errorf("%v allocations with a trace context", n)
	}
	reply := parse(t, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ok"}]}}`)
	if n := testing.AllocsPerRun(100, func() { _, _ = InputCalls(reply, "fs") }); n > 0 || reply.Kind != frame.Response {
		t.Errorf("%v allocations", n)
	}
}
