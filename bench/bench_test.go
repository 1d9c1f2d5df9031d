//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// relays is a testbed without clawai, which takes a while to build.
func relays(t *testing.T) *testbed {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &testbed{dir: t.TempDir(), self: self, commits: map[string]string{}, ways: []way{
		{name: bare},
		{name: byteRelay, prefix: []string{self, childArgument, "bytes"}},
		{name: lineRelay, prefix: []string{self, childArgument, "lines"}},
	}}
}

func TestTheOwnProgramsCarryCalls(t *testing.T) {
	slow.Test(t)
	bed := relays(t)
	for _, w := range bed.ways {
		p, err := bed.start(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 100_000, 3 << 20} {
			if err := p.call(size); err != nil {
				t.Error(err)
			}
		}
		if err := p.inFlight(64, 1000); err != nil {
			t.Error(err)
		}
		if resident, proportional, err := bed.memory(p.cmd.Process.Pid); err != nil || proportional > resident || proportional == 0 {
			t.Errorf("%s: %v MiB resident, %v proportional, %v", w.name, resident, proportional, err)
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}

// A way that refuses or cuts an answer must not count as a fast one.
func TestARefusalIsNoAnswer(t *testing.T) {
	for name, answer := range map[string]string{
		"refused": `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[]}}`, "short": `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		p := &process{in: -1, buf: make([]byte, 1<<20)}
		r, w := pipe(t)
		p.out = int(r)
		if _, err := w.Write([]byte(answer + "\n")); err != nil {
			t.Fatal(err)
		}
		if err := p.answers(1, map[string]int{"refused": 0, "short": 1000}[name]); err == nil {
			t.Errorf("%s: taken for an answer", name)
		}
	}
}

func TestQuartiles(t *testing.T) {
	if q := quartilesOf([]float64{4, 1, 3, 2, 5}); q != (quartiles{2, 3, 4}) {
		t.Error(q)
	}
	if q := quartilesOf([]float64{1, 2}); q != (quartiles{1.25, 1.5, 1.75}) {
		t.Error(q)
	}
	// The median of ratios, not the ratio of medians: each is of one round.
	if q := compare(ratio, []float64{2, 30, 400}, []float64{1, 10, 100}); q.Median != 3 {
		t.Error(q)
	}
	if q := compare(difference, []float64{5, 7}, []float64{1, 1}); q.Median != 5 {
		t.Error(q)
	}
}

func TestParseCachegrind(t *testing.T) {
	n := parseCachegrind("desc: x\nevents: Ir\nfl=a.go\nfn=crypto/sha256.block\n3 100\n4 1\nfn=runtime.findRunnable\n7 20\nfn=gogo\n9 5\nfn=internal/runtime/gc/scan.ScanSpanPackedGo\n2 6\nfn=runtime.memmove\n1 3\nfn=main.main\n12 4000\nsummary: 4135\n").counts()
	if n != (counts{own: 4034, sha256: 101, steady: 4003}) {
		t.Error(n)
	}
}

func TestRoomOf(t *testing.T) {
	for function, want := range map[string]string{
		"github.com/clawai/clawai/internal/state/audit.(*Log).Record": "internal/state/audit", "github.com/clawai/clawai/policy.(*trie).collect": "policy",
		"internal/wire/escape.Append[go.shape.string]":                        "internal/wire/escape",
		"main.keep[go.shape.struct { github.com/clawai/clawai/policy.Call }]": "main",
		"type:.eq.github.com/clawai/clawai/policy.Call":                       "runtime",
		"crypto/internal/fips140/sha256.blockAVX2.abi0":                       sha256Room,
		"indexbytebody":   "copying, comparing, searching bytes",
		"runtime.memmove": "copying, comparing, searching bytes",
		"runtime.unlock2": "runtime", "github.com/urfave/cli/v2.FlagNames": "github.com/urfave/cli/v2",
	} {
		if got := roomOf(function); got != want {
			t.Errorf("%s: %s", function, got)
		}
	}
}

func TestModuleOf(t *testing.T) {
	modules := []string{"github.com/a/b", "github.com/a/b/v2", "gopkg.in/x.v1"}
	for symbol, want := range map[string]string{
		"github.com/a/b.F": modules[0], "github.com/a/b/c.(*T).M": modules[0], "github.com/a/b/v2/c.F": modules[1],
		"gopkg.in/x%2ev1.F": modules[2], "github.com/a/bc.F": "the standard library", "net/http.Get": "the standard library",
	} {
		if got := moduleOf(symbol, modules); got != want {
			t.Errorf("%s: %s", symbol, got)
		}
	}
}

// The tables of the document can be renewed, and what is around them stays.
func TestRenew(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", benchmarksDoc))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &report{ways: []string{bare, byteRelay, lineRelay, clawai, twoRules}, commits: map[string]string{clawai: "c0ffee"}, rounds: map[*figure]map[string][]float64{}}
	for _, name := range r.ways {
		r.add(p50, way{name: name}, float64(len(name)))
	}
	marks := []string{waysMark, sizesMark, roomsMark}
	for _, mark := range marks {
		if err := renew(file, mark, r.table()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	row := "| one call at a time, p50 | 6.0 µs | 17.0 µs | 4.0 µs | 10.0 µs | 10.0 µs | 0.60 × byte relay (0.60 to 0.60) | 1.70 × byte relay (1.70 to 1.70) | ≤ 1.10 × |\n"
	if n := strings.Count(string(got), row); n != len(marks) {
		t.Errorf("the row is there %d times in:\n%s", n, got)
	}
	for _, part := range strings.Split(string(text), "<!-- ")[:1] {
		if !strings.HasPrefix(string(got), part) {
			t.Error("what stands before the first table has changed")
		}
	}
	if err := renew(file, "<!-- no such mark -->\n", "x"); err == nil || !strings.Contains(err.Error(), "no such mark") {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range [][]string{{"extra"}, {"--rounds", "0"}, {"--write", "--quick"}, {"--only", "speed"}, {"--sizes", "--against", "HEAD"}, {"--rooms", "--quick"}, {"--rooms", "--sizes"}, {"--hub"}, {"--hub", "--only", "calls,start"}} {
		if _, err := parseOptions(bad, io.Discard); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if o, err := parseOptions([]string{"--only", "start,memory", "--json", "-"}, io.Discard); err != nil || o.only != "start,memory" || o.rounds != 20 {
		t.Error(o, err)
	}
}
