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
)

// ready passes on what the operator's address says.
func TestReady(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
		w.WriteHeader(status)
		fmt.Fprintln(w, "as it is")
	}))
	defer s.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "[listen]\noperator = %q\n", strings.TrimPrefix(s.URL, "http://")))
	ask := func() (string, error) {
		var out strings.Builder
		err := runReady(&call{dir: dir, stdout: &out})
		return out.String(), err
	}
	if out, err := ask(); err != nil || out != "as it is\n" {
		t.Errorf("%q, %v", out, err)
	}
	status = http.StatusServiceUnavailable
	if out, err := ask(); err == nil || out != "" || !strings.Contains(err.Error(), "not ready: as it is") {
		t.Errorf("%q, %v", out, err)
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
