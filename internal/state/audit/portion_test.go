package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// A copy that is made in portions while a session writes has, in the end, every byte of the segment,
// and never more than whole lines.
func TestPortionsMakeTheSegment(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var took []byte
	take := func(size int64) (n int) {
		t.Helper()
		list, err := ListSegments(dir)
		if err != nil || len(list) != 1 || list[0].Session != l.SessionID() || list[0].Shared {
			t.Fatalf("%+v, %v", list, err)
		}
		portion, err := ReadPortion(dir, list[0], int64(len(took)), size)
		if err != nil {
			t.Fatal(err)
		}
		if len(portion) > 0 && portion[len(portion)-1] != '\n' || bytes.IndexByte(portion, 0) >= 0 || int64(len(portion)) > size {
			t.Fatalf("a portion of %q", portion)
		}
		took = append(took, portion...)
		return len(portion)
	}
	for range 50 {
		if err := l.Record(&event.Event{Kind: event.Upkeep, Detail: "something happened"}); err != nil {
			t.Fatal(err)
		}
		take(1 << 20)
	}
	for range 50 {
		if err := l.Record(&event.Event{Kind: event.Upkeep, Detail: "something more happened"}); err != nil {
			t.Fatal(err)
		}
	}
	if take(1000) == 0 {
		t.Fatal("a small portion has no line")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for take(1000) > 0 {
	}
	list, _ := ListSegments(dir)
	if !list[0].Closed {
		t.Errorf("%+v", list[0])
	}
	whole, err := os.ReadFile(filepath.Join(dir, list[0].Name))
	if err != nil || !bytes.Equal(whole, took) {
		t.Errorf("%d of %d bytes, %v", len(took), len(whole), err)
	}
	if _, err := ReadPortion(dir, list[0], int64(len(whole))+1, 1000); !errors.Is(err, ErrCut) {
		t.Errorf("behind the end of a closed segment: %v", err)
	}
	if l, err = Open(dir, Options{}); err != nil { // it reserves space behind its records
		t.Fatal(err)
	}
	if list, err = ListSegments(dir); err != nil || list[1].Closed {
		t.Fatal(list, err)
	}
	if rest, err := ReadPortion(dir, list[1], list[1].Size, 1000); err != nil || len(rest) > 0 {
		t.Errorf("at the end of an open segment: %q, %v", rest, err)
	}
	if _, err := ReadPortion(dir, list[1], list[1].Size+1, 1000); !errors.Is(err, ErrCut) {
		t.Errorf("behind the end of an open segment: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRunningSessionsAreCounted(t *testing.T) {
	dir := t.TempDir()
	if n, err := CountRunning(filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	past := func() time.Time { return time.Now().Add(-time.Minute) }
	a, err := Open(dir, Options{Now: past})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir, Options{Now: past})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := CountRunning(dir); n != 2 || err != nil {
		t.Errorf("%d, %v; want 2", n, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := CountRunning(dir); n != 1 || err != nil {
		t.Errorf("%d, %v; want 1", n, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
