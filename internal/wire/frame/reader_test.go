package frame_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clawai/clawai/internal/wire/frame"

	"github.com/clawai/clawai/internal/testing/slow"
)

// readAll reads a stream to its end; what is no line is marked with "!".
func readAll(tb testing.TB, r *frame.Reader) (got []string) {
	tb.Helper()
	for range 1_000_000 {
		line, err := r.ReadLine()
		var refusal *frame.Refusal
		switch {
		case errors.As(err, &refusal):
			got = append(got, "!"+refusal.Code)
		case err != nil:
			if _, again := r.ReadLine(); !errors.Is(again, err) || r.HasLine() {
				tb.Errorf("after %v came %v", err, again)
			}
			return append(got, "!"+err.Error())
		default:
			got = append(got, string(line))
		}
	}
	tb.Fatal("the stream does not end")
	return nil
}

// piecemeal returns a stream in pieces of the given sizes, then of one byte.
type piecemeal struct {
	stream, sizes []byte
	at            int
}

func (p *piecemeal) Read(b []byte) (int, error) {
	if len(p.stream) == 0 {
		return 0, io.EOF
	}
	n := 1
	if p.at < len(p.sizes) {
		n = int(p.sizes[p.at])
		p.at++
	}
	n = copy(b, p.stream[:min(n, len(p.stream))])
	p.stream = p.stream[n:]
	return n, nil
}

func TestReaderLines(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	in := "a\r\n\nbb\n" + long + "\nccc\n" + strings.Repeat("y", 300_001) + "\nd\n" + strings.Repeat("z", 700_000) + "\n\nrest"
	want := []string{"a\r", "", "bb", long, "ccc", "!too_long", "d", "!too_long", "", "!truncated", "!EOF"}
	for name, stream := range map[string]io.Reader{
		"whole":        strings.NewReader(in),
		"bytes":        iotest.OneByteReader(strings.NewReader(in)),
		"half":         iotest.HalfReader(strings.NewReader(in)),
		"end in data":  iotest.DataErrReader(strings.NewReader(in)),
		"no more room": bytes.NewBufferString(in),
	} {
		got := readAll(t, frame.NewReader(stream, 300_000))
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %d lines", name, len(got))
			for i, g := range got {
				t.Logf("%d %.30q (%d)", i, g, len(g))
			}
		}
	}
}

func TestLinesThatAreNone(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "!EOF",
		"\n":                              "|!EOF",
		"{}":                              "!truncated|!EOF",
		"{}\n{}":                          "{}|!truncated|!EOF",
		strings.Repeat("x", 11):           "!too_long|!EOF",
		strings.Repeat("x", 11) + "\nb\n": "!too_long|b|!EOF",
		strings.Repeat("x", 200_000):      "!too_long|!EOF",
		"a\n" + strings.Repeat("x", 99):   "a|!too_long|!EOF",
	} {
		if got := strings.Join(readAll(t, frame.NewReader(strings.NewReader(in), 10)), "|"); got != want {
			t.Errorf("%.20q: %s", in, got)
		}
	}
}

func TestReaderPassesOnErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	r := frame.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 10)
	if got := strings.Join(readAll(t, r), "|"); got != "a|!truncated|!broken pipe" {
		t.Error(got)
	}
	stuck := frame.NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }), 10)
	if _, err := stuck.ReadLine(); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A pipe that blocks must not be read while a line is at hand, and each read
// must hand over what it brought.
func TestReaderNeverReadsAhead(t *testing.T) {
	reads := 0
	pieces := []string{"a\nb\nc", "\n", "", "d\n"}
	r := frame.NewReader(readerFunc(func(b []byte) (int, error) {
		reads++
		if reads > len(pieces) {
			return 0, io.EOF
		}
		return copy(b, pieces[reads-1]), nil
	}), 10)
	if r.HasLine() {
		t.Error("buffered before the first read")
	}
	for _, step := range []struct {
		line     string
		reads    int
		buffered bool
	}{{"a", 1, true}, {"b", 1, false}, {"c", 2, false}, {"d", 4, false}} {
		line, err := r.ReadLine()
		if err != nil || string(line) != step.line || reads != step.reads || r.HasLine() != step.buffered {
			t.Errorf("%q, %v after %d reads, buffered %v; want %+v", line, err, reads, r.HasLine(), step)
		}
	}
}

// While a line is being skipped, its end is not a line to wait for.
func TestBufferedLooksPastASkippedLine(t *testing.T) {
	pieces := []string{"too long", " still", "\n", "a\n"}
	r := frame.NewReader(readerFunc(func(b []byte) (int, error) {
		if len(pieces) == 0 {
			return 0, io.EOF
		}
		p := pieces[0]
		pieces = pieces[1:]
		return copy(b, p), nil
	}), 5)
	if _, err := r.ReadLine(); err == nil || r.HasLine() {
		t.Error(err)
	}
	if line, err := r.ReadLine(); string(line) != "a" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
}

// Calls wait for people: a line must not change while later ones are read, nor
// run into its neighbour when somebody appends to it.
func TestLinesStayValid(t *testing.T) {
	var in bytes.Buffer
	var want []string
	for i := range 3000 {
		line := strings.Repeat(string(rune('a'+i%26)), i*7%5000)
		if i%500 == 0 {
			line = strings.Repeat("L", 200_000)
		}
		want = append(want, line)
		in.WriteString(line + "\n")
	}
	r := frame.NewReader(&in, 1<<20)
	var lines [][]byte
	for range want {
		line, err := r.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		if len(line) != cap(line) {
			t.Fatal("room behind the line")
		}
		lines = append(lines, line)
	}
	for i, line := range lines {
		if string(line) != want[i] {
			t.Fatalf("line %d changed", i)
		}
	}
}

// endless is lines of n bytes without end, as a pipe would give them.
func endless(n int) io.Reader {
	line := append(bytes.Repeat([]byte("x"), n), '\n')
	at := 0
	return readerFunc(func(b []byte) (int, error) {
		b = b[:min(len(b), 64<<10)]
		total := 0
		for total < len(b) {
			k := copy(b[total:], line[at:])
			total += k
			at = (at + k) % len(line)
		}
		return total, nil
	})
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestSmallLinesShareChunks(t *testing.T) {
	r := frame.NewReader(endless(150), 1<<20)
	bytes := allocated(func() {
		for range 100_000 {
			if _, err := r.ReadLine(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if bytes > 100_000*200 {
		t.Errorf("%d bytes for each line of 150", bytes/100_000)
	}
}

func TestALargeLineCostsTwiceItsSize(t *testing.T) {
	slow.Test(t)
	const size = 64 << 20
	r := frame.NewReader(endless(size), size)
	before := heap()
	bytes := allocated(func() {
		if line, err := r.ReadLine(); err != nil || len(line) != size {
			t.Fatal(len(line), err)
		}
	})
	if bytes > size*21/10 {
		t.Errorf("%d MiB allocated for a line of 64 MiB", bytes>>20)
	}
	if kept := heap() - before; kept > 5<<20 {
		t.Errorf("%d MiB kept", kept>>20)
	}
	runtime.KeepAlive(r)
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
