// Package soak_test runs many sessions with a server whose streams break in every
// way, through both forms of a remote server. CLAWAI_SOAK=full runs 1,000 sessions
// with 10,000 calls through each; without it there are a few.
package soak_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callsEach = 10

func sessions() int {
	if testing.Short() {
		return 12
	}
	return slow.Rounds(60, 1000)
}

// record counts what the gate writes.
type record struct{ requests, all atomic.Int64 }

func (r *record) Record(events ...*event.Event) error {
	for _, ev := range events {
		ev.Record = fmt.Sprint(r.all.Add(1))
		if ev.Method == "tools/call" && ev.Kind == event.Decision {
			r.requests.Add(1)
		}
	}
	return nil
}

func newGate(t testing.TB, r *record) *gate.Session {
	p, err := policy.Parse("soak.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{
		Policy: p, Recorder: r, Approver: nobody{},
		Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// tally is what one session's client was told: each frame once, in its stream's
// order.
type tally struct {
	t       testing.TB
	name    string
	mu      sync.Mutex
	notes   map[string]int // by stream: how many have come
	answers map[string]int
}

func newTally(t testing.TB, name string) *tally {
	return &tally{t: t, name: name, notes: make(map[string]int), answers: make(map[string]int)}
}

// take notes a frame.
func (y *tally) take(line string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case strings.Contains(line, `"data":"`):
		_, rest, _ := strings.Cut(line, `"data":"`)
		at, _, _ := strings.Cut(rest, `"`)
		stream, n, _ := strings.Cut(at, ".")
		if n != fmt.Sprint(y.notes[stream]) {
			y.t.Errorf("%s: note %s after %d", y.name, at, y.notes[stream])
		}
		y.notes[stream]++
	case strings.Contains(line, `"error"`):
		y.t.Errorf("%s: %s", y.name, line)
		fallthrough
	default:
		_, rest, _ := strings.Cut(line, `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		if y.answers[id]++; y.answers[id] > 1 {
			y.t.Errorf("%s: answered twice: %s", y.name, line)
		}
	}
}

// TestSoak runs the sessions half by half and compares what is held after each.
func TestSoak(t *testing.T) {
	slow.Test(t)
	for name, form := range map[string]func(t *testing.T, back string, r *record) (session func(n int), end func()){
		"bridge": bridge, "reverse": reverseProxy,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			back := httptest.NewServer(s)
			defer back.Close()
			before := held()
			r := &record{}
			session, end := form(t, back.URL+"/mcp", r)
			began := time.Now()
			run(session, 0, sessions()/2)
			half := held()
			run(session, sessions()/2, sessions())
			whole := held()
			end()
			back.CloseClientConnections()
			http.DefaultClient.CloseIdleConnections()
			s.mu.Lock()
			defer s.mu.Unlock()
			t.Logf("%d sessions, %d calls in %v; attempts %v (whole, cut, broken, slow, half-closed, twice); %d records; before %v, half %v, whole %v, after %v",
				s.n, s.calls, time.Since(began).Round(time.Millisecond), s.how, r.all.Load(), before, half, whole, held())
			if s.calls != sessions()*callsEach || int(r.requests.Load()) != s.calls {
				t.Errorf("%d calls were heard, %d recorded, of %d", s.calls, r.requests.Load(), sessions()*callsEach)
			}
			if left := len(s.sessions); left > sessions()/20 { // the proxy waits 0.6 s for the server to end one, and a busy machine may take longer
				t.Errorf("%d sessions were left open", left)
			}
			if whole.heap > half.heap+2<<20 {
				t.Errorf("memory grows: %v, then %v", half, whole)
			}
			for end := time.Now().Add(2 * time.Minute); held().files > before.files+2; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("descriptors leak: %v, then %v", before, held())
				}
			}
		})
	}
}

// run plays sessions from..to, 16 at a time.
func run(session func(n int), from, to int) {
	var all sync.WaitGroup
	next := make(chan int)
	for range 16 {
		all.Go(func() {
			for n := range next {
				session(n)
			}
		})
	}
	for n := from; n < to; n++ {
		next <- n
	}
	close(next)
	all.Wait()
}

// holding is what the process holds.
type holding struct {
	heap       uint64
	files      int
	goroutines int
}

func (h holding) String() string {
	return fmt.Sprintf("%.1f MiB %d descriptors %d goroutines", float64(h.heap)/(1<<20), h.files, h.goroutines)
}

func held() holding {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return holding{m.HeapAlloc, len(files), runtime.NumGoroutine()}
}

func address(t testing.TB, s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
