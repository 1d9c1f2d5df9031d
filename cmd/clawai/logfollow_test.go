//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/audit"
)

// Following begins with the last records, goes on with each that is written,
// and ends at an interrupt.
func TestLogFollows(t *testing.T) {
	dir := recorded(t, call("first", `{}`, "allow"), call("second", `{}`, "allow"))
	cmd := exec.Command("clawai", "log", "-f", "-n", "1", "--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func(want string) {
		t.Helper()
		var e struct{ Names []string }
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &e) != nil || len(e.Names) != 1 || e.Names[0] != want {
			t.Fatalf("%q instead of %s", lines.Text(), want)
		}
	}
	header := func() {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), `"kind":"segment"`) {
			t.Fatalf("%q instead of a segment's first line", lines.Text())
		}
	}
	next("second")
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	header()
	for _, tool := range []string{"third", "fourth"} {
		if err := l.Record(call(tool, `{}`, "deny")); err != nil {
			t.Fatal(err)
		}
		next(tool)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Fatalf("%q after the last record", lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cmdline.ExitInterrupted {
		t.Fatal(err)
	}
}
