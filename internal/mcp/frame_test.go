package mcp

import (
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// parse is the frame of a line that must be admitted.
func parse(tb testing.TB, line string) *frame.Frame {
	tb.Helper()
	f, err := frame.Parse([]byte(line), frame.DefaultLimits())
	if err != nil {
		tb.Fatalf("%s: %v", line, err)
	}
	return &f
}
