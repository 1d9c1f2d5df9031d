//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/testing/exectest"
)

var pageLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/#\S+`)

// servedPage is a clawai approve --web with a terminal to press keys on.
type servedPage struct {
	t     *testing.T
	cmd   *exec.Cmd
	keys  *os.File
	lines *bufio.Scanner
	errs  strings.Builder
}

func servePage(t *testing.T, arg ...string) *servedPage {
	t.Helper()
	t.Setenv("CLAWAI_STATE_DIR", t.TempDir())
	t.Setenv("CLAWAI_CONFIG_DIR", t.TempDir())
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	p := &servedPage{t: t, keys: keys, cmd: exec.Command("clawai", append([]string{"approve", "--web"}, arg...)...)}
	p.cmd.Stdin, p.cmd.Stderr = tty, &p.errs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	p.lines = bufio.NewScanner(out)
	return p
}

func (p *servedPage) link() string {
	p.t.Helper()
	for p.lines.Scan() {
		if link := pageLink.FindString(p.lines.Text()); link != "" {
			return link
		}
	}
	p.t.Fatalf("no link was printed; stderr: %s", p.errs.String())
	return ""
}

// status is what using the link is answered with.
func (p *servedPage) status(link string) int {
	p.t.Helper()
	origin, token, _ := strings.Cut(link, "/#")
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", origin+"/session", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Origin", origin)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	resp.Body.Close()
	return resp.StatusCode
}

// end presses Ctrl-C.
func (p *servedPage) end() {
	p.t.Helper()
	if _, err := p.keys.Write([]byte{3}); err != nil {
		p.t.Fatal(err)
	}
	for p.lines.Scan() {
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cmdline.ExitInterrupted {
		p.t.Errorf("%v; stderr: %s", err, p.errs.String())
	}
}

func TestApproveWebGivesALinkForEachReturn(t *testing.T) {
	p := servePage(t)
	first := p.link()
	if _, err := p.keys.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	second := p.link()
	if first == second || p.status(first) != http.StatusForbidden || p.status(second) != http.StatusOK || p.status(second) != http.StatusForbidden {
		t.Errorf("%s, then %s", first, second)
	}
	p.end()
	if s := p.errs.String(); s != "" {
		t.Error(s)
	}
}

// The browser is started by a program that gets the link as its only argument,
// and never for root.
func TestApproveWebOpensTheBrowserWithoutAShell(t *testing.T) {
	bin, got := t.TempDir(), filepath.Join(t.TempDir(), "got")
	script := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > " + got + "\n"
	for _, name := range []string{"xdg-open", "open"} {
		exectest.Write(t, filepath.Join(bin, name), []byte(script))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p := servePage(t, "--open")
	link := p.link()
	if os.Geteuid() == 0 {
		p.end()
		if b, err := os.ReadFile(got); err == nil || !strings.Contains(p.errs.String(), "as root") {
			t.Errorf("root's browser got %q; stderr: %s", b, p.errs.String())
		}
		return
	}
	var b []byte
	for end := time.Now().Add(patience); !bytes.HasSuffix(b, []byte(link+"\n")) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		b, _ = os.ReadFile(got)
	}
	if string(b) != "1\n"+link+"\n" {
		t.Errorf("the browser got %q", b)
	}
	p.end()
}

func TestApproveWebRefusesWhatIsNoPort(t *testing.T) {
	for _, port := range []string{"-1", "65536"} {
		var exit *exec.ExitError
		if out, err := exec.Command("clawai", "approve", "--web", "--port="+port).CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != cmdline.ExitUsage {
			t.Errorf("%s: %v %s", port, err, out)
		}
	}
}
