//go:build unix

package stdio_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/proxy/stdio"
)

var suicide = ending{"suicide", "killed by signal 9", 128 + 9}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func leadGroup() {
	if err := syscall.Setpgid(0, 0); err != nil {
		panic(err)
	}
}

// running does not count a zombie that its new parent has not reaped.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestStartErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		name string
		code int
	}{
		{"no-such-command-anywhere", 127},
		{filepath.Join(dir, "missing"), 127},
		{write("plain", "#!/bin/sh\n", 0o600), 126},
		{write("garbage", "\x01\x02\x03", 0o700), 126},
		{write("orphan", "#!/no/such/interpreter\n", 0o700), 127},
		{dir, 126},
	} {
		_, err := stdio.Start(stdio.Options{Args: []string{tc.name}})
		refused, ok := errors.AsType[*stdio.StartError](err)
		if !ok {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if refused.Code != tc.code {
			t.Errorf("%v: exit code %d, want %d", err, refused.Code, tc.code)
		}
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Base(tc.name)) {
			t.Errorf("not one line that names the command: %q", err)
		}
	}
}
