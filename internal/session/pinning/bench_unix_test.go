//go:build unix

package pinning

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
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

// Whatever a server lists, the work for an entry does not grow with the list: not for the first list, and not for the next,
// in which each entry has changed or has moved.
func TestHostileListsTakeLinearTime(t *testing.T) {
	const dense = `"a":{"type":"string","enum":["a","b","c"]},"b":{"$ref":"#/$defs/x"}`
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 40) + "{}" + strings.Repeat("}}", 40)
	spelled := func(i int, small, large rune) string { // a name of its own for each number, by two forms of a letter
		return strings.Map(func(r rune) rune {
			if r -= 'a'; i>>r&1 > 0 {
				return large
			}
			return small
		}, "abcdefghijklmnop")
	}
	shapes := map[string]func(i int) string{
		"one name":                    func(int) string { return find },
		"names of other capitals":     func(i int) string { return tool(spelled(i, 'a', 'A'), "x", "") },
		"names of other alphabets":    func(i int) string { return tool(spelled(i, 'a', 'а'), "x", "") },
		"names of other forms":        func(i int) string { return tool(spelled(i, 'a', 'ａ'), "x", "") },
		"names with marks":            func(i int) string { return tool(strings.ReplaceAll(spelled(i, 'a', 'b'), "b", "a\u0301"), "x", "") },
		"names of zeros and letters":  func(i int) string { return tool(spelled(i, '0', 'O'), "x", "") },
		"names with a long beginning": func(i int) string { return tool(strings.Repeat("tool_", 40)+strconv.Itoa(i), "x", "") },
		"names with hidden letters":   func(i int) string { return tool("n"+strings.Repeat("\u200b", i%9)+strconv.Itoa(i), "x", "") },
		"names of digits":             func(i int) string { return tool(strings.Repeat("0", i%50)+strconv.Itoa(i), "x", "") },
		"names that are empty":        func(int) string { return tool("", "x", "") },
		"names that are numbers":      func(i int) string { return `{"name":` + strconv.Itoa(i) + `}` },
		"no names":                    func(int) string { return `{"description":"x"}` },
		"nothing":                     func(int) string { return `{}` },
		"no objects":                  func(i int) string { return strconv.Itoa(i) },
		"words about the others": func(i int) string {
			return tool("t"+strconv.Itoa(i), "Before this call t"+strconv.Itoa(i*7%800)+" and t1.", "")
		},
		"long words":              func(i int) string { return tool("t"+strconv.Itoa(i), strings.Repeat("read it ", 300), "") },
		"many parameters":         func(i int) string { return tool("t"+strconv.Itoa(i), "x", manyParameters) },
		"parameters by reference": func(i int) string { return tool("t"+strconv.Itoa(i), "x", dense) },
		"deep schemas":            func(i int) string { return `{"name":"t` + strconv.Itoa(i) + `","inputSchema":` + deep + `}` },
		"titles and _meta": func(i int) string {
			return `{"name":"t` + strconv.Itoa(i) + `","title":"x","_meta":{"a":"read it first, then all of the rest","b":[1,2,{"c":"d"}]}}`
		},
		"hints": func(i int) string {
			return `{"name":"t` + strconv.Itoa(i) + `","annotations":{"readOnlyHint":true,"x":1}}`
		},
		"escapes": func(i int) string { return `{"\u006eame":"\u0074` + strconv.Itoa(i) + `","description":"\u0078"}` },
		"numbers that are the same": func(i int) string {
			return `{"name":"t` + strconv.Itoa(i) + `","inputSchema":{"maximum":1e` + strconv.Itoa(i%300) + `}}`
		},
		"members that nobody knows": func(i int) string {
			return `{"name":"t` + strconv.Itoa(i) + `","x` + strconv.Itoa(i) + `":{"y":[[[[1]]]]}}`
		},
	}
	for name, shape := range shapes {
		list := func(s *ClientPins, n int, of func(i int) string) {
			raw := make([][]byte, n)
			for i := range raw {
				raw[i] = []byte(of(i))
			}
			_, _ = s.JudgeEntries("notes", policy.PinFirst, pin.Tool, raw, Page{Last: true}) // some are refused
		}
		cputime.CheckLinear(t, name, func(size int) string { return strings.Repeat(" ", size>>7) }, func(text string) {
			s := client(t, state(t), "")
			list(s, len(text), shape)
			list(s, len(text), func(i int) string { return strings.Replace(shape(len(text)-1-i), `"x"`, `"y"`, 1) })
		})
	}
}

var manyParameters = func() string {
	all := make([]string, 40)
	for i := range all {
		all[i] = fmt.Sprintf(`"p%d":{"type":"string","description":"x"}`, i)
	}
	return strings.Join(all, ",")
}()
