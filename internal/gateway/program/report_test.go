package program

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFaultsAreWrittenOnceAMinute(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	report := newReporter(&out, func() time.Time { return now })
	for range 3 {
		report(errors.New("the disk is full\x1b[31m\nreally"))
	}
	const once = "clawai-gateway: 2026-12-01 10:00:00 the disk is full\\u{1b}[31m\nclawai-gateway: 2026-12-01 10:00:00 really\n"
	if out.String() != once {
		t.Errorf("%q, want %q", out.String(), once)
	}
	now = now.Add(time.Minute)
	report(errors.New("the disk is full\x1b[31m\nreally"))
	if n := strings.Count(out.String(), "really"); n != 2 {
		t.Errorf("written %d times", n)
	}
	out.Reset()
	for i := range 1000 {
		report(fmt.Errorf("fault %d", i))
	}
	if n := strings.Count(out.String(), "\n"); n > 100 {
		t.Errorf("%d faults of one minute are written", n)
	}
}
