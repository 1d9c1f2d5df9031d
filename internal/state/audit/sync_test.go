//go:build unix

package audit

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseSync(t *testing.T) {
	for word, want := range map[string]Sync{"none": SyncNone, "interval": SyncInterval, "each": SyncEach} {
		if got, err := ParseSync(word); err != nil || got != want {
			t.Errorf("%s: %v, %v", word, got, err)
		}
	}
	if _, err := ParseSync("always"); err == nil || !strings.Contains(err.Error(), "none, interval, each") {
		t.Error(err)
	}
}

// What the disk did not take is known before the next call goes on, and until it does no
// call goes on.
func TestADiskThatFailsBesideTheCalls(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{Sync: SyncNone})
	if err := l.Record(usual(1)); err != nil {
		t.Fatal(err)
	}
	l.cleanups.Wait()
	if at := l.syncOnce(0); at != 3 || l.syncOnce(at) != at {
		t.Errorf("brought to the disk up to line %d", at)
	}
	disk, size := l.seg.file, l.seg.size
	l.seg.file, l.seg.size = unsyncable(t), 0 // as a pipe has
	l.syncOnce(0)
	ev := usual(2)
	l.nextLook, l.nextCheck = time.Now().Add(time.Hour), time.Now().Add(time.Hour)
	if err := l.Record(ev); err == nil || ev.Record != "" {
		t.Errorf("%q is recorded on a disk that failed, %v", ev.Record, err)
	}
	l.seg.file, l.seg.size = disk, size
	if err := l.Record(ev); err != nil || ev.Record == "" {
		t.Errorf("the disk works again: %v", err)
	}
}

// TestIntervalEndsWithTheLog: Close waits for it, and it for nothing.
func TestIntervalEndsWithTheLog(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{Sync: SyncInterval})
	if err := l.Record(usual(1)); err != nil {
		t.Fatal(err)
	}
}

// unsyncable is a file that no disk takes.
func unsyncable(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return w
}
