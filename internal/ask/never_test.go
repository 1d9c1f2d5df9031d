package ask

import (
	"testing"

	"github.com/clawai/clawai/internal/gate"
)

func TestNeverDenies(t *testing.T) {
	q := gate.Question{Digest: [32]byte{9}}
	for _, n := range []Never{{}, {Reason: "started by a timer"}} {
		a, err := n.Ask(t.Context(), q)
		if err == nil || a.Reply != gate.DenyOnce || a.Digest != q.Digest || a.Note == "" {
			t.Errorf("%+v: got %+v, %v", n, a, err)
		}
	}
}
