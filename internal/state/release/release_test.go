package release

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// newStore is a store with the key of a record, and its clock.
func newStore(t *testing.T) (Store, *time.Time) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "record.key"), []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return Store{State: dir, Now: func() time.Time { return now }}, &now
}

var said = gate.Release{Record: "abc-7", By: "ana"}

func TestAReleaseHoldsOnceAndForTenMinutes(t *testing.T) {
	s, now := newStore(t)
	start := *now
	name := s.Name(sha256.Sum256([]byte("a call")))
	for _, tt := range []struct {
		after time.Duration
		holds bool
	}{{0, true}, {Holds - time.Nanosecond, true}, {Holds, false}, {time.Hour, false}, {-time.Second, false}} {
		*now = start
		until, err := s.Grant(name, said)
		if err != nil || !until.Equal(start.Add(Holds)) {
			t.Fatalf("released until %v, %v", until, err)
		}
		*now = start.Add(tt.after)
		if got := s.Waits(name); got != tt.holds {
			t.Errorf("after %v it waits: %v", tt.after, got)
		}
		if r, ok := s.Take(name); ok != tt.holds || ok && r != said {
			t.Errorf("after %v taken: %v, %v", tt.after, r, ok)
		}
		if _, ok := s.Take(name); ok || tt.holds && s.Waits(name) {
			t.Errorf("after %v taken twice", tt.after)
		}
	}
}

// Of many processes, each with a store of its own, one takes a release.
func TestOneOfManyTakesARelease(t *testing.T) {
	s, _ := newStore(t)
	name := s.Name([32]byte{1})
	for range 50 {
		if _, err := s.Grant(name, said); err != nil {
			t.Fatal(err)
		}
		var taken atomic.Int32
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 8 {
			all.Go(func() {
				<-begin
				if _, ok := s.Take(name); ok {
					taken.Add(1)
				}
			})
		}
		close(begin)
		if all.Wait(); taken.Load() != 1 {
			t.Fatalf("%d took it", taken.Load())
		}
	}
}

// A name tells nothing without the key, and no file is opened by a text that is none.
func TestNames(t *testing.T) {
	s, _ := newStore(t)
	other, _ := newStore(t)
	if err := os.WriteFile(filepath.Join(other.State, "record.key"), []byte(strings.Repeat("o", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	value := sha256.Sum256([]byte("a call"))
	name := s.Name(value)
	if name != s.Name(value) || name == s.Name([32]byte{}) || name == other.Name(value) || len(name) != nameLen {
		t.Errorf("the name %q", name)
	}
	if (Store{State: t.TempDir()}).Name(value) != "" {
		t.Error("without a key there is a name")
	}
	for _, bad := range []string{"", "..", "../record", strings.Repeat("z", nameLen), name + "00", "/etc/passwd"} {
		if _, err := s.Grant(bad, said); err == nil || s.Waits(bad) {
			t.Errorf("%q is a name", bad)
		}
		if _, ok := s.Take(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

// What is over goes when the next release comes, and what is no release never holds.
func TestWhatIsOverGoes(t *testing.T) {
	s, now := newStore(t)
	old, next := s.Name([32]byte{1}), s.Name([32]byte{2})
	if _, err := s.Grant(old, said); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(Holds)
	if _, err := s.Grant(next, said); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(s.folder())
	if err != nil || len(all) != 1 || all[0].Name() != next+".json" {
		t.Errorf("kept %v, %v", all, err)
	}
	for _, text := range []string{"", "{", `{"at":"soon"}`, `{}`} {
		if err := os.WriteFile(filepath.Join(s.folder(), next+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Take(next); ok {
			t.Errorf("%q releases", text)
		}
	}
}
