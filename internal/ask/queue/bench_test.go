package queue_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
)

// inFlight is how many questions wait at once in the benchmarks.
const inFlight = 1000

func init() {
	// flight SESSION N: puts N requests and says, in nanoseconds since 1970, when
	// each answer woke who waited for it.
	roles["flight"] = func(dir string, args []string) error {
		return asProxy(dir, args[0], queue.Options{}, func(_ *queue.Queue, p *queue.Proxy) error {
			n, _ := strconv.Atoi(args[1])
			before := memory()
			var wg sync.WaitGroup
			woken := make([]string, n)
			for i := range n {
				ticket, err := p.Put(ctx, write(`{"path":"/home/me/work/a.go","content":"package a"}`))
				if err != nil {
					return err
				}
				wg.Go(func() {
					a, err := ticket.Wait(ctx)
					woken[i] = fmt.Sprintln(ticket.ID(), time.Now().UnixNano(), a.By, err)
				})
			}
			fmt.Println("ready", memory()-before, resident())
			wg.Wait()
			fmt.Print(strings.Join(woken, ""))
			return nil
		})
	}
}

// memory is the heap in use and the stacks.
func memory() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// resident is this process's memory in KiB, where the system tells.
func resident() int {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

func report(b *testing.B, all []time.Duration, name string) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-us")
}

// BenchmarkInFlight has a thousand questions wait, in one process or spread over
// ten, and answers them one by one. wake is from when an answer is stored to the
// one who waited for it; answer is what Decide takes.
func BenchmarkInFlight(b *testing.B) {
	for _, processes := range []int{1, 10} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			var wake, decide []time.Duration
			for b.Loop() {
				w, d := flight(b, processes)
				wake, decide = append(wake, w...), append(decide, d...)
			}
			report(b, wake, "wake")
			report(b, decide, "answer")
		})
	}
}

func flight(b *testing.B, processes int) (wake, decide []time.Duration) {
	dir := filepath.Join(b.TempDir(), "queue")
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	each := inFlight / processes
	var children []*child
	var held, resident int
	for i := range processes {
		children = append(children, start(b, "flight", dir, fmt.Sprintf("p%d", i), strconv.Itoa(each)))
	}
	for _, c := range children {
		var h, r int
		if _, err := fmt.Sscanf(c.line(), "ready %d %d", &h, &r); err != nil {
			b.Fatal(err)
		}
		held, resident = held+h, max(resident, r)
	}
	b.ReportMetric(float64(held)/inFlight, "B/waiting")
	b.ReportMetric(float64(resident)/1024, "MiB-resident")
	all, err := q.Pending(ctx)
	if err != nil || len(all) != inFlight {
		b.Fatal(len(all), err)
	}
	stored := map[string]time.Time{}
	for _, r := range all {
		begin := time.Now()
		if _, err := q.Decide(ctx, r.ID, answer(gate.AllowOnce, r.ID)); err != nil {
			b.Fatal(err)
		}
		stored[r.ID] = time.Now()
		decide = append(decide, stored[r.ID].Sub(begin))
	}
	for _, c := range children {
		lines := bufio.NewScanner(strings.NewReader(c.rest()))
		for lines.Scan() {
			var id, by, failed string
			var at int64
			if _, err := fmt.Sscan(lines.Text(), &id, &at, &by, &failed); err != nil || by != id || failed != "<nil>" {
				b.Fatal(lines.Text(), err)
			}
			// Woken before Decide has returned counts as at once.
			wake = append(wake, max(0, time.Unix(0, at).Sub(stored[id])))
			delete(stored, id)
		}
	}
	if len(stored) != 0 {
		b.Fatalf("%d answers were lost", len(stored))
	}
	return wake, decide
}

// BenchmarkPut is what asking costs the proxy.
func BenchmarkPut(b *testing.B) {
	p, _, _ := newQueue(b)
	for b.Loop() {
		put(b, p, `{"path":"/home/me/work/a.go"}`)
	}
}

// BenchmarkPending is what a look costs, with a thousand that wait.
func BenchmarkPending(b *testing.B) {
	p, other, _ := newQueue(b)
	for range inFlight {
		put(b, p, `{"path":"/home/me/work/a.go"}`)
	}
	for b.Loop() {
		if _, err := other.Pending(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is what the first use costs, on a database that is there.
func BenchmarkOpen(b *testing.B) {
	_, other, dir := newQueue(b)
	if _, err := other.Pending(ctx); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		q, err := queue.Open(dir, queue.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := q.Pending(ctx); err != nil {
			b.Fatal(err)
		}
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswerers is what the chain asks before each question.
func BenchmarkAnswerers(b *testing.B) {
	_, q, _ := newQueue(b)
	a, err := q.AddAnswerer("console")
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	for b.Loop() {
		if _, err := q.Answerers(); err != nil {
			b.Fatal(err)
		}
	}
}
