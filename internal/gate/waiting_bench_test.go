package gate

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"
)

// line1000 is an Approver of a thousand questions whose answers are given from outside, by number.
type line1000 struct {
	answers [1001]chan struct{}
	open    atomic.Int32
	all     chan struct{}
}

func (l *line1000) Ask(ctx context.Context, q Question) (Answer, error) {
	if l.open.Add(1) == 1000 {
		close(l.all)
	}
	select {
	case <-l.answers[q.Number]:
		return Answer{Reply: AllowOnce, Digest: q.Digest, Channel: "bench"}, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// exit is an Outlet that knows when its call went on.
type exit struct {
	sink
	gone chan time.Time
}

func (e exit) Forward(*Exchange) error { e.gone <- time.Now(); return nil }

// BenchmarkWaiting holds a thousand calls at once: what each costs while it
// waits, without its frame, and how long a call takes from the answer until it
// goes on, when they are answered one by one and all together.
func BenchmarkWaiting(b *testing.B) {
	for _, together := range []bool{false, true} {
		name := "one-by-one"
		if together {
			name = "together"
		}
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			var held uint64
			for b.Loop() {
				d, n := thousand(b, together)
				took, held = append(took, d...), n
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(held)/1000, "B/question")
		})
	}
}

// inUse is what heap and stacks hold.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func thousand(b *testing.B, together bool) (took []time.Duration, held uint64) {
	l := &line1000{all: make(chan struct{})}
	s, err := New(alone(Options{Policy: &fixed{Action: policy.Prompt, Rule: promptRule}, Recorder: sink{}, Approver: l, MaxWaiting: 1 << 20, AskPerMinute: -1}))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	raw := bytes.Repeat([]byte("x"), 200)
	xs := make([]*Exchange, 1000)
	out := make([]exit, len(xs))
	for i := range xs {
		l.answers[i+1], out[i] = make(chan struct{}), exit{gone: make(chan time.Time, 1)}
		xs[i] = &Exchange{Raw: raw, Out: out[i], Calls: []policy.Call{{Subject: policy.ToolSubject, Names: []string{"t"}, Args: raw}}}
	}
	before := inUse()
	s.Do(context.Background(), xs...)
	<-l.all
	held = inUse() - before
	given := make([]time.Time, len(xs))
	for i := range xs {
		given[i] = time.Now()
		close(l.answers[i+1])
		if !together {
			took = append(took, (<-out[i].gone).Sub(given[i]))
		}
	}
	if together {
		for i := range xs {
			took = append(took, (<-out[i].gone).Sub(given[i]))
		}
	}
	return took, held
}
