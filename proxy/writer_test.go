package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
)

// slow collects what is written, a piece at a time.
type slow struct {
	mu   sync.Mutex
	got  bytes.Buffer
	fail error
	hold chan struct{} // when not nil, each write waits for one
	held chan struct{} // when not nil, gets a word of each write that waits
}

func (s *slow) Write(p []byte) (int, error) {
	if s.held != nil {
		s.held <- struct{}{}
	}
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	return s.got.Write(p)
}

func TestLinesOfManySendersNeverInterleave(t *testing.T) {
	out := &slow{}
	w := NewWriter(out)
	var senders sync.WaitGroup
	const each = 50
	for i := range 8 {
		senders.Go(func() {
			for n := range each {
				line := fmt.Sprintf("%d %d %s", i, n, strings.Repeat("x", n%7*10_000))
				if err := w.Add([]byte(line)); err != nil {
					t.Error(err)
				}
				w.Flush()
			}
		})
	}
	senders.Wait()
	if err := w.DrainQueue(); err != nil {
		t.Fatal(err)
	}
	var next [8]int
	for line := range strings.Lines(out.got.String()) {
		var i, n int
		if _, err := fmt.Sscanf(line[:min(len(line), 10)], "%d %d", &i, &n); err != nil {
			t.Fatalf("%.40q: %v", line, err)
		}
		if n != next[i] || len(strings.TrimRight(line, "\n")) != len(fmt.Sprintf("%d %d ", i, n))+n%7*10_000 {
			t.Fatalf("sender %d: line %d of %d bytes, want line %d", i, n, len(line), next[i])
		}
		next[i]++
	}
	for i, n := range next {
		if n != each {
			t.Errorf("sender %d: %d lines of %d", i, n, each)
		}
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	out := &slow{hold: make(chan struct{}), held: make(chan struct{}, 1000)}
	w := NewWriter(out)
	line := bytes.Repeat([]byte("x"), copyLimit)
	_ = w.Add(line)
	go w.Flush()
	<-out.held
	full := make(chan int)
	go func() {
		n := 0
		defer close(full)
		for range 200 {
			if w.Add(line) != nil {
				return
			}
			n++
			full <- n
		}
	}()
	last := 0
	for {
		select {
		case n, ok := <-full:
			if !ok {
				t.Fatal("200 lines were queued behind a reader that does not read")
			}
			last = n
			continue
		case <-time.After(100 * time.Millisecond):
		}
		break
	}
	if most := queueLimit/copyLimit + 2; last > most {
		t.Errorf("%d lines queued, at most %d wanted", last, most)
	}
	out.mu.Lock()
	out.fail = errors.New("gone")
	out.mu.Unlock()
	close(out.hold)
	for range full {
	}
	if err := w.Add(line); err == nil {
		t.Error("the error did not stay")
	}
}

func TestIdKeysAreEqualForEqualValues(t *testing.T) {
	same := [][2]string{{`"a"`, `"\u0061"`}, {`"\/"`, `"/"`}, {`1`, `1`}, {`"😀"`, `"\ud83d\ude00"`}}
	for _, p := range same {
		if frame.IDKey([]byte(p[0])) != frame.IDKey([]byte(p[1])) {
			t.Errorf("%s and %s are the same value", p[0], p[1])
		}
	}
	all := []string{`1`, `"1"`, `"\"1\""`, `""`, `"a"`, `"a\""`, `"\\"`, `"\\u0061"`, `10`, `-1`}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if frame.IDKey([]byte(a)) == frame.IDKey([]byte(b)) {
				t.Errorf("%s and %s are different values", a, b)
			}
		}
	}
}
