package frame_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/clawai/clawai/internal/testing/hostile"
)

// Every code is documented, and every documented code is one that some line of
// these tests is refused with.
func TestCodesAndTheirPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/frames.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `[^|]*").FindAll(page, -1) {
		for _, code := range regexp.MustCompile("[a-z_0-9]+").FindAll(row, -1) {
			documented[string(code)] = true
		}
	}
	// These have tests of their own: they need a stream, or a judged call.
	refusedWith := map[string]bool{"too_long": true, "truncated": true, "big_number": true}
	for _, c := range hostile.Frames() {
		refusedWith[c.Code] = true
	}
	for code := range refusedWith {
		if !documented[code] {
			t.Errorf("%s is not on the page", code)
		}
	}
	for code := range documented {
		if !refusedWith[code] {
			t.Errorf("no hostile line is refused with %s", code)
		}
	}
}
