//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"
)

// BenchmarkBridge makes one call after the other through clawai in front of a
// process and in front of an address, in turn. Both servers answer at once.
func BenchmarkBridge(b *testing.B) {
	back := newBackServer(b)
	back.forgets = true
	back.Start()
	type way struct {
		name string
		in   io.Writer
		out  *bufio.Reader
		took []time.Duration
	}
	var ways []*way
	for name, server := range map[string][]string{"stdio": {"toyserver"}, "bridge": {back.URL + "/mcp"}} {
		r := prepareClawai(b, append([]string{"--"}, server...)...)
		in, out := startPiped(b, r.cmd)
		b.Cleanup(func() { _ = in.Close(); _ = r.cmd.Wait() })
		ways = append(ways, &way{name: name, in: in, out: bufio.NewReader(out)})
	}
	call := func(w *way) {
		fmt.Fprintln(w.in, callOf(1, "ok"))
		if line, err := w.out.ReadString('\n'); err != nil {
			b.Fatal(w.name, line, err)
		}
	}
	for range 200 {
		for _, w := range ways {
			call(w)
		}
	}
	for b.Loop() {
		for _, w := range ways {
			began := time.Now()
			call(w)
			w.took = append(w.took, time.Since(began))
		}
	}
	p50 := map[string]float64{}
	for _, w := range ways {
		slices.Sort(w.took)
		p50[w.name] = float64(w.took[len(w.took)/2]) / 1e3
		b.ReportMetric(p50[w.name], w.name+"-p50-µs")
		b.ReportMetric(float64(w.took[len(w.took)*99/100])/1e3, w.name+"-p99-µs")
	}
	b.ReportMetric(p50["bridge"]/p50["stdio"], "bridge/stdio")
	b.ReportMetric(0, "ns/op")
}
