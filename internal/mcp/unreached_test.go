package mcp_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/mcp"
)

func TestUnreached(t *testing.T) {
	got := string(mcp.UnreachedAnswer([]byte(`"a"`), "dial tcp: \x1b[2J refused"))
	if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"a","error":{"code":4502,`) || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}

func TestUnheard(t *testing.T) {
	got := string(mcp.UnheardAnswer([]byte("7"), "it has\x1b[2J hung up"))
	if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":7,"error":{"code":4502,"message":"No answer from the client: `) || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}

func TestRelayed(t *testing.T) {
	got := string(mcp.ErrorLine([]byte("7"), []byte(`{"code":-32022,"message":"no","data":[1]}`)))
	if got != `{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no","data":[1]}}` {
		t.Error(got)
	}
}
