//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
)

// waitingCalls is how many calls wait at once in BenchmarkThousandQuestions; a short run
// only sees that it works.
func waitingCalls() int {
	if testing.Short() {
		return 100
	}
	return 1000
}

// BenchmarkThousandQuestions puts a thousand calls that need an answer through a
// real proxy before a server, and answers them from another process's side of the
// queue: one after the other, or by four answerers who wait for nothing. Every call
// is executed once, and answered once. answer is from the moment the answer is
// given to the server's reply at the client; forward leaves out what storing the
// answer takes.
func BenchmarkThousandQuestions(b *testing.B) {
	for _, way := range []struct {
		name   string
		answer func(*crowdedProxy, []queue.Request)
	}{{"one-by-one", (*crowdedProxy).oneByOne}, {"four-at-once", (*crowdedProxy).atOnce}} {
		b.Run(way.name, func(b *testing.B) {
			var all crowdedProxy
			for b.Loop() {
				p := startCrowded(b)
				pending := p.fill()
				way.answer(p, pending)
				p.end()
				all.answers, all.forwards = append(all.answers, p.answers...), append(all.forwards, p.forwards...)
			}
			for unit, took := range map[string][]time.Duration{"answer": all.answers, "forward": all.forwards} {
				if slices.Sort(took); len(took) > 0 {
					b.ReportMetric(float64(took[len(took)/2].Microseconds()), unit+"-p50-us")
					b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), unit+"-p99-us")
				}
			}
		})
	}
}

// crowdedProxy is a proxy whose calls wait.
type crowdedProxy struct {
	b     *testing.B
	q     *queue.Queue
	cmd   *exec.Cmd
	in    io.WriteCloser
	heard string
	done  chan struct{}

	mu                sync.Mutex
	arrived           []chan time.Time // the last is a ping
	replies           int
	answers, forwards []time.Duration
}

func startCrowded(b *testing.B) *crowdedProxy {
	home := b.TempDir()
	p := &crowdedProxy{b: b, heard: filepath.Join(home, "heard"), done: make(chan struct{})}
	p.arrived = make([]chan time.Time, waitingCalls()+1)
	for i := range p.arrived {
		p.arrived[i] = make(chan time.Time, 2)
	}
	config, state := filepath.Join(home, ".config/clawai"), filepath.Join(home, ".local/state/clawai")
	must := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	must(os.MkdirAll(config, 0o700))
	must(os.MkdirAll(state, 0o700))
	must(os.WriteFile(filepath.Join(config, "policy.toml"), []byte("[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"), 0o600))
	must(os.WriteFile(filepath.Join(config, "config.toml"), []byte("[ask]\ntimeout = \"10m\"\nper_minute = 100000\nat_once = 100000\nnotify = false\n"), 0o600))
	path, err := exec.LookPath("clawai")
	must(err)
	p.cmd = exec.Command(path, "proxy", "--server", "toy", "--", "toyserver", "-heard", p.heard)
	p.cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(path) + ":/usr/bin:/bin"}
	p.cmd.SysProcAttr, p.cmd.Stderr = &syscall.SysProcAttr{Setsid: true}, os.Stderr
	p.in, err = p.cmd.StdinPipe()
	must(err)
	out, err := p.cmd.StdoutPipe()
	must(err)
	must(p.cmd.Start())
	go p.read(out)
	p.q, err = queue.Open(filepath.Join(state, "queue"), queue.Options{})
	must(err)
	return p
}

func (p *crowdedProxy) read(out io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var reply struct {
			ID     int
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal(lines.Bytes(), &reply); err != nil || reply.Result.IsError {
			p.b.Errorf("%v: %s", err, lines.Bytes())
			return
		}
		p.arrived[reply.ID] <- time.Now()
		p.replies++
	}
}

// fill sends the calls and returns when all of them wait.
func (p *crowdedProxy) fill() (pending []queue.Request) {
	fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", waitingCalls())
	<-p.arrived[waitingCalls()]
	before := p.resident()
	var calls bytes.Buffer
	for i := range waitingCalls() {
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"note","arguments":{"n":%d,"text":%q}}}`+"\n", i, i, strings.Repeat("word ", 40))
	}
	begun := time.Now()
	if _, err := p.in.Write(calls.Bytes()); err != nil {
		p.b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for range p.q.Watch(ctx) {
		var err error
		if pending, err = p.q.Pending(ctx); err == nil && len(pending) == waitingCalls() {
			break
		}
	}
	if len(pending) != waitingCalls() {
		p.b.Fatalf("only %d wait", len(pending))
	}
	p.b.ReportMetric(float64(time.Since(begun).Milliseconds()), "all-waiting-ms")
	p.b.ReportMetric(float64(before)/1024, "MiB-before")
	p.b.ReportMetric(float64(p.resident())/1024, "MiB-waiting")
	return pending
}

// resident is the proxy's memory in KiB.
func (p *crowdedProxy) resident() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// answer lets a call through and gives the moments before and after.
func (p *crowdedProxy) answer(r queue.Request) (id int, begun, stored time.Time) {
	var args struct{ N int }
	if err := json.Unmarshal(r.Calls[0].Args, &args); err != nil {
		p.b.Error(err)
	}
	begun = time.Now()
	if _, err := p.q.Decide(context.Background(), r.ID, queue.Answer{Reply: gate.AllowOnce, Channel: "console", By: "bench"}); err != nil {
		p.b.Error(err)
	}
	return args.N, begun, time.Now()
}

func (p *crowdedProxy) took(id int, begun, stored time.Time) {
	select {
	case at := <-p.arrived[id]:
		p.mu.Lock()
		p.answers, p.forwards = append(p.answers, at.Sub(begun)), append(p.forwards, max(0, at.Sub(stored)))
		p.mu.Unlock()
	case <-time.After(time.Minute):
		p.b.Errorf("call %d was lost", id)
	}
}

func (p *crowdedProxy) oneByOne(pending []queue.Request) {
	for _, r := range pending {
		p.took(p.answer(r))
	}
}

func (p *crowdedProxy) atOnce(pending []queue.Request) {
	var clerks sync.WaitGroup
	for part := range slices.Chunk(pending, waitingCalls()/4) {
		clerks.Go(func() {
			var replies sync.WaitGroup
			for _, r := range part {
				id, begun, stored := p.answer(r)
				replies.Go(func() { p.took(id, begun, stored) })
			}
			replies.Wait()
		})
	}
	clerks.Wait()
}

// end stops the proxy and holds that every call was executed and answered once.
func (p *crowdedProxy) end() {
	_ = p.in.Close()
	<-p.done
	if err := p.cmd.Wait(); err != nil {
		p.b.Error(err)
	}
	if err := p.q.Close(); err != nil {
		p.b.Error(err)
	}
	heard, err := os.ReadFile(p.heard)
	if err != nil {
		p.b.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(heard)), "\n")
	slices.Sort(lines)
	if n := len(slices.Compact(slices.Clone(lines))); len(lines) != waitingCalls()+1 || n != len(lines) || p.replies != len(lines) {
		p.b.Errorf("%d calls executed, %d of them different, %d replies", len(lines), n, p.replies)
	}
}
