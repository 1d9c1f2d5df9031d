package mcp_test

import (
	"testing"

	"github.com/clawai/clawai/internal/mcp"
)

func TestLongestLine(t *testing.T) {
	for _, c := range []struct {
		name    string
		bridged bool
		bounded bool
	}{
		{"claude-code", false, true}, {"Cline", false, true}, {"Cursor-vscode", true, true}, {"codex-mcp-client", true, false},
		{"somebody", false, false}, {"somebody", true, true}, {"", false, false}, {"", true, true},
	} {
		got := mcp.LongestLine(c.name, c.bridged)
		if (got > 0) != c.bounded || got > 10<<20 {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
