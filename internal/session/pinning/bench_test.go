package pinning

import (
	"fmt"
	"os"
	"testing"

	"github.com/clawai/clawai/internal/pin"
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
	}
}

func benchmarkList(b *testing.B, mode policy.Pin, pages, each int) {
	var all [][][]byte
	for i := range pages {
		all = append(all, tools(i, each))
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		_ = os.Chmod(dir, 0o700)
		s := NewSession(NewStore(dir, ""), nil, nil)
		b.StartTimer()
		for i, raw := range all {
			if _, err := s.Entries("notes", mode, pin.Tool, raw, Page{Further: i > 0, Last: i == pages-1}); err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pages*each), "ns/tool")
}
