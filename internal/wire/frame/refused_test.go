package frame_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

func TestTheBeginningOfARefusedLineIsKept(t *testing.T) {
	long := `{"id":7,` + strings.Repeat("x", 3<<20)
	r := frame.NewReader(strings.NewReader(long+"\nnext\n{\"cut"), 1<<20)
	if _, err := r.ReadLine(); err == nil {
		t.Fatal("a line beyond the limit was returned")
	}
	if got := string(r.RefusedHead()); got != long[:1<<10] {
		t.Errorf("kept %d bytes, %.20q", len(got), got)
	}
	if line, err := r.ReadLine(); err != nil || string(line) != "next" {
		t.Errorf("after it: %q, %v", line, err)
	}
	if _, err := r.ReadLine(); err == nil || string(r.RefusedHead()) != `{"cut` {
		t.Errorf("cut off: %q, %v", r.RefusedHead(), err)
	}
}
