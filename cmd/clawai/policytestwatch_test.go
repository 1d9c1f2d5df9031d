//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/testing/slow"
)

// Watching runs again after a change of the policy, of a fixture and of a folder
// that was not there, waits out a policy that does not load, and ends at an
// interrupt.
func TestPolicyTestWatches(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const fixture = `{"method":"tools/call","params":{"name":"read"},"expected":"allow"}`
	put("policy.toml", "[[rule]]\naction = \"allow\"\ntool = \"read\"\n")
	put("fixtures/read.json", fixture)
	cmd := exec.Command("clawai", "policy", "test", "--watch", "--policy", "policy.toml", "--fixture-dir", "fixtures")
	cmd.Dir = dir
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	lines := bufio.NewScanner(read)
	// A change may be seen in two runs; what counts is what the last says.
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if regexp.MustCompile(want).MatchString(lines.Text()) {
				for lines.Text() != "watching for changes; Ctrl-C ends" && lines.Scan() {
				}
				return
			}
		}
		t.Fatalf("never came: %s", want)
	}
	until(`^1 fixture: 1 as expected`)
	put("policy.toml", "[[rule]]\naction = \"deny\"\ntool = \"read\"\n")
	until(`^1 fixture: 0 as expected, 1 mismatched`)
	put("policy.toml", "[[rule]]\naction = ")
	until(`policy.toml:2:`)
	put("policy.toml", "[[rule]]\naction = \"allow\"\ntool = \"read\"\n")
	until(`^1 fixture: 1 as expected`)
	put("fixtures/deep/er/read.json", fixture)
	until(`^2 fixtures: 2 as expected`)
	put("fixtures/deep/er/read.json", "{")
	until(`^2 fixtures: 1 as expected, .* 1 unreadable`)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cmdline.ExitInterrupted {
		t.Fatal(err)
	}
}
