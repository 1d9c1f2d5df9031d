//go:build linux

package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/stdio"
)

// The benchmarks compare the real binary, with a policy and a record, with a
// byte relay around the same server, interleaved in one run. What each shows
// stands in docs/benchmarks.md.

var binaries = struct {
	sync.Once
	dir string
	err error
}{}

// build compiles clawai, the relay and the echo server once.
func build(b *testing.B) string {
	b.Helper()
	binaries.Do(func() {
		binaries.dir, binaries.err = os.MkdirTemp("", "clawai-bench-")
		for _, pkg := range []string{"../cmd/clawai", "./testdata/echo", "./testdata/relay"} {
			// As a release is built (see .goreleaser.yaml), but with the names of
			// functions, which are not loaded.
			cmd := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-w", "-o", binaries.dir+"/", pkg)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				binaries.err = fmt.Errorf("%s: %w\n%s", pkg, err, out)
			}
		}
	})
	if binaries.err != nil {
		b.Fatal(binaries.err)
	}
	return binaries.dir
}

// target is one way to the echo server, running.
type target struct {
	name  string
	child *stdio.Child
	buf   []byte
	took  []time.Duration
	next  int
}

// targets starts the server bare, behind the relay, and behind clawai.
func targets(b *testing.B, serverArgs ...string) []*target {
	b.Helper()
	var ts []*target
	for _, name := range []string{"direct", "relay", "clawai"} {
		t := &target{name: name, child: launch(b, name, serverArgs...), buf: make([]byte, 1<<20)}
		b.Cleanup(func() { _ = t.child.Close(context.Background()) })
		t.call(b)
		ts = append(ts, t)
	}
	return ts
}

func launch(b *testing.B, name string, serverArgs ...string) *stdio.Child {
	b.Helper()
	child, err := stdio.Start(stdio.Options{Args: commandLine(b, name, serverArgs...), Stderr: os.Stderr})
	if err != nil {
		b.Fatal(err)
	}
	return child
}

// commandLine is what reaches the echo server by this way.
func commandLine(b *testing.B, name string, serverArgs ...string) []string {
	b.Helper()
	dir := build(b)
	args := append([]string{filepath.Join(dir, "echo")}, serverArgs...)
	switch name {
	case "relay":
		args = append([]string{filepath.Join(dir, "relay")}, args...)
	case "clawai":
		work := b.TempDir()
		policy := filepath.Join(work, "policy.toml")
		if err := os.WriteFile(policy, []byte(benchRules), 0o600); err != nil {
			b.Fatal(err)
		}
		args = append([]string{filepath.Join(dir, "clawai"), "proxy", "--policy", policy, "--state", filepath.Join(work, "state"), "--"}, args...)
	}
	return args
}

const benchRules = `
[[rule]]
action = "deny"
tool = "write_file"

[[rule]]
action = "allow"
tool = "read_*"
args.path = "/home/user/projects/**"
`

func (t *target) request() []byte {
	t.next++
	return request(t.next)
}

func request(id int) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go"}}}` + "\n")
}

// call makes one call and waits for its answer.
func (t *target) call(b *testing.B) {
	if _, err := t.child.Write(t.request()); err != nil {
		b.Fatal(t.name, err)
	}
	t.answers(b, 1)
}

// answers reads n lines.
func (t *target) answers(b *testing.B, n int) {
	for n > 0 {
		got, err := t.child.Read(t.buf)
		if err != nil {
			b.Fatal(t.name, err)
		}
		n -= bytes.Count(t.buf[:got], []byte{'\n'})
	}
}

func (t *target) percentile(p int) time.Duration {
	slices.Sort(t.took)
	return t.took[len(t.took)*p/100]
}

// cpu is the processor time of the target's own process so far.
func (t *target) cpu() time.Duration {
	var sum time.Duration
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", t.child.Pid()))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		ns, _ := strconv.ParseInt(strings.Fields(string(text) + " 0")[0], 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

// rss is the target's own resident memory in bytes.
func (t *target) rss() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", t.child.Pid()))
	pages, _ := strconv.Atoi(strings.Fields(string(text) + " 0 0")[1])
	return pages * os.Getpagesize()
}

