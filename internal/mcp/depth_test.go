package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A message is read in a few passes, however deep a server hides its bulk.
func TestDepthCostsNothing(t *testing.T) {
	slow.Test(t)
	bulk := "[" + strings.Repeat("{},", 1<<18) + "{}]"
	within := func(open, end string, depth int) string {
		return strings.Repeat(open, depth) + bulk + strings.Repeat(end, depth)
	}
	text := func(content string) string { return `{"messages":[{"role":"user","content":` + content + `}]}` }
	for name, params := range map[string]func(depth int) string{
		"a schema":     func(n int) string { return `{"messages":[],"tools":[` + within(`{"a":`, `}`, n) + `]}` },
		"an odd block": func(n int) string { return text(`{"type":"x","x":` + within(`{"a":`, `}`, n) + `}`) },
		"lists":        func(n int) string { return text(within("[", "]", n)) },
		"tool results": func(n int) string { return text(within(`{"type":"tool_result","content":[`, `]}`, n/2)) },
	} {
		t.Run(name, func(t *testing.T) {
			shallow, far := parse(t, request("sampling/createMessage", params(2), false)), parse(t, request("sampling/createMessage", params(52), false))
			flat, deep := time.Hour, time.Hour
			for range 200 { // a machine that is busy now is not so all the time
				start := time.Now()
				_, _ = Read(shallow, ServerToClient, "s")
				flat = min(flat, time.Since(start))
				start = time.Now()
				_, _ = Read(far, ServerToClient, "s")
				if deep = min(deep, time.Since(start)); deep <= 12*flat {
					return
				}
			}
			t.Errorf("%v at depth 2, %v at depth 52", flat, deep)
		})
	}
}

func TestToolResultsInsideEachOther(t *testing.T) {
	for depth, wrong := range []bool{false, false, false, true} {
		content := `{"type":"text","text":"x"}`
		for range depth {
			content = `{"type":"tool_result","content":[` + content + `]}`
		}
		m, r := Read(parse(t, request("sampling/createMessage", `{"messages":[{"role":"user","content":`+content+`}]}`, false)), ServerToClient, "s")
		if r != nil || (m.Calls[0].Malformed != "") != wrong || m.Calls[0].Subject != policy.SamplingSubject {
			t.Errorf("%d: %+v, %v", depth, m.Calls, r)
		}
	}
}
