//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/clawai/clawai/internal/testing/slow"
)

const down = "\x1b[B"

// shows waits until the screen is these rows and nothing else. A row that ends with a
// rule is as wide as the screen.
func (w *watcher) shows(cols int, rows ...string) {
	w.t.Helper()
	for i, row := range rows {
		if text, ruled := strings.CutSuffix(row, "─"); ruled {
			rows[i] = text + strings.Repeat("─", cols-len([]rune(text)))
		}
	}
	want := strings.Join(rows, "\n")
	if !w.screen.Wait(patience, func(shown string) bool { return strings.TrimRight(shown, "\n") == want }) {
		w.t.Fatalf("the screen is\n%s\nwant\n%s", strings.TrimRight(w.screen.Text(), "\n"), want)
	}
}

// sizes runs a test on the usual screen and on a large one.
func sizes(t *testing.T, f func(t *testing.T, rows, cols int)) {
	for _, size := range [][2]int{{24, 80}, {40, 120}} {
		t.Run(fmt.Sprintf("%dx%d", size[1], size[0]), func(t *testing.T) { f(t, size[0], size[1]) })
	}
}

var colorful = []string{"TERM=xterm-256color"}

const chooserKeys = "Space chooses · Return goes on · Esc leaves · ↑ ↓ move · Ctrl-A all"

func TestTheScreenOfWrap(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		w := watchAs(t, homeWithServers(t), colorful, rows, cols, "wrap")
		w.shows(cols, "Which servers to wrap?",
			"> [ ] one  Claude Code  ~/.claude.json",
			"  [ ] two  Claude Code  ~/.claude.json",
			"  [ ] one  Cursor  ~/.cursor/mcp.json",
			"  [ ] two  Cursor  ~/.cursor/mcp.json",
			"0 of 4 chosen ─", chooserKeys)
		w.types(down + " " + down)
		w.shows(cols, "Which servers to wrap?",
			"  [ ] one  Claude Code  ~/.claude.json",
			"  [x] two  Claude Code  ~/.claude.json",
			"> [ ] one  Cursor  ~/.cursor/mcp.json",
			"  [ ] two  Cursor  ~/.cursor/mcp.json",
			"1 of 4 chosen ─", chooserKeys)
		if !w.screen.Styled("36") {
			t.Error("the cursor's row has no colour")
		}
		w.types("\r")
		w.sees("Write this file? [y/N]")
		if shown := w.screen.Text(); strings.Contains(shown, "[x]") || !strings.HasPrefix(shown, "--- ~/.claude.json\n+++ ~/.claude.json\n") {
			t.Errorf("behind the list there is\n%s", shown)
		}
		w.types("\r")
		w.sees("Nothing was written.")
		w.leaves(0)

		w = watchAs(t, homeWithServers(t), append(colorful, "NO_COLOR=1"), rows, cols, "wrap", "one")
		w.shows(cols, "Which servers to wrap?",
			"> [x] one  Claude Code  ~/.claude.json",
			"  [x] one  Cursor  ~/.cursor/mcp.json",
			"2 of 2 chosen ─", chooserKeys)
		if w.screen.Styled("36") {
			t.Error("coloured in spite of NO_COLOR")
		}
		w.types("\x1b")
		w.leaves(130)
	})
}

func TestTheScreenOfInit(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		w := watchAs(t, newcomer(t), colorful, rows, cols, "init")
		question := []string{"", "How to start?",
			"  ask      known servers get their own rules, others are asked for call by call",
			"  strict   known servers get their own rules, others are refused",
			"  observe  nothing is enforced: watch first, enforce later",
			"Mode [ask]:"}
		w.shows(cols, question...)
		w.types("\r")
		w.shows(cols, "Put clawai in front of which servers?",
			"> [x] one  Claude Code  ~/.claude.json",
			"  [x] two  Claude Code  ~/.claude.json",
			"  [x] one  Cursor  ~/.cursor/mcp.json",
			"  [x] two  Cursor  ~/.cursor/mcp.json",
			"4 of 4 chosen ─", chooserKeys)
		w.types("\x03")
		w.shows(cols, append(question, "clawai: nothing was chosen")...)
		w.leaves(130)
	})
}

