package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// sessionsOf fills a state folder with journals of sessions, the first used last.
func sessionsOf(tb testing.TB, n int) (state string) {
	tb.Helper()
	state = tb.TempDir()
	if err := makeFolder(dirOf(state)); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		key := fmt.Sprintf("session:%d", i)
		path := filepath.Join(dirOf(state), fileOf(key))
		text := "\n" + keyLine(key) + "\n\n" + labelLine(Seen{untrusted, "web fetch", time.Unix(1, 0)}) + "\n"
		used := time.Unix(int64(2_000_000_000-i), 0)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(path, used, used); err != nil {
			tb.Fatal(err)
		}
	}
	return state
}

// The sessions that were used last come first, and no journal is read that nobody asks for.
func TestAllReadsWhatIsAskedFor(t *testing.T) {
	state := sessionsOf(t, 20)
	old := filepath.Join(dirOf(state), fileOf("session:10"))
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(old, 0o700); err != nil { // it cannot be read, and is the last
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range EachSession(state) {
		if err != nil || s.Key != fmt.Sprintf("session:%d", n) || len(s.Seen) != 1 {
			t.Fatalf("%d: %+v, %v", n, s, err)
		}
		if n++; n == 6 {
			break
		}
	}
	if _, err := ListSessions(state); err == nil {
		t.Error("all are listed, and one cannot be read")
	}
	if all, err := ListSessions(t.TempDir()); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// BenchmarkAll is what status shows of so many sessions: the last six; BenchmarkList is all.
func BenchmarkAll(b *testing.B) {
	for _, n := range []int{10_000, 20_000, 40_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			state := sessionsOf(b, n)
			for b.Loop() {
				left := 6
				for _, err := range EachSession(state) {
					if err != nil {
						b.Fatal(err)
					}
					if left--; left == 0 {
						break
					}
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{10_000, 20_000, 40_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			state := sessionsOf(b, n)
			for b.Loop() {
				if all, err := ListSessions(state); err != nil || len(all) != n {
					b.Fatal(len(all), err)
				}
			}
		})
	}
}
