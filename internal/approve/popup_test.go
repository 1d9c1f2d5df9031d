//go:build linux || darwin

package approve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// fakeTmux is a program that plays tmux by the script; what it was called with
// stands in the file.
func fakeTmux(t *testing.T, script string) (program, calls string) {
	t.Helper()
	dir := t.TempDir()
	program, calls = filepath.Join(dir, "tmux"), filepath.Join(dir, "calls")
	text := "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>' \"$a\" >>" + calls + "; done; echo >>" + calls + "\n" + script
	exectest.Write(t, program, []byte(text))
	return program, calls
}

func inTmux(name string) string {
	return map[string]string{"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%3"}[name]
}

const goodTmux = `
case "$1" in
-V) echo tmux 3.3a;;
display-message) echo @4; echo tmux-256color
  echo '100 @4 00 /dev/pts/1'; echo '300 @4 00 /dev/pts/2'; echo '200 @4 00 /dev/pts/3'
  echo '900 @5 00 /dev/pts/4'; echo '800 @4 10 /dev/pts/5'; echo '700 @4 01 /dev/pts/6';;
`

func TestPopupAvailable(t *testing.T) {
	slow.Test(t)
	ticketed := gate.Question{Ticket: "4f8b0c5e-0000-4000-8000-000000000000"}
	for name, tt := range map[string]struct {
		script string
		getenv func(string) string
		q      gate.Question
		want   error
	}{
		"somebody looks":   {goodTmux + "esac", inTmux, ticketed, nil},
		"outside":          {goodTmux + "esac", func(string) string { return "" }, ticketed, errNoTmux},
		"a strange pane":   {goodTmux + "esac", func(string) string { return "%3;x" }, ticketed, errNoTmux},
		"old":              {"echo tmux 3.1c", inTmux, ticketed, errOldTmux},
		"no version":       {"echo", inTmux, ticketed, errOldTmux},
		"nobody looks":     {`test "$1" != -V && echo @4 && echo screen || echo tmux next-3.5`, inTmux, ticketed, errNoClient},
		"elsewhere":        {`test "$1" != -V && echo @4 && echo screen && echo '9 @5 00 /dev/pts/1' || echo tmux 3.2`, inTmux, ticketed, errNoClient},
		"says nothing":     {`test "$1" != -V || echo tmux 3.4`, inTmux, ticketed, errNoClient},
		"not in the queue": {goodTmux + "esac", inTmux, gate.Question{}, errNotQueued},
	} {
		program, _ := fakeTmux(t, tt.script)
		p := NewPopup(PopupOptions{Tmux: program, Getenv: tt.getenv})
		if err := p.Available(t.Context(), tt.q); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	hung, _ := fakeTmux(t, "sleep 60")
	begun := time.Now()
	if NewPopup(PopupOptions{Tmux: hung, Getenv: inTmux}).Available(t.Context(), ticketed) == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("a tmux that hangs was waited for %v", time.Since(begun))
	}
}

func TestPopupRunsClawaiAtTheLastUsedClient(t *testing.T) {
	slow.Test(t)
	program, calls := fakeTmux(t, goodTmux+"display-popup) sleep 0.5; exit 1;;\nesac")
	p := NewPopup(PopupOptions{Tmux: program, Getenv: inTmux, Program: "/bin/cl awai", Environ: []string{"CLAWAI_STATE_DIR=/s t"}})
	_, err := p.Ask(t.Context(), gate.Question{Ticket: "4f8b0c5e"})
	if !errors.Is(err, errPopupOver) {
		t.Error(err)
	}
	got, _ := os.ReadFile(calls)
	want := "<display-popup><-c></dev/pts/2><-E><-w><90%><-h><90%><--><env><-i><TERM=tmux-256color><CLAWAI_STATE_DIR=/s t></bin/cl awai><approve><4f8b0c5e>"
	if !strings.Contains(string(got), want) {
		t.Errorf("tmux was called with\n%s", got)
	}
}

func TestPopupIsClosedWhenTheQuestionIsOver(t *testing.T) {
	slow.Test(t)
	program, calls := fakeTmux(t, goodTmux+`display-popup) case "$*" in *-C*) kill $(cat "$0.pid");; *) echo $$ >"$0.pid"; exec sleep 60;; esac;;
esac`)
	p := NewPopup(PopupOptions{Tmux: program, Getenv: inTmux, Program: "clawai"})
	ctx, over := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.Ask(ctx, gate.Question{Ticket: "4f8b0c5e"})
		done <- err
	}()
	for { // until the popup is shown
		if _, err := os.Stat(program + ".pid"); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	settled := errors.New("answered elsewhere")
	over(settled)
	if err := <-done; !errors.Is(err, settled) {
		t.Error(err)
	}
	if got, _ := os.ReadFile(calls); !strings.Contains(string(got), "<-C>") {
		t.Errorf("the popup was not closed:\n%s", got)
	}
}

// How a popup ends that shows nothing, or nothing that was answered.
func TestPopupsThatHaveNoAnswer(t *testing.T) {
	slow.Test(t)
	for name, tt := range map[string]struct{ script, want string }{
		"left":        {"display-popup) exit 1;;\nesac", errPopupOver.Error()},
		"refused":     {"display-popup) printf 'no client: \\033[2J' >&2; exit 1;;\nesac", `could not be shown: no client: \u{1b}[2J`},
		"in the way":  {"display-popup) exit 0;;\nesac", errPopupBusy.Error()},
		"not in tmux": {"esac\nexit 1", "tmux does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, _ := fakeTmux(t, goodTmux+tt.script)
			p := NewPopup(PopupOptions{Tmux: program, Getenv: inTmux, Program: "clawai"})
			a, err := p.Ask(t.Context(), gate.Question{Ticket: "4f8b0c5e"})
			if err == nil || !strings.Contains(err.Error(), tt.want) || a.Reply.Allows() {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if _, err := NewPopup(PopupOptions{Getenv: inTmux}).Ask(t.Context(), gate.Question{}); !errors.Is(err, errNotQueued) {
		t.Error(err)
	}
}

// The popup has no answer of its own: that is the queue's.
func TestPopupKeepsTheContract(t *testing.T) {
	program, _ := fakeTmux(t, goodTmux+`display-popup) case "$*" in *-C*) ;; *) exec sleep 1;; esac;;
esac`)
	gatetest.Run(t, gatetest.Approver{New: func(testing.TB) (gate.Approver, gatetest.Person) {
		return NewPopup(PopupOptions{Tmux: program, Getenv: inTmux, Program: "clawai"}), nobody{}
	}})
}
