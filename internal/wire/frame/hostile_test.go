package frame_test

import (
	"testing"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/wire/frame"
)

const (
	call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{}}}`
	ping = `{"jsonrpc":"2.0","id":6,"method":"ping"}`
)

func TestHostileFramesAreRefused(t *testing.T) {
	if len(hostile.Frames()) < 122 {
		t.Errorf("only %d hostile frames", len(hostile.Frames()))
	}
	for _, c := range hostile.Frames() {
		r := refused(t, c.Line, frame.DefaultLimits())
		if r.Code != c.Code || string(r.ID) != c.ID {
			t.Errorf("%s: refused as %s for id %q, not %s for %q", c.Name, r.Code, r.ID, c.Code, c.ID)
		}
		if r.Reason == "" || r.Error() != r.Reason {
			t.Errorf("%s: no reason", c.Name)
		}
		if r.ID != nil && !r.Request {
			t.Errorf("%s: has an id to answer but is no request", c.Name)
		}
		if r.Offset < 0 || r.Offset > len(c.Line) {
			t.Errorf("%s: offset %d of %d", c.Name, r.Offset, len(c.Line))
		}
	}
}
