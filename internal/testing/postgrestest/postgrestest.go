// Package postgrestest starts PostgreSQL servers for tests and measurements.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ErrMissing means that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed: apt-get install postgresql")

// Server is a PostgreSQL server with a temporary folder. It listens only on a Unix socket.
type Server struct {
	Dir      string // folder with the socket, the data and the log
	bin      string // folder with PostgreSQL's programs
	settings []string
}

// Start is Run for a test. The server ends with the test. If PostgreSQL is not installed, Start
// skips the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := Run(t.Context(), settings...)
	if errors.Is(err, ErrMissing) && os.Getenv("CLAWAI_TEST_POSTGRES") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run creates and starts a server. Each setting has the form NAME=VALUE. If this process runs as
// root, the server runs as the user nobody. The caller must call Stop.
func Run(ctx context.Context, settings ...string) (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, ErrMissing
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir, filepath.Dir(found[len(found)-1]), settings}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// create creates the server's data, and starts the server.
func (s *Server) create(ctx context.Context) error {
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(ctx, "chown", "nobody:nogroup", s.Dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err := s.run(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"); err != nil {
		return err
	}
	return s.start(ctx)
}

// Address returns the address of a database on the server, for clients.
func (s *Server) Address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.Dir)
}

// Stop ends the server at once and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.run(context.Background(), "pg_ctl", "-D", s.data(), "-m", "immediate", "stop"), os.RemoveAll(s.Dir))
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// run runs a program of PostgreSQL. If this process runs as root, the program runs as the user
// nobody.
func (s *Server) run(ctx context.Context, program string, args ...string) error {
	args = slices.Concat([]string{filepath.Join(s.bin, program)}, args)
	if os.Geteuid() == 0 {
		args = slices.Concat([]string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}, args)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.Dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + s.Dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

func (s *Server) start(ctx context.Context) error {
	options := "-c listen_addresses='' -k " + s.Dir
	for _, setting := range s.settings {
		options += " -c " + setting
	}
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.Dir, "log"), "-o", options, "start")
}

// Process returns the process id of the server. This process is the parent of the server's other
// processes.
func (s *Server) Process() (int, error) {
	src, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(src), "\n")
	return strconv.Atoi(line)
}

// Kill kills all processes of the server with SIGKILL.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	first, err := s.Process()
	if err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", first, first))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{strconv.Itoa(first)}, strings.Fields(string(children))...) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%q is no process", text)
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // an error means that the process has already ended
		}
	}
}

// Restart starts a server again after Kill. PostgreSQL may refuse to start while processes of the
// old server still end, so Restart tries again for one minute.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		err := s.start(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
