// Package postgrestest starts servers of PostgreSQL for tests.
package postgrestest

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Address returns the address of a database of the server whose socket lies in a folder.
func Address(dir, database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(dir)
}

// findPostgres returns the folder of PostgreSQL's programs; "" if it is not installed.
func findPostgres() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// Start starts a server of its own in a folder that is thrown away, as nobody, and returns
// the folder of its socket.
func Start(t *testing.T) string {
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
	as := func(args ...string) *exec.Cmd {
		if os.Geteuid() == 0 {
			args = append([]string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}, args...)
		}
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + dir}
		return cmd
	}
	run := func(args ...string) {
		if out, err := as(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(t.Context(), "chown", "nobody:nogroup", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	data := dir + "/data"
	run(bin+"/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
	run(bin+"/pg_ctl", "-D", data, "-w", "-l", dir+"/log", "-o", "-c listen_addresses='' -k "+dir, "start")
	t.Cleanup(func() {
		stop := exec.Command(bin+"/pg_ctl", "-D", data, "-m", "immediate", "stop")
		if os.Geteuid() == 0 {
			stop = exec.Command("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--", bin+"/pg_ctl", "-D", data, "-m", "immediate", "stop")
		}
		stop.Dir = "/"
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	return dir
}
