//go:build unix

package audit

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// TestMain makes the test binary play a proxy that records, when it is told to. Only such a proxy
// waits as long as the product before it cleans up: hundreds of tests wait for the clean-up's end.
func TestMain(m *testing.M) {
	if dir := os.Getenv("AUDIT_TEST_DIR"); dir != "" {
		if err := child(dir, os.Getenv("AUDIT_TEST_COUNT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	cleanupAfter = time.Millisecond
	os.Exit(m.Run())
}

// child records so many events in batches of four, and prints the id of each
// once it is recorded. A negative count never ends.
func child(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if uid, err := strconv.Atoi(os.Getenv("AUDIT_TEST_UID")); err == nil {
		if err := syscall.Setuid(uid); err != nil {
			return err
		}
	}
	lockPatience = 10 * time.Minute
	l, err := Open(dir, Options{MaxBytes: 40_000})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for i := 0; i != n/4 || n < 0; i++ {
		batch := []*event.Event{usual(i), usual(i), usual(i), usual(i)}
		if err := l.Record(batch...); err != nil {
			return err
		}
		for _, ev := range batch {
			fmt.Fprintln(out, ev.Record)
		}
		if n < 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return l.Close()
}

func command(t *testing.T, dir string, count int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_TEST_DIR="+dir, fmt.Sprint("AUDIT_TEST_COUNT=", count))
	cmd.Stderr = os.Stderr
	return cmd
}

// Fifty proxies write at once: every record that was said to be recorded is
// there once, whole, and verifies. By day each writes two segments, because fifty processes that
// ask for the ledger's lock again and again keep all processors busy.
func TestFiftyProcessesAtOnce(t *testing.T) {
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "state", "audit")
	const processes = 50
	each := slow.Rounds(160, 400)
	ids := make([][]string, processes)
	var wg sync.WaitGroup
	for i := range processes {
		cmd := command(t, dir, each)
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			ids[i] = strings.Fields(string(out))
		})
	}
	wg.Wait()
	want := map[string]bool{}
	for _, list := range ids {
		for _, id := range list {
			want[id] = true
		}
	}
	if len(want) != processes*each {
		t.Fatalf("%d ids", len(want))
	}
	var last time.Time
	upkeep := 0
	for e, err := range Read(dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Upkeep { // what a session could not clean up on a busy machine
			t.Log(e.Detail)
			upkeep++
			continue
		}
		if e.Time.Before(last) || !want[e.Record] {
			t.Fatalf("%s at %v after %v", e.Record, e.Time, last)
		}
		last = e.Time
		delete(want, e.Record)
	}
	r := verify(t, dir)
	if !r.IsIntact() || len(r.Notes) > 0 || r.Records != uint64(processes*each+r.Segments+upkeep) || r.Segments < 2*processes {
		t.Fatalf("%+v", r)
	}
	if len(want) > 0 {
		t.Fatalf("%d records are not read back", len(want))
	}
}

// A proxy is killed in the middle of its work: what it had acknowledged is
// there, the record verifies, and the next session closes the segment.
func TestKilledInTheMiddle(t *testing.T) {
	slow.Test(t)
	kills := slow.Rounds(50, 10_000)
	for range kills {
		dir := filepath.Join(t.TempDir(), "audit")
		cmd := command(t, dir, -1)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := bufio.NewScanner(out)
		last := ""
		for range 1 + rand.IntN(500) {
			if !acknowledged.Scan() {
				t.Fatal("the child died by itself")
			}
			last = acknowledged.Text()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for acknowledged.Scan() {
			last = acknowledged.Text()
		}
		if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatal(err)
		}
		if r := verify(t, dir); !r.IsIntact() || len(r.Notes) == 0 {
			t.Fatalf("before the next session: %+v", r)
		}
		found := false
		for e, err := range Read(dir, Filter{Record: last}) {
			found = found || err == nil && e.Record == last
		}
		if !found {
			t.Fatalf("%s was acknowledged and is lost", last)
		}
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir); !r.IsIntact() {
			t.Fatalf("after the next session: %+v", r)
		}
	}
}

// A kill can end the write of a line of the ledger anywhere, also before its LF. The next session goes on behind
// it, and nothing is a finding.
func TestLedgerLineThatEndsAnywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	if err := openLog(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ledgerName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for end := last + 1; end < len(whole); end++ {
		replace(t, path, whole[:end])
		if r := verify(t, dir); !r.IsIntact() || len(r.Notes) == 0 {
			t.Fatalf("cut at %d of %d: %+v", end, len(whole), r)
		}
		if end == len(whole)-1 {
			for _, c := range "\v J}" { // a changed LF is no torn line
				replace(t, path, fmt.Append(whole[:end:end], string(c)))
				if r := verify(t, dir); r.IsIntact() {
					t.Fatalf("LF became %q, and nothing was found", c)
				}
			}
			replace(t, path, whole[:end])
		}
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir); !r.IsIntact() {
			t.Fatalf("cut at %d of %d, after the next session: %+v", end, len(whole), r)
		}
		files, _ := listSegments(dir)
		for _, later := range files[1:] {
			_ = os.Remove(filepath.Join(dir, later.Name()))
		}
	}
}

// Whatever a crash leaves behind the last whole line is accounted for by the
// next session, and stays in the file.
func TestTornTailIsAccountedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir, Options{})
	if err := l.Record(sample(), sample()); err != nil {
		t.Fatal(err)
	}
	path := l.seg.path
	abandon(t, l)
	whole := recorded(t, path)
	torn := whole[:len(whole)-100]
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); !r.IsIntact() || len(r.Notes) != 2 {
		t.Fatalf("before: %+v", r)
	}
	if err := openLog(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	r := verify(t, dir)
	if !r.IsIntact() || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].What, "died while it wrote") {
		t.Fatalf("after: %+v", r)
	}
	now, err := os.ReadFile(path)
	if err != nil || string(now) != string(torn) {
		t.Fatalf("the segment was changed: %v", err)
	}
	for cut := range 3 { // from now on the fragment itself is pinned
		replace(t, path, torn[:len(torn)-1-cut])
		if r := verify(t, dir); r.IsIntact() {
			t.Fatalf("%d bytes of the fragment gone and nothing found", cut+1)
		}
	}
}
