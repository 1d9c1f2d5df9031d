package mcp_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/mcp"
)

// Who was not answered in time reads where the question could have been answered;
// who could not ask anybody does not.
func TestAnUnansweredCallNamesTheWay(t *testing.T) {
	to := mcp.Caller{ID: []byte("1"), Method: "tools/call"}
	for code, way := range map[string]bool{"not_answered": true, "nobody_to_ask": false} {
		d := mcp.Denial{Stage: "ask", Code: code, Reason: "nobody answered in time", Unanswered: true}
		if got := string(d.Answer(to)); strings.Contains(got, "clawai approve") != way || !strings.Contains(got, "Only the owner can allow it") {
			t.Errorf("%s: %s", code, got)
		}
	}
}
