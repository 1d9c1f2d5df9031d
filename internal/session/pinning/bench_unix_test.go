//go:build unix

package pinning

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/testing/cputime"
	"github.com/clawai/clawai/policy"
)

// tools are entries of a list as servers have them, the n-th page of so many.
func tools(page, n int) (raw [][]byte) {
	for i := range n {
		name := fmt.Sprintf("page_%d_tool_%d", page, i)
		raw = append(raw, []byte(tool(name, "Does the work of "+name+", for whoever asks for it in a repository of theirs.", `"owner":{"type":"string","description":"Whose it is."},"repo":{"type":"string"},"limit":{"type":"integer","minimum":1,"default":30}`)))
	}
	return raw
}

// BenchmarkList is a whole first list of a server: in one page, and in pages of eight. The
// work for an entry must not grow with the list.
func BenchmarkList(b *testing.B) {
	for name, mode := range map[string]policy.Pin{"record": policy.PinRecord, "first": policy.PinFirst, "ask": policy.PinAsk} {
		for _, n := range []int{1000, 2000, 4000, 8000, 16000} {
			b.Run(fmt.Sprintf("%s/tools=%d", name, n), func(b *testing.B) { benchmarkList(b, mode, 1, n) })
		}
		for _, n := range []int{250, 500, 1000, 2000} {
			b.Run(fmt.Sprintf("%s/pages=%d", name, n), func(b *testing.B) { benchmarkList(b, mode, n, 8) })
		}
		b.Run(fmt.Sprintf("%s/again=8000", name), func(b *testing.B) { benchmarkAgain(b, mode, 1, 8000) })
		b.Run(fmt.Sprintf("%s/again=1000x8", name), func(b *testing.B) { benchmarkAgain(b, mode, 1000, 8) })
	}
}

func benchmarkList(b *testing.B, mode policy.Pin, pages, each int) {
	var all [][][]byte
	for i := range pages {
		all = append(all, tools(i, each))
	}
	b.ReportAllocs()
	processor, kept := time.Duration(0), uint64(0)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		_ = os.Chmod(dir, 0o700)
		s := NewSession(NewStore(dir, ""), nil, nil)
		heap := heapNow()
		b.StartTimer()
		before := cputime.Used(b)
		for i, raw := range all {
			if _, err := s.JudgeEntries("notes", mode, pin.Tool, raw, Page{Further: i > 0, Last: i == pages-1}); err != nil {
				b.Fatal(err)
			}
		}
		processor += cputime.Used(b) - before
		b.StopTimer()
		kept += heapNow() - heap
		s.Close()
		b.StartTimer()
	}
	n := float64(b.N * pages * each)
	b.ReportMetric(float64(processor.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(processor.Nanoseconds())/n, "cpu-ns/tool")
	b.ReportMetric(float64(kept)/n, "kept-B/tool")
}

// benchmarkAgain is the same list of a server that is known, by a session of its own.
func benchmarkAgain(b *testing.B, mode policy.Pin, pages, each int) {
	dir := b.TempDir()
	_ = os.Chmod(dir, 0o700)
	list := func() {
		s := NewSession(NewStore(dir, ""), nil, nil)
		defer s.Close()
		for i := range pages {
			if _, err := s.JudgeEntries("notes", mode, pin.Tool, tools(i, each), Page{Further: i > 0, Last: i == pages-1}); err != nil {
				b.Fatal(err)
			}
		}
	}
	list()
	b.ReportAllocs()
	before := cputime.Used(b)
	b.ResetTimer()
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64((cputime.Used(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A list costs what it is long: four times as many pages, or tools, take about four times the
// memory, and so the time.
func TestListsCostWhatTheyAreLong(t *testing.T) {
	used := func(pages, each int) uint64 {
		s := client(t, state(t), "")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range pages {
			raw := tools(i, each)
			if _, err := s.JudgeEntries("notes", policy.PinFirst, pin.Tool, raw, Page{Further: i > 0, Last: i == pages-1}); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := used(64, 2), used(256, 2); many > 6*few {
		t.Errorf("64 pages take %d bytes, and 256 take %d", few, many)
	}
	if few, many := used(1, 200), used(1, 800); many > 6*few {
		t.Errorf("200 tools take %d bytes, and 800 take %d", few, many)
	}
}
