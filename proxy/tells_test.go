package proxy

import (
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// What only says which list has changed, or which request is over, tells nobody anything; with
// any words in it, it does.
func TestTells(t *testing.T) {
	for params, want := range map[string]bool{
		``: false, `{}`: false, `{"requestId":1}`: false, `{"requestId":"a","_meta":{}}`: false, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}`: false,
		`{"requestId":1,"reason":"no"}`: true, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"x","note":"y"}}`: true, `{"_meta":"x"}`: true, `{"x":{}}`: true,
	} {
		for _, method := range []string{cancelledMethod, "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed"} {
			if got := mayCarryText(&frame.Frame{Method: method, Params: []byte(params)}); got != want {
				t.Errorf("%s with %s: %v", method, params, got)
			}
		}
	}
	if !mayCarryText(&frame.Frame{Method: "notifications/message"}) || !mayCarryText(&frame.Frame{Method: "notifications/x"}) {
		t.Error("what may be any text tells nothing")
	}
}
