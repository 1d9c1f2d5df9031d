package program

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/site"
)

// ready believes the centre alone, not another program that listens there.
func TestReady(t *testing.T) {
	t.Parallel()
	status, says := http.StatusOK, site.Ready
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		fmt.Fprintln(w, says)
	}))
	defer s.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "[listen]\noperator = %q\n", strings.TrimPrefix(s.URL, "http://")))
	ask := func() (string, error) {
		var out strings.Builder
		err := runReady(&call{dir: dir, stdout: newProse(&out)})
		return out.String(), err
	}
	if out, err := ask(); err != nil || out != "ready\n" {
		t.Errorf("%q, %v", out, err)
	}
	for _, c := range []struct {
		status     int
		says, want string
	}{
		{http.StatusServiceUnavailable, "as it is", "not ready: as it is"},
		{http.StatusOK, "a page of something else", "another program"},
		{http.StatusOK, "\x1b[31m" + site.Ready, "another program"},
		{http.StatusFound, site.Ready, "another program"},
		{http.StatusInternalServerError, strings.Repeat("x", 1<<13), "another program"},
	} {
		status, says = c.status, c.says
		if out, err := ask(); err == nil || out != "" || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
			t.Errorf("%d %.20q: %q, %v", c.status, c.says, out, err)
		}
	}
	// Without settings, it would ask the centre of another folder.
	if err := runReady(&call{dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("a folder without settings: %v", err)
	}
}

// systemd is told once the centre serves; without it, nobody is.
func TestTellSystemd(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "n") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("this system has no such sockets: %v", err)
	}
	defer func() { _ = l.Close() }()
	if err := tellSystemd(path); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	if n, err := l.Read(said); err != nil || string(said[:n]) != "READY=1" {
		t.Errorf("%q, %v", said[:n], err)
	}
	if err := tellSystemd(""); err != nil {
		t.Error(err)
	}
	if tellSystemd(path+"x") == nil {
		t.Error("a socket that is not there was told")
	}
}
