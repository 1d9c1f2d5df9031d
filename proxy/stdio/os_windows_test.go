package stdio_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/proxy/stdio"
)

var suicide = ending{"suicide", "exit code 1", 1}

func killSelf() {
	me, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = me.Kill()
	}
	select {}
}

func leadGroup() {} // Windows has none

func running(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	event, err := windows.WaitForSingleObject(process, 0)
	return err != nil || event != windows.WAIT_OBJECT_0
}

// npx and its like are batch files, found by their bare name.
func TestBatchFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npx-toy.cmd"), []byte("@echo off\r\n\""+os.Args[0]+"\" %*\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+";"+os.Getenv("PATH"))
	c, err := stdio.Start(stdio.Options{Args: []string{"npx-toy", "-y", "@scope/server-files", `C:\Users\Ana B\projects`}, Env: append(os.Environ(), role+"=family")})
	if err != nil {
		t.Fatal(err)
	}
	ids := pids(t, c, 2)
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Close(hurried); err != nil {
		t.Fatal(err)
	}
	gone(t, patience, ids...)

	for _, arg := range []string{`"&calc&"`, "100%", "%PATH%", "a^b", "a|b", "a>b", "!x!", "a\nb"} {
		_, err := stdio.Start(stdio.Options{Args: []string{"npx-toy", "-y", arg}, Env: append(os.Environ(), role+"=echo")})
		if err == nil || !strings.Contains(err.Error(), "npx-toy.cmd is a batch file") {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.exe")
	if err := os.WriteFile(garbage, []byte("\x01\x02\x03"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]int{"no-such-command-anywhere": 127, filepath.Join(dir, "missing.exe"): 127, garbage: 126} {
		_, err := stdio.Start(stdio.Options{Args: []string{name}})
		refused, ok := errors.AsType[*stdio.StartError](err)
		if !ok || refused.Code != code || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want code %d in one line", name, err, code)
		}
	}
}
