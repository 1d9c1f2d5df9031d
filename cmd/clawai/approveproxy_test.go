//go:build linux || darwin

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	xterm "golang.org/x/term"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A client whose interface owns its terminal in raw mode asks through a console
// on another one, and its own screen stays untouched.
func TestConsoleAnswersAProxyBehindAnInterface(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".config", "clawai")
	rules := "[[rule]]\naction = \"prompt\"\ntool = \"*\"\ndescription = \"Ask first\"\n"
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "policy.toml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watch(t, home, "approve")
	w.sees("Nothing waits")

	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if _, err := xterm.MakeRaw(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	proxy := exec.Command(path, "proxy", "--server", "toy", "--", "toyserver")
	proxy.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(path) + ":/usr/bin:/bin", "TERM=xterm-256color"}
	proxy.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	proxy.ExtraFiles = []*os.File{tty}
	proxy.Stderr = os.Stderr
	in, stdout := startPiped(t, proxy)
	out := bufio.NewReader(stdout)
	for i, key := range []string{"a", "d"} {
		name := "tool_" + key
		start := time.Now()
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"x":%d}}}`+"\n", i, name, i)
		w.sees(`tool       "`+name+`"`, `Ask first"`) // the screen may break the line before it
		w.answers(key)
		reply, err := out.ReadString('\n')
		if err != nil || !strings.Contains(reply, fmt.Sprintf(`"id":%d`, i)) || strings.Contains(reply, "isError") != (key == "d") {
			t.Errorf("%s: got %s (%v)", key, reply, err)
		}
		t.Logf("%s: %v from the question to the answer", key, time.Since(start).Round(time.Millisecond))
		w.sees(`"` + name + `" on "toy", `)
	}
	w.sees(": went on")
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := proxy.Wait(); err != nil {
		t.Error(err)
	}
	_ = tty.Close()
	if n, _ := screen.Read(make([]byte, 100)); n > 0 {
		t.Error("something was written on the client's screen")
	}
	w.quits(0)
}
