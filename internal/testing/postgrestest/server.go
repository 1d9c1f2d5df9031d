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
)

// ErrMissing means that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed: apt-get install postgresql")

// Cluster is a PostgreSQL server for programs that are no tests, in a temporary folder. It listens only on a
// Unix socket.
type Cluster struct {
	Dir string // folder of the socket, the data and the log
	bin string
}

// Run makes and starts a server with settings of the form NAME=VALUE. If this process runs as root, the server
// runs as the user nobody. The caller calls Stop.
func Run(ctx context.Context, settings ...string) (*Cluster, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, ErrMissing
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Cluster{Dir: dir, bin: filepath.Dir(found[len(found)-1])}
	if err := s.start(ctx, settings); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Cluster) data() string { return s.Dir + "/data" }

func (s *Cluster) start(ctx context.Context, settings []string) error {
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(ctx, "chown", "nobody:nogroup", s.Dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err := s.run(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"); err != nil {
		return err
	}
	options := "-c listen_addresses='' -k " + s.Dir
	for _, setting := range settings {
		options += " -c " + setting
	}
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-w", "-l", s.Dir+"/log", "-o", options, "start")
}

// run runs one of PostgreSQL's programs.
func (s *Cluster) run(ctx context.Context, program string, args ...string) error {
	args = slices.Concat([]string{s.bin + "/" + program}, args)
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

// Address returns the address of a database of the server.
func (s *Cluster) Address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.Dir)
}

// Process returns the id of the server's first process, the parent of all others.
func (s *Cluster) Process() (int, error) {
	src, err := os.ReadFile(s.data() + "/postmaster.pid")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(src), "\n")
	return strconv.Atoi(line)
}

// Stop ends the server and removes its folder.
func (s *Cluster) Stop() error {
	return errors.Join(s.run(context.Background(), "pg_ctl", "-D", s.data(), "-m", "immediate", "stop"), os.RemoveAll(s.Dir))
}
