//go:build linux

package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/stdio"
)

// BenchmarkBeside is how long what is small waits beside frames of 64 MiB that go the
// other way: requests beside results, and a server's notifications beside arguments. The
// same by two cats shows what the machine and the pipes take. The worst is the median of
// the rounds' worst, which a busy machine moves less than the 99th percentile of all.
func BenchmarkBeside(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // whoever sleeps in a system call must not keep the others waiting
	dir := b.TempDir()
	// As a release is built (see .goreleaser.yaml).
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", dir+"/", "../cmd/clawai", "./testdata/stamp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	policy := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(policy, []byte("[[rule]]\naction = \"allow\"\ntool = \"read_*\"\nargs.path = \"/home/user/**\"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	const size = 63 << 20
	pad := bytes.Repeat([]byte("x"), size)
	for _, c := range []struct {
		name, server string
		round        func(s *stamped, b *testing.B)
	}{
		{"results", fmt.Sprintf("%s/stamp -bytes %d", dir, size), (*stamped).besideResult},
		{"arguments", dir + "/stamp -every 1ms", func(s *stamped, b *testing.B) { s.besideArgument(b, pad) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			proxied := []string{dir + "/clawai", "proxy", "--policy", policy, "--state", b.TempDir(), "--"}
			ways := []*stamped{
				start(b, "cat", "sh", "-c", "cat | "+c.server+" | cat"),
				start(b, "clawai", append(proxied, strings.Fields(c.server)...)...),
			}
			for range min(b.N, 100) {
				for _, s := range ways {
					before := len(s.took)
					c.round(s, b)
					s.worst = append(s.worst, slices.Max(append(s.took[before:len(s.took):len(s.took)], 0)))
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, s := range ways {
				slices.Sort(s.took)
				slices.Sort(s.worst)
				b.ReportMetric(float64(s.took[len(s.took)/2])/1e6, s.name+"-p50-ms")
				b.ReportMetric(float64(s.took[len(s.took)*99/100])/1e6, s.name+"-p99-ms")
				b.ReportMetric(float64(s.worst[len(s.worst)/2])/1e6, s.name+"-worst-ms")
			}
		})
	}
}

// start begins one way to the server.
func start(b *testing.B, name string, args ...string) *stamped {
	child, err := stdio.Start(stdio.Options{Args: args, Stderr: os.Stderr})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = child.Close(context.Background()) })
	s := &stamped{name: name, child: child, arrived: make(chan arrival, 1<<16)}
	go s.read()
	return s
}

// stamped is one way to the server that says when it read or wrote something.
type stamped struct {
	name    string
	child   *stdio.Child
	arrived chan arrival
	id      int
	took    []time.Duration
	worst   []time.Duration // of each round
}

// arrival is a line that came: to the request of that id, or 0, and the server's time.
type arrival struct {
	at, said time.Time
	id       int
}

var stampOf = regexp.MustCompile(`^{"jsonrpc":"2.0",(?:"id":([0-9]+))?.*"(?:text|data)":"([0-9]+)`)

// read takes in what arrives.
func (s *stamped) read() {
	buf, line := make([]byte, 1<<20), []byte(nil) // line: the beginning of one
	for {
		n, err := s.child.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:n]; ; {
			part, after, whole := bytes.Cut(rest, []byte{'\n'})
			line = append(line, part[:min(len(part), 256-len(line))]...)
			if !whole {
				break
			}
			a := arrival{at: time.Now()}
			if m := stampOf.FindSubmatch(line); m != nil {
				a.id, _ = strconv.Atoi(string(m[1]))
				ns, _ := strconv.ParseInt(string(m[2]), 10, 64)
				a.said = time.Unix(0, ns)
			}
			s.arrived <- a
			line, rest = line[:0], after
		}
	}
}

// call makes a request. The padding is not copied: that would hold up the rest of us.
func (s *stamped) call(b *testing.B, tool string, pad []byte) (id int) {
	s.id++
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"path":"/home/user/app","pad":"`, s.id, tool)
	parts := [][]byte{[]byte(head + "\"}}}\n")}
	if pad != nil {
		parts = [][]byte{[]byte(head), pad, []byte("\"}}}\n")}
	}
	for _, part := range parts {
		if _, err := s.child.Write(part); err != nil {
			b.Error(s.name, err)
		}
	}
	return s.id
}

// besideResult asks for a large result and makes a small call each millisecond until it
// is there. Their answers come behind it; what counts is the way to the server.
func (s *stamped) besideResult(b *testing.B) {
	large := s.call(b, "read_large", nil)
	sent := map[int]time.Time{}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for waiting, more := 1, true; waiting > 0; {
		select {
		case a := <-s.arrived:
			waiting--
			if a.id == large {
				more = false
			} else {
				s.took = append(s.took, a.said.Sub(sent[a.id]))
			}
		case <-tick.C:
			if more {
				now := time.Now()
				sent[s.call(b, "read_file", nil)] = now
				waiting++
			}
		}
	}
}

// besideArgument makes a call with a large argument, and looks how old the server's
// notifications are that arrive until it is answered.
func (s *stamped) besideArgument(b *testing.B, pad []byte) {
	for len(s.arrived) > 0 {
		<-s.arrived
	}
	go s.call(b, "read_file", pad)
	for a := range s.arrived {
		if a.id > 0 {
			return
		}
		s.took = append(s.took, a.at.Sub(a.said))
	}
}
