package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/event"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A follower sees every record once, of sessions that run, begin and rotate,
// from the first line or from where the last ones begin.
func TestFollowMissesNothing(t *testing.T) {
	slow.Test(t)
	defer goleak.VerifyNone(t)
	dir := t.TempDir() + "/audit"
	const writers, each = 4, 300
	old := openLog(t, dir, Options{MaxBytes: 20_000})
	for i := range 10 {
		if err := old.Record(usual(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, last := range []int{0, 3} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		seen := make(chan string)
		go func() {
			defer close(seen)
			for e, err := range Follow(ctx, dir, Filter{Last: last, Kinds: []event.Kind{event.Decision}}) {
				if err != nil {
					t.Error(err)
					return
				}
				seen <- e.Record
			}
		}()
		backlog := last
		if last == 0 {
			backlog = 10
		}
		for range backlog { // it has caught up
			<-seen
		}
		var wg sync.WaitGroup
		want := make(chan string, writers*each+1)
		for range writers {
			wg.Go(func() {
				l, err := Open(dir, Options{MaxBytes: 20_000})
				if err != nil {
					t.Error(err)
					return
				}
				for i := range each {
					ev := usual(i)
					if err := l.Record(ev); err != nil {
						t.Error(err)
					}
					want <- ev.Record
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			ev := usual(0)
			if err := old.Record(ev); err != nil {
				t.Error(err)
			}
			want <- ev.Record
		})
		got := map[string]bool{}
		for range writers*each + 1 {
			id, ok := <-seen
			if !ok {
				t.Fatalf("ended after %d", len(got))
			}
			if got[id] {
				t.Fatalf("%s came twice", id)
			}
			got[id] = true
		}
		wg.Wait()
		close(want)
		for id := range want {
			if !got[id] {
				t.Fatalf("%s is missing", id)
			}
		}
		cancel()
		for id := range seen {
			t.Fatalf("%s came from nowhere", id)
		}
	}
}

// What is stored into a mapped segment makes no noise in its folder.
func TestFollowSeesTheNextRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir, Options{})
	l.cleanups.Wait()
	if err := l.Record(usual(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := 0
	for e, err := range Follow(ctx, dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Decision {
			next++
		}
		if next == 3 {
			return
		}
		if err := l.Record(usual(next)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%d records came", next)
}

func TestFollowEndsWhenTheDirectoryGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, dir, Options{})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range Follow(t.Context(), dir, Filter{Kinds: []event.Kind{event.Segment}}) {
		if n++; n == 1 {
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err == nil {
			t.Fatal("a record out of nowhere")
		}
	}
	if n != 2 {
		t.Fatalf("%d items", n)
	}
}

func TestReadMergesByTime(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir() + "/audit"
	at := time.Now().Add(-time.Hour)
	clock := func() time.Time { at = at.Add(time.Millisecond); return at }
	logs := make([]*Log, 3)
	for i := range logs {
		logs[i] = openLog(t, dir, Options{Now: clock, MaxBytes: 3000, Retention: keepAll})
		logs[i].cleanups.Wait() // it reads the clock too
	}
	for i := range 60 {
		if err := logs[i%7%3].Record(&event.Event{Kind: event.Passed, Method: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		logs[i%7%3].cleanups.Wait()
	}
	for _, last := range []int{0, 1, 7, 60, 100} {
		next := 0
		if last > 0 {
			next = max(0, 60-last)
		}
		for e, err := range Read(dir, Filter{Last: last}) {
			if err != nil || e.Method != fmt.Sprint(next) {
				t.Fatalf("last %d: %v, %s instead of %d", last, err, e.Method, next)
			}
			next++
		}
		if next != 60 {
			t.Fatalf("last %d: ended before %d", last, next)
		}
	}
	for e, err := range Read(dir, Filter{}) {
		if err != nil || e.Method != "0" {
			t.Fatal(e, err)
		}
		break // a reader that stops early stops cleanly
	}
}

func TestReadGoesOnBehindDamage(t *testing.T) {
	dir := t.TempDir() + "/audit"
	l := openLog(t, dir, Options{})
	for i := range 5 {
		if err := l.Record(&event.Event{Kind: event.Passed, Method: fmt.Sprint("m", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	replaceInFile(t, segmentPaths(t, dir)[0], `"m2"`, `"mX"`)
	var methods []string
	var damages int
	for e, err := range Read(dir, Filter{}) {
		var d *event.Damage
		switch {
		case errors.As(err, &d) && d.Line == 4:
			damages++
		case err != nil:
			t.Fatal(err)
		default:
			methods = append(methods, e.Method)
		}
	}
	if damages != 1 || fmt.Sprint(methods) != "[m0 m1 m3 m4]" {
		t.Fatalf("%d, %v", damages, methods)
	}
	for range Read(filepath.Join(dir, "none"), Filter{}) {
		t.Fatal("a record in no directory")
	}
}

// A follower that was away returns to more records than it sorts at once, misses none, and calls
// Caught before the first of them.
func TestFollowAfterAPause(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir() + "/audit"
	l := openLog(t, dir, Options{})
	record := func(n int) {
		for i := range n {
			if err := l.Record(usual(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	record(2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const more = 2*maxNews + 7
	seen, caught, last := 0, -1, uint64(0)
	for e, err := range Follow(ctx, dir, Filter{Kinds: []event.Kind{event.Decision}, Caught: func() { caught = seen }}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq <= last {
			t.Fatalf("record %d comes after %d", e.Seq, last)
		}
		last = e.Seq
		if seen++; seen == 2 {
			record(more)
		}
		if seen == 2+more {
			break
		}
	}
	if seen != 2+more || caught != 2 {
		t.Errorf("%d records, caught up after %d", seen, caught)
	}
}