func TestTheScreenOfLearn(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		home := dayWatched(t)
		w := watchAs(t, home, colorful, rows, cols, "policy", "learn", "--interactive", "--out", "learned.toml")
		evidence := "from 3 calls in 1 session, " + time.Now().UTC().Format(time.DateOnly) + " (nothing was enforced)"
		w.shows(cols, "Rule 1 of 4: allow tool list_folder on files with path = /srv/app/site/**",
			evidence, "also lets through: path = /srv/app/site/any/other/file",
			"> Drop it", "  Take it", "  Narrow it", "  Make it ask", "─", "Return goes on · Esc leaves · ↑ ↓ move")
		w.types(down + down + "\r")
		title := "Rule 1 of 4: allow tool list_folder on files with path = /srv/app/site/* or /srv/app/site/css/*"
		if cols == 80 {
			title = strings.Replace(title, "or ", "or\n", 1)
		}
		w.shows(cols, title, evidence, "also lets through: path = /srv/app/site/any_other_file",
			"> Drop it", "  Take it", "  Narrow it", "  Make it ask", "─", "Return goes on · Esc leaves · ↑ ↓ move")
		w.types("\x1b")
		w.shows(cols, "clawai: left; nothing is written")
		w.leaves(130)
	})
}

func TestTheScreenOfTrust(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		home := newcomer(t)
		if err := os.MkdirAll(filepath.Join(home, "app", ".clawai"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "app", ".clawai", "policy.toml"), []byte("[[rule]]\naction = \"deny\"\ntool = \"w*\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w := watchAs(t, home, colorful, rows, cols, "policy", "trust", "app")
		w.sees("  [[rule]]\n  action = \"deny\"\n  tool = \"w*\"\n~/app/.clawai/policy.toml: 1 rule", "\nTrust it? [y/N]\n")
		w.types("\r")
		w.sees("\nTrust it? [y/N]\nNothing was trusted.\n")
		w.leaves(1)
	})
}

// However a list is left, the terminal is as it was.
func TestTheScreenBehindAList(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		sizes(t, func(t *testing.T, rows, cols int) {
			w := watchAs(t, homeWithServers(t), colorful, rows, cols, "wrap")
			w.sees(chooserKeys)
			if err := w.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			w.shows(cols, "clawai: nothing was chosen")
			w.leaves(130)
		})
	}
}

// A terminal that goes away without a signal ends the list too.
func TestAListEndsWithItsTerminal(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	home := homeWithServers(t)
	cmd := exec.Command(path, "wrap")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home + "/tmp"}
	cmd.Stdin, cmd.Stdout = tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the terminal does not control it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	buf, seen := make([]byte, 4096), ""
	for !strings.Contains(seen, "Esc leaves") {
		n, err := screen.Read(buf)
		if seen += string(buf[:n]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tty.Close(), screen.Close()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !late.Stop() {
		t.Error("it waited for keys that cannot come")
	}
}

// Rows that are too long lose their middle, wide characters keep their places, and
// what does not fit says so, also when the window changes under the list.
func TestAListThatDoesNotFit(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := homeWithServers(t)
	deep := filepath.Join(home, strings.Repeat("a-long-folder-name/", 5), "project")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, `,"server-%02d":{"command":"x"}`, i)
	}
	text := fmt.Sprintf(`{"mcpServers":{"日本語のサーバー":{"command":"x"}%s},"projects":{%q:{"mcpServers":{"files":{"command":"x"}}}}}`, many.String(), deep)
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sizes(t, func(t *testing.T, rows, cols int) {
		w := watchAs(t, home, colorful, rows, cols, "wrap")
		w.sees("> [ ] 日本語のサーバー  Claude Code  ~/.claude.json\n", fmt.Sprintf("0 of 64 chosen · %d in sight ─", rows-3), " · / filter\n")
		w.types("\x1b[F\x1b[A\x1b[A")
		long := "> [ ] files  Claude Code  ~/.claude.json  …older-name/a-long-folder-name/project\n"
		if cols == 120 {
			long = "> [ ] files  Claude Code  ~/.claude.json  for ~/a-long-folder-…folder-name/a-long-folder-name/a-long-folder-name/project\n"
		}
		w.sees(long)
		w.resize(10, 60)
		w.shows(60, "Which servers to wrap?",
			"  [ ] server-54  Claude Code  ~/.claude.json",
			"  [ ] server-55  Claude Code  ~/.claude.json",
			"  [ ] server-56  Claude Code  ~/.claude.json",
			"  [ ] server-57  Claude Code  ~/.claude.json",
			"  [ ] server-58  Claude Code  ~/.claude.json",
			"  [ ] server-59  Claude Code  ~/.claude.json",
			string([]rune(long)[:60]),
			"0 of 64 chosen · 7 in sight ─",
			"Space chooses · Return goes on · Esc leaves · ↑ ↓ move")
		w.resize(rows, cols)
		w.types("/9")
		w.sees("/9", "> [ ] server-09  ", "  [ ] server-59  ")
		w.types("\x1b")
		w.leaves(130)
	})
}