func BenchmarkSequential(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ts := targets(b)
	const block = 200
	before := map[string]time.Duration{}
	for _, t := range ts {
		before[t.name] = t.cpu()
	}
	b.ResetTimer()
	calls := 0
	for calls < b.N || calls < 2*block {
		for _, t := range ts {
			for range block {
				start := time.Now()
				t.call(b)
				t.took = append(t.took, time.Since(start))
			}
		}
		calls += block
	}
	b.StopTimer()
	direct, relay, clawai := ts[0], ts[1], ts[2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us(direct.percentile(50)), "direct-p50-µs")
	b.ReportMetric(us(clawai.percentile(50)), "p50-µs")
	b.ReportMetric(ratio(clawai.percentile(50), relay.percentile(50)), "p50×relay")
	b.ReportMetric(ratio(clawai.percentile(99), relay.percentile(99)), "p99×relay")
	b.ReportMetric(us(clawai.cpu()-before["clawai"])/float64(calls), "cpu-µs/call")
	b.ReportMetric(us(relay.cpu()-before["relay"])/float64(calls), "relay-cpu-µs/call")
}

func BenchmarkPipelined64(b *testing.B) {
	ts := targets(b)
	spent, cpu := map[string]time.Duration{}, map[string]time.Duration{}
	const rounds = 100 // of 64
	b.ResetTimer()
	calls := 0
	for calls < b.N || calls < 2*rounds*64 {
		for _, t := range ts {
			began := t.cpu()
			start := time.Now()
			window(b, t, rounds*64)
			spent[t.name] += time.Since(start)
			cpu[t.name] += t.cpu() - began
		}
		calls += rounds * 64
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(calls)/spent["clawai"].Seconds()/1000, "kcalls/s")
	b.ReportMetric(ratio(spent["relay"], spent["clawai"]), "×relay")
	b.ReportMetric(us(cpu["clawai"])/float64(calls), "cpu-µs/call")
	b.ReportMetric(us(cpu["relay"])/float64(calls), "relay-cpu-µs/call")
}

// window keeps 64 calls in flight, one write each, until n are answered.
func window(b *testing.B, t *target, n int) {
	free := make(chan struct{}, 64)
	for range 64 {
		free <- struct{}{}
	}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range n {
			<-free
			if _, err := t.child.Write(t.request()); err != nil {
				b.Error(t.name, err)
				return
			}
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for done := 0; done < n; {
		got, err := t.child.Read(t.buf)
		if err != nil {
			b.Fatal(t.name, err)
		}
		lines := bytes.Count(t.buf[:got], []byte{'\n'})
		for range lines {
			free <- struct{}{}
		}
		done += lines
	}
}

func BenchmarkLargeResults(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			ts := targets(b, "-bytes", strconv.Itoa(size))
			spent := map[string]time.Duration{}
			b.ResetTimer()
			calls := 0
			for calls < min(b.N, 200) || calls < 20 {
				for _, t := range ts {
					start := time.Now()
					t.call(b)
					spent[t.name] += time.Since(start)
				}
				calls++
			}
			b.StopTimer()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(calls*size)/1e6/spent["clawai"].Seconds(), "MB/s")
			b.ReportMetric(ratio(spent["relay"], spent["clawai"]), "×relay")
		})
	}
}

// BenchmarkStart is the time from starting the process to its first answer.
func BenchmarkStart(b *testing.B) {
	took := map[string][]time.Duration{}
	for range min(max(b.N, 20), 200) {
		for _, name := range []string{"direct", "relay", "clawai"} {
			start := time.Now()
			t := &target{name: name, child: launch(b, name), buf: make([]byte, 1<<16)}
			t.call(b)
			took[name] = append(took[name], time.Since(start))
			_ = t.child.Close(context.Background())
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(us(all[len(all)/2])/1000, name+"-ms")
	}
}

// BenchmarkMemory is resident memory idle, after 100,000 calls, and around one
// result of 64 MiB.
func BenchmarkMemory(b *testing.B) {
	t := &target{name: "clawai", child: launch(b, "clawai"), buf: make([]byte, 1<<20)}
	defer t.child.Close(context.Background())
	t.call(b)
	idle := t.rss()
	window(b, t, 50_000)
	half := t.rss()
	window(b, t, 50_000)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(idle)/(1<<20), "idle-MiB")
	b.ReportMetric(float64(half)/(1<<20), "after50k-MiB")
	b.ReportMetric(float64(t.rss())/(1<<20), "after100k-MiB")

	huge := &target{name: "clawai", child: launch(b, "clawai", "-bytes", strconv.Itoa(63<<20)), buf: make([]byte, 1<<20)}
	defer huge.child.Close(context.Background())
	var peak int
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, huge.rss())
			}
		}
	}()
	huge.call(b)
	close(stop)
	<-done
	b.ReportMetric(float64(peak)/(1<<20), "peak64-MiB")
	for late := time.After(5 * time.Second); ; {
		if after := huge.rss(); after < 40<<20 {
			b.ReportMetric(float64(after)/(1<<20), "given-back-MiB")
			return
		}
		select {
		case <-late:
			b.Fatalf("%d MiB kept after a large frame", huge.rss()>>20)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func us(d time.Duration) float64 { return float64(d) / 1e3 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
