package hook

import (
	"testing"

	"github.com/clawai/clawai/internal/hook/client"
)

// TestAPanicOnTheWayOutDenies: what fails before there is an answer has not allowed.
func TestAPanicOnTheWayOutDenies(t *testing.T) {
	h := &held{req: client.Request{Row: client.Find("claude-code"), Event: client.Event{Name: "PreToolUse", Kind: client.Before}}}
	o := h.outlet()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing failed")
			}
		}()
		_ = o.Forward(nil)
	}()
	if h.answer.Code != 2 || len(h.answer.Stdout) == 0 {
		t.Errorf("answered %+v", h.answer)
	}
}
