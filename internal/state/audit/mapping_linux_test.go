package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// plainVariable makes the tests of this room write each record, as where nothing can be
// mapped.
const plainVariable = "AUDIT_TEST_PLAIN"

func init() {
	if os.Getenv(plainVariable) != "" {
		mappable = nil
	}
}

// What holds of a record in memory holds of one that is written. The tests that are left out read
// and change finished segments, which are the same bytes in both cases.
func TestPlainRecord(t *testing.T) {
	slow.Test(t)
	if os.Getenv(plainVariable) != "" {
		t.Skip("this is it")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^Test", "-test.skip=FiftyProcesses|Tampering|ArrivalInParts|FollowTheTail|ReadersTakeAnyBytes|VerifyFindsAnyChangedByte")
	cmd.Env = append(os.Environ(), plainVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestSegmentsAreMapped(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{})
	if mapped := os.Getenv(plainVariable) == ""; mapped != (l.seg.mem != nil) {
		t.Fatalf("mapped: %v", !mapped)
	}
}

// Somebody cuts the file short between two looks at it: what is stored into nothing is
// refused, not acknowledged, and the next record is in a file again.
func TestFileCutUnderTheRecord(t *testing.T) {
	if os.Getenv(plainVariable) != "" {
		t.Skip("a write goes to the end of the file, wherever that is")
	}
	dir := filepath.Join(t.TempDir(), "audit")
	start, ticks := time.Now(), atomic.Int64{} // the clean-up reads the clock, too
	l := openLog(t, dir, Options{Now: func() time.Time { return start.Add(time.Duration(ticks.Add(1))) }})
	if err := l.Record(usual(1)); err != nil {
		t.Fatal(err)
	}
	l.cleanups.Wait()
	if err := os.Truncate(l.seg.path, 0); err != nil {
		t.Fatal(err)
	}
	ev := usual(2)
	if err := l.Record(ev); err == nil || ev.Record != "" || !strings.Contains(err.Error(), "it was cut short") {
		t.Fatalf("%v, %q", err, ev.Record)
	}
	if err := l.Record(ev); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	kinds := map[event.Kind]int{}
	for e, err := range Read(dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds[e.Kind]++
	}
	if kinds[event.Recovery] != 1 || kinds[event.Upkeep] != 1 || kinds[event.Decision] != 1 {
		t.Fatalf("%v", kinds)
	}
	if r := verify(t, dir); r.IsIntact() {
		t.Fatal("what was cut off is not missed")
	}
}

// A closed segment has its records and nothing behind them; a crashed one too, once the
// next session has been.
func TestReservedRoomIsGivenBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir, Options{})
	if err := l.Record(usual(1)); err != nil {
		t.Fatal(err)
	}
	path, size := l.seg.path, l.seg.size
	abandon(t, l)
	if err := openLog(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	all, err := listSegments(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v %v", all, err)
	}
	for _, fi := range all {
		text := recorded(t, filepath.Join(dir, fi.Name()))
		if fi.Size() != int64(len(text)) || !isClosed(fi) || fi.Name() == filepath.Base(path) && fi.Size() != size {
			t.Errorf("%s has %d bytes, %d of them records", fi.Name(), fi.Size(), len(text))
		}
	}
	if r := verify(t, dir); !r.IsIntact() {
		t.Fatalf("%+v", r)
	}
}

// Zeros over a record do not hide those behind it.
func TestZerosHideNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir, Options{})
	if err := l.Record(usual(1), usual(2), usual(3)); err != nil {
		t.Fatal(err)
	}
	path := l.seg.path
	abandon(t, l)
	text := recorded(t, path)
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = strings.Repeat("\x00", len(lines[2]))
	replace(t, path, []byte(strings.Join(lines, "")))
	if r := verify(t, dir); r.IsIntact() {
		t.Fatal("nothing found")
	}
}

// dataEnd is where the data ends that begins at offset from: written bytes, also such as only
// memory has yet.
func dataEnd(t *testing.T, f *os.File, from int64) int64 {
	end, err := unix.Seek(int(f.Fd()), from, unix.SEEK_HOLE)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// openFilled begins a record whose pages are written ahead.
func openFilled(t *testing.T, o Options) *Log {
	l := openLog(t, filepath.Join(t.TempDir(), "audit"), o)
	if l.seg.mem == nil || !l.seg.mem.fills {
		t.Skip("on this file system no page is written ahead")
	}
	return l
}

// Pages are brought before they are needed: none for a session of few records, never more than
// fillStep, and never the last of the room, by which a cut shows.
func TestPagesAreFilledAhead(t *testing.T) {
	l := openFilled(t, Options{})
	m, page, ahead := l.seg.mem, int64(os.Getpagesize()), 0
	for i := range 3 * reserveStep / 500 {
		if err := l.Record(usual(i)); err != nil {
			t.Fatal(err)
		}
		end := dataEnd(t, m.file, m.end)
		if pages := (m.end + page - 1) / page * page; end > pages {
			ahead++
			if m.end <= page || end > pages+fillStep || end > m.reservedSize()-page {
				t.Fatalf("filled to %d, with records to %d and room to %d", end, m.end, m.reservedSize())
			}
		}
	}
	if ahead < 100 {
		t.Fatalf("after %d records only there was a page ahead", ahead)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, l.dir); !r.IsIntact() {
		t.Fatalf("%+v", r)
	}
}

// Where each record is synced, a sync writes no page ahead.
func TestSyncedRecordsFillNothing(t *testing.T) {
	openFilled(t, Options{})
	l := openLog(t, filepath.Join(t.TempDir(), "audit"), Options{Sync: SyncEach})
	m, page := l.seg.mem, int64(os.Getpagesize())
	for m.end < 2*page {
		if err := l.Record(usual(1), usual(2), usual(3)); err != nil {
			t.Fatal(err)
		}
		if end := dataEnd(t, m.file, m.end); end >= m.end+page {
			t.Fatalf("filled to %d, with records to %d", end, m.end)
		}
	}
}

// A file that was cut short is not made longer by the pages that are written ahead: the record that
// needs them is refused.
func TestACutFileIsNotFilled(t *testing.T) {
	start, ticks := time.Now(), atomic.Int64{}
	l := openFilled(t, Options{Now: func() time.Time { return start.Add(time.Duration(ticks.Add(1))) }})
	l.cleanups.Wait()
	for m := l.seg.mem; m.filled < int64(os.Getpagesize())+fillStep || m.end+2000 < m.filled; {
		if err := l.Record(usual(1)); err != nil {
			t.Fatal(err)
		}
	}
	path := l.seg.path
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	batch := []*event.Event{usual(2), usual(3), usual(4), usual(5)} // longer than what is filled
	if err := l.Record(batch...); err == nil || !strings.Contains(err.Error(), "it was cut short") {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() != 0 {
		t.Fatalf("%v, %v bytes", err, fi.Size())
	}
	if err := l.Record(usual(2)); err != nil {
		t.Fatal(err)
	}
}
