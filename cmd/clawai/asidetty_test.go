//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// noisy writes a line to its stderr every few milliseconds, each with a number,
// keeps the last number in a file, and answers every call.
const noisy = `n=0
(while [ ! -e "$1/stop" ]; do n=$((n+1)); echo "server line $n" >&2; echo $n >"$1/n.new"; mv "$1/n.new" "$1/n"; sleep 0.005; done; echo "last of $n" >&2) &
while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'; done
touch "$1/stop"; wait`

// What a server writes to its stderr does not stand in the way of a question on
// the same terminal, and none of it is lost.
func TestAServersWordsStayOffTheQuestion(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".config", "clawai")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "policy.toml"), []byte(asksAll), 0o600); err != nil {
		t.Fatal(err)
	}
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	emulator := termtest.New(24, 80)
	emulator.Colors = true
	var mu sync.Mutex
	var all bytes.Buffer
	go func() {
		for buf := make([]byte, 64<<10); ; {
			n, err := screen.Read(buf)
			mu.Lock()
			all.Write(buf[:n])
			mu.Unlock()
			emulator.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	see := func(what string, shown func(string) bool) {
		t.Helper()
		if !emulator.Wait(patience, shown) {
			t.Fatalf("not seen: %s\n%s", what, emulator.Text())
		}
	}
	has := func(text string) func(string) bool {
		return func(shown string) bool { return strings.Contains(shown, text) }
	}

	path, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	proxy := exec.Command(path, "proxy", "--server", "noisy", "--", "sh", "-c", noisy, "sh", home)
	proxy.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(path) + ":/usr/bin:/bin", "TERM=xterm-256color"}
	proxy.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	proxy.Stderr = tty
	in, _ := startPiped(t, proxy)
	see("the server's words", has("server line"))

	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"path":"/p"},"cwd":"/etc"}}`)
	see("the question", has("↑ ↓ move"))
	count := func() (n int) {
		b, _ := os.ReadFile(filepath.Join(home, "n"))
		_, _ = fmt.Sscan(string(b), &n)
		return n
	}
	// A hundred lines later it stands as it was drawn.
	for began, late := count(), time.Now().Add(30*time.Second); count() < began+100; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the server waits")
		}
	}
	if shown := emulator.Text(); strings.Contains(shown, "server line") || !strings.Contains(shown, `tool       "run"`) || !strings.Contains(shown, `params/cwd = "/etc"`) {
		t.Errorf("the question stands as\n%s", shown)
	} else {
		t.Logf("the question:\n%s", shown)
	}
	if _, err := screen.WriteString("\r"); err != nil {
		t.Fatal(err)
	}
	see("the server's words again", has("server line"))
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := proxy.Wait(); err != nil {
		t.Error(err)
	}
	see("the end", has("last of"))
	if err := emulator.Complaint(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	text, last := all.String(), 0
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "last of"):], "last of %d", &last); err != nil {
		t.Log(err)
	}
	for n := 1; n <= count(); n++ {
		if strings.Count(text, fmt.Sprintf("server line %d\r\n", n)) != 1 {
			t.Fatalf("line %d of %d is not there once", n, count())
		}
	}
}
