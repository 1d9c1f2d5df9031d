package hook

import (
	"testing"

	"github.com/clawai/clawai/proxy/hook/client"
)

// TestAPanicOnTheWayOutDenies: what fails before there is an answer has not allowed.
func TestAPanicOnTheWayOutDenies(t *testing.T) {
	h := &hookRun{req: client.Request{Row: client.FindRow("claude-code"), Event: client.Event{Name: "PreToolUse", Kind: client.Before}}}
	o := &outlet{hookRun: h, done: make(chan struct{})}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing failed")
			}
		}()
		_ = o.Forward(nil)
	}()
	if a := h.finalAnswer(); a.Code != 2 || len(a.Stdout) == 0 {
		t.Errorf("answered %+v", a)
	}
}
