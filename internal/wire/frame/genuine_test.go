package frame_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/wire/frame"

	"github.com/clawai/clawai/internal/testing/slow"
)

// genuine is what clients and servers of every protocol version write, by file.
func genuine(tb testing.TB) map[string][][]byte {
	tb.Helper()
	files, err := filepath.Glob("testdata/genuine/*.ndjson")
	if err != nil || len(files) < 6 {
		tb.Fatal(err, files)
	}
	all := map[string][][]byte{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		version := strings.TrimSuffix(filepath.Base(file), ".ndjson")
		all[version] = bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	}
	return all
}

func TestGenuineFramesPassUnchanged(t *testing.T) {
	n := 0
	for version, lines := range genuine(t) {
		limits := frame.DefaultLimits()
		limits.AllowBatch = version == "2025-03-26"
		for _, line := range lines {
			for _, written := range []string{"%", "%\r", "%  \t", " \t%", " % \r"} {
				f, err := frame.Parse([]byte(strings.Replace(written, "%", string(line), 1)), limits)
				if err != nil {
					t.Errorf("%s: %v: %.200s", version, err, line)
				} else if !bytes.Equal(f.Raw, line) {
					t.Errorf("%s: changed to %q", version, f.Raw)
				}
			}
			n++
		}
	}
	if n < 60 {
		t.Errorf("only %d genuine frames", n)
	}
}

func TestLargeGenuineFrames(t *testing.T) {
	slow.Test(t)
	for name, line := range map[string][]byte{
		"text":    textResult(1 << 20),
		"table":   tableResult(1 << 20),
		"numbers": []byte(`{"jsonrpc":"2.0","id":1,"result":{"n":[` + strings.Repeat("-12.5e3, ", 100_000) + `0]}}`),
		"members": []byte(`{"jsonrpc":"2.0","id":1,"result":{` + hostile.Many(200_000) + `}}`),
		"escaped": []byte(`{"jsonrpc":"2.0","id":1,"result":{` + strings.ReplaceAll(hostile.Many(20_000), `"k`, `"\u006b`) + `}}`),
		"params":  []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{` + hostile.Many(20_000) + `}}`),
		"letters": []byte(`{"jsonrpc":"2.0","id":1,"result":{` + variants(14) + `}}`),
		"alike":   []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{` + alike(20, 1<<20) + `}}`),
		"deepest": []byte(`{"jsonrpc":"2.0","id":1,"result":{"a":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `}}`),
	} {
		f, err := frame.Parse(line, frame.DefaultLimits())
		if err != nil || !bytes.Equal(f.Raw, line) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// variants is every mixture of case of a name of n letters, as members.
func variants(n int) string {
	var b strings.Builder
	for i := range 1 << n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		for bit := range n {
			b.WriteByte("aA"[i>>bit&1])
		}
		b.WriteString(`":0`)
	}
	return b.String()
}

// alike is n members with names of size bytes that differ in the last ones, by
// what looks like case to a careless hash: "[" and "{", "]" and "}".
func alike(n, size int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.Repeat("[", size))
		for bit := range 5 {
			b.WriteByte("[{"[i>>bit&1])
		}
		b.WriteString(`":0`)
	}
	return b.String()
}
