package mcp_test

import (
	"testing"

	"github.com/clawai/clawai/internal/check"
)

// A call has the id of its session that clients put into _meta, where that is an identifier.
func TestSessionOfACall(t *testing.T) {
	for meta, want := range map[string]string{
		`{"sessionId":"s-1","threadId":"t-1"}`: "s-1",
		`{"threadId":"t-1","sessionId":"s-1"}`: "s-1",
		`{"threadId":"t-1"}`:                   "t-1",
		`{"sessionId":7}`:                      "",
		`{"sessionId":"a b"}`:                  "",
		`{"other":"x"}`:                        "",
	} {
		calls, err := check.ReadCalls([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":`+meta+`}}`), "srv")
		if err != nil || len(calls) != 1 || calls[0].Session != want {
			t.Errorf("%s: %v, %+v", meta, err, calls)
		}
	}
}
