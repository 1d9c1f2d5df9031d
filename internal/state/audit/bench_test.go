//go:build unix

package audit

import (
	"fmt"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/cputime"
	"github.com/clawai/clawai/internal/text/redact"
)

func BenchmarkRecord(b *testing.B) {
	for _, n := range []int{1, 64} {
		for _, mode := range []redact.Mode{redact.Redacted, redact.Full} {
			b.Run(fmt.Sprintf("events=%d/%v", n, mode), func(b *testing.B) {
				l, err := Open(b.TempDir()+"/audit", Options{Redact: mode, MaxBytes: 1 << 40})
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				events := make([]*event.Event, n)
				for i := range events {
					events[i] = usual(i)
				}
				b.ReportAllocs()
				before := cputime.Used(b)
				for b.Loop() {
					for _, ev := range events {
						ev.Record = ""
					}
					if err := l.Record(events...); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N*n), "cpu-ns/event")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
			})
		}
	}
}

// BenchmarkRecordSync waits for the disk on every record.
func BenchmarkRecordSync(b *testing.B) {
	l, err := Open(b.TempDir()+"/audit", Options{Sync: SyncEach})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if err := l.Record(usual(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is what the record costs a session before its first call, with
// a thousand closed sessions beside it.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir() + "/audit"
	open := func() *Log {
		l, err := Open(dir, Options{Retention: keepAll})
		if err != nil {
			b.Fatal(err)
		}
		return l
	}
	for range 1000 {
		if err := open().Close(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		l := open()
		b.StopTimer()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkVerify reads a segment of about 16 MiB.
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir() + "/audit"
	l, err := Open(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 25_000 {
		if err := l.Record(usual(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := verify(b, dir)
		if !r.IsIntact() {
			b.Fatal(r)
		}
		b.SetBytes(r.Bytes)
	}
}
