// Package postgrestest starts PostgreSQL servers for tests and measurements.
package postgrestest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Server is a PostgreSQL server for a test, in a temporary folder.
type Server struct {
	dir, bin string   // dir: folder of the server's files and socket; bin: folder of PostgreSQL's programs
	settings []string // NAME=VALUE
}

// Address returns the address of a database of the server.
func (s *Server) Address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// findPostgres returns the folder of PostgreSQL's programs; "" if it is not installed.
func findPostgres() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// Start starts a new server with settings of the form NAME=VALUE. If the test runs as root, the server runs as
// the user nobody. It ends with the test. Start skips the test if PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin := findPostgres()
	if bin == "" {
		if os.Getenv("CLAWAI_TEST_POSTGRES") != "" {
			t.Fatal("PostgreSQL is not installed, and CLAWAI_TEST_POSTGRES says that it is")
		}
		t.Skip("PostgreSQL is not installed")
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{dir: dir, bin: bin, settings: settings}
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(t.Context(), "chown", "nobody:nogroup", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.run("pg_ctl", "-D", s.data(), "-m", "immediate", "stop"); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// run runs one of PostgreSQL's programs.
func (s *Server) run(program string, args ...string) error {
	args = append([]string{filepath.Join(s.bin, program)}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + s.dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

func (s *Server) start() error {
	options := "-c listen_addresses='' -k " + s.dir
	for _, setting := range s.settings {
		options += " -c " + setting
	}
	return s.run("pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.dir, "log"), "-o", options, "start")
}

// Kill kills all processes of the server, as kill -9 does.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(src), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", first, first))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{first}, strings.Fields(string(children))...) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%q is no process", text)
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // a connection may have ended meanwhile
		}
	}
}

// Restart starts a server that was killed. It tries again as long as PostgreSQL refuses to start, because
// processes of the old server may still be ending.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		err := s.start()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
