//go:build linux

package proxy_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkInstructions counts the instructions of one call with cachegrind: a
// figure that other work on the machine hardly moves. SHA-256 is told apart,
// because valgrind has no SHA instructions and many others take their place. It
// needs valgrind.
func BenchmarkInstructions(b *testing.B) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		b.Skip("valgrind is not installed")
	}
	const n = 1500
	for _, name := range []string{"relay", "clawai"} {
		once, onceSHA := instructions(b, name, n)
		twice, twiceSHA := instructions(b, name, 2*n)
		all, sha := (twice-once)/n, (twiceSHA-onceSHA)/n
		b.ReportMetric(float64(all-sha), name+"-instr/call")
		b.ReportMetric(float64(sha), name+"-sha256-instr/call")
	}
	b.ReportMetric(0, "ns/op")
}

// instructions runs calls one after the other and returns what was executed in
// the whole process, and how much of it in SHA-256.
func instructions(b *testing.B, name string, calls int) (all, sha int) {
	b.Helper()
	out := filepath.Join(b.TempDir(), "cachegrind.out")
	args := append([]string{"--tool=cachegrind", "--cache-sim=no", "--trace-children=no",
		"--log-file=/dev/null", "--cachegrind-out-file=" + out}, commandLine(b, name)...)
	cmd := exec.Command("valgrind", args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(answers)
	for id := range calls {
		if _, err := in.Write(request(id + 1)); err != nil {
			b.Fatal(err)
		}
		if _, err := lines.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return count(b, out)
}

// count adds up the lines of a cachegrind file: "fl=" and "fn=" name where the
// counts below them, "LINE INSTRUCTIONS", belong.
func count(b *testing.B, path string) (all, sha int) {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	hashing := false
	for line := range bytes.Lines(text) {
		field, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if strings.HasPrefix(field, "fn=") {
			hashing = strings.Contains(field, "sha256")
		}
		n, err := strconv.Atoi(value)
		if _, notLine := strconv.Atoi(field); err != nil || notLine != nil {
			continue
		}
		all += n
		if hashing {
			sha += n
		}
	}
	return all, sha
}
