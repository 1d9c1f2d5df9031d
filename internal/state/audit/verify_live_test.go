package audit

import (
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/event"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What is recorded while somebody verifies is nobody's tampering.
func TestVerifyWhileRecordsAreStored(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir() + "/audit"
	l, err := Open(dir, Options{MaxBytes: 300 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			for i := range 3000 {
				if err := l.Record(&event.Event{Kind: event.Upkeep, Detail: strings.Repeat("x", i%4000)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	over := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if r, err := Verify(dir, "", Retention{}); err != nil || len(r.Findings) > 0 {
					t.Errorf("%+v %v", r.Findings, err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
