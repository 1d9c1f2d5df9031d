//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// watched is a program on a terminal of which every byte is kept.
type watched struct {
	t   *testing.T
	tty *os.File
	end chan error

	mu   sync.Mutex
	seen []byte
}

func watch(t *testing.T, cmd *exec.Cmd) *watched {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{t: t, tty: tty, end: make(chan error, 1)}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			w.mu.Lock()
			w.seen = append(w.seen, buf[:n]...)
			w.mu.Unlock()
			if err != nil { // EIO: nobody has the other side open
				break
			}
		}
		w.end <- cmd.Wait()
	}()
	t.Cleanup(func() { tty.Close() })
	return w
}

func (w *watched) screen() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.seen)
}

func (w *watched) wait(text string) {
	w.t.Helper()
	for end := time.Now().Add(patience); !bytes.Contains(w.screen(), []byte(text)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			screen := w.screen()
			w.t.Fatalf("the program never drew %q; last:\n%q", text, screen[max(0, len(screen)-500):])
		}
	}
}

// TestAFullScreenProgramIsLeftAlone has a program that owns its terminal call a
// tool that needs an answer. The terminal is there and in the proxy's reach, and
// still not a byte is drawn on it and not a key taken; the answer comes from a
// terminal elsewhere.
func TestAFullScreenProgramIsLeftAlone(t *testing.T) {
	for _, c := range []struct{ key, result string }{{"a", "result: done"}, {"d", "result: refused"}} {
		s := newSite(t, askForWrites)
		file, drawn := filepath.Join(s.projects(), "new.md"), filepath.Join(s.home, "drawn")
		given, err := json.Marshal(map[string]string{"path": file, "content": "new"})
		if err != nil {
			t.Fatal(err)
		}
		server := serverCommand(s, "filesystem")
		server[1] = filepath.Join(here(t), server[1])
		argv := append([]string{filepath.Join(here(t), "fullscreen.mjs"), drawn, "write_file", string(given), "--"}, proxied(server)...)
		cmd := exec.Command("node", argv...)
		cmd.Env, cmd.Dir = append(s.env, "TERM=xterm-256color"), s.projects()
		w := watch(t, cmd)
		w.wait("calling")
		console := newTmux(t, s, clawai+" approve")
		console.wait(`tool       "write_file"`, "asks: let")
		if _, err := w.tty.WriteString("ayd"); err != nil { // what would answer a question, typed into the program
			t.Fatal(err)
		}
		w.wait(`typed: "ayd"`)
		if _, err := os.Stat(file); err == nil {
			t.Fatal("written before it was answered")
		}
		console.press(c.key)
		w.wait(c.result)
		if err := <-w.end; err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(drawn)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.screen(); !bytes.Equal(got, want) {
			t.Errorf("the program drew %d bytes, its terminal got %d: %s", len(want), len(got), cmp.Diff(string(want), string(got)))
		}
		if _, err := os.Stat(file); (err == nil) != (c.key == "a") {
			t.Errorf("%s: %v", c.key, err)
		}
		if out := s.must(clawai, "log", "--kind", "answered"); !strings.Contains(out, "console") {
			t.Errorf("recorded %s", out)
		}
	}
}
