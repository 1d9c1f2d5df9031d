//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// programs is the folder with both, which are built for the first test that asks.
var programs string

var build = sync.OnceValue(func() error {
	if err := os.Chmod(programs, 0o755); err != nil { // another account runs what lies here
		return err
	}
	if out, err := exec.Command("go", "build", "-o", programs, ".", "../clawai").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// built is the path of one of them.
func built(name string) string {
	if err := build(); err != nil {
		panic(err)
	}
	return filepath.Join(programs, name)
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && played[os.Args[1]] != nil {
		os.Exit(played[os.Args[1]]()) //nolint:forbidigo // a program that a test starts
	}
	dir, err := os.MkdirTemp("", "clawai-hook")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code) //nolint:forbidigo // a test's main
}

// home is an owner with a policy.
func home(t *testing.T, policy string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".config/clawai"), 0o700); err != nil {
		t.Fatal(err)
	}
	if policy != "" {
		write(t, filepath.Join(dir, ".config/clawai/policy.toml"), policy)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const rules = `
[[rule]]
action = "allow"
tool = "read"
args.path = "~/**"

[[rule]]
action = "prompt"
tool = "shell"

[[rule]]
action = "allow"
server = "files"
tool = "look"
`

func payload(tool, args string) string {
	return `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"` + tool + `","tool_input":` + args + `}`
}

// command is the hook, of an owner, before whom nobody sits.
func command(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(built("clawai-hook"), append([]string{"claude-code"}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDE_CODE_SESSION_ATTENDED=0"}
	return cmd
}

// answer runs it.
func answer(t *testing.T, cmd *exec.Cmd, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// denied fails unless the client is told no in all ways that it understands.
func denied(t *testing.T, stdout, stderr string, code int, why string) {
	t.Helper()
	var said struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
	}
	err := json.Unmarshal([]byte(stdout), &said)
	if o := said.HookSpecificOutput; code != 2 || err != nil || o.PermissionDecision != "deny" || o.PermissionDecisionReason == "" || !strings.Contains(stderr, why) {
		t.Errorf("exit %d, %v\nstdout %.300s\nstderr %.300s\nwant a denial for %q", code, err, stdout, stderr, why)
	}
}

// What is wrong on our side never lets a tool run.
func TestFaultsFromOutside(t *testing.T) {
	slow.Test(t)
	allowed := func(home string) string { return payload("Read", `{"file_path":"`+home+`/a"}`) }
	for _, c := range []struct {
		name, policy, why string
		stdin             func(home string) string
		change            func(t *testing.T, home string, cmd *exec.Cmd)
	}{
		{name: "no policy", stdin: allowed, why: "policy.toml"},
		{name: "a broken policy", policy: "[[rule]]\naction = \"alow\"\n", stdin: allowed, why: "policy.toml"},
		{name: "a policy that others can write", policy: rules, stdin: allowed, why: "policy.toml", change: func(t *testing.T, home string, _ *exec.Cmd) {
			if err := os.Chmod(filepath.Join(home, ".config/clawai/policy.toml"), 0o666); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a state that is a file", policy: rules, stdin: allowed, why: "state", change: func(t *testing.T, home string, cmd *exec.Cmd) {
			write(t, filepath.Join(home, "state"), "")
			cmd.Args = append(cmd.Args, "--state", filepath.Join(home, "state"))
		}},
		{name: "another account's state", policy: rules, stdin: allowed, why: "clawai", change: func(t *testing.T, home string, cmd *exec.Cmd) {
			if os.Geteuid() != 0 {
				t.Skip("only root can be somebody else")
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}},
		{name: "no room for the record", policy: rules, stdin: allowed, why: "clawai", change: func(_ *testing.T, _ string, cmd *exec.Cmd) {
			cmd.Args = append([]string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		}},
		{name: "nothing", policy: rules, stdin: func(string) string { return "" }, why: "cannot read"},
		{name: "half", policy: rules, stdin: func(string) string { return `{"session_id":` }, why: "cannot read"},
		{name: "64 MiB", policy: rules, stdin: func(string) string { return payload("Read", `{"file_path":"`+strings.Repeat("a", 64<<20)+`"}`) }, why: "cannot read"},
		{name: "another event", policy: rules, stdin: func(home string) string { return strings.Replace(allowed(home), "PreToolUse", "BeforeAll", 1) }, why: "no event"},
		{name: "an option that there is not", policy: rules, stdin: allowed, why: "", change: func(_ *testing.T, _ string, cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, "--listen", "x")
		}},
		{name: "nobody answers", policy: rules, stdin: func(string) string { return payload("Bash", `{"command":"ls"}`) }, why: "nobody answered", change: func(_ *testing.T, _ string, cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, "--ask-timeout", "1s")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := home(t, c.policy)
			cmd := command(dir)
			if c.change != nil {
				c.change(t, dir, cmd)
			}
			stdout, stderr, code := answer(t, cmd, c.stdin(dir))
			if c.why == "" {
				if code != 2 || stderr == "" {
					t.Errorf("%d %s %s", code, stdout, stderr)
				}
				return
			}
			denied(t, stdout, stderr, code, c.why)
		})
	}
	t.Run("none", func(t *testing.T) {
		dir := home(t, rules)
		if stdout, stderr, code := answer(t, command(dir), allowed(dir)); stdout+stderr != "" || code != 0 {
			t.Errorf("%d %s %s", code, stdout, stderr)
		}
	})
	t.Run("no clawai beside it", func(t *testing.T) {
		dir := home(t, rules)
		alone := filepath.Join(t.TempDir(), "clawai-hook")
		if err := os.Link(built("clawai-hook"), alone); err != nil {
			t.Skip(err)
		}
		cmd := command(dir)
		cmd.Path = alone
		stdout, stderr, code := answer(t, cmd, payload("Bash", `{"command":"ls"}`))
		denied(t, stdout, stderr, code, "cannot be run")
	})
}

// Told to stop while it asks, and while it waits for a payload, it says no.
func TestStopped(t *testing.T) {
	slow.Test(t)
	stopped := func(reads bool, listens time.Duration) (stdout, stderr string, code int) {
		dir := home(t, rules)
		cmd := command(dir)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if reads {
			fmt.Fprint(in, payload("Bash", `{"command":"ls"}`))
			in.Close()
			waitFor(t, filepath.Join(dir, ".local/state/clawai/queue/*"))
		} else {
			time.Sleep(listens)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	stdout, stderr, code := stopped(true, 0)
	denied(t, stdout, stderr, code, "Refused")
	// Before it listens to signals it is killed, which is no answer of ours.
	for listens := 200 * time.Millisecond; ; listens *= 2 {
		if stdout, stderr, code = stopped(false, listens); code >= 0 || listens > 10*time.Second {
			break
		}
	}
	denied(t, stdout, stderr, code, "Refused")
}

// Killed while it asks, it leaves nobody behind who goes on asking.
func TestKilled(t *testing.T) {
	slow.Test(t)
	dir := home(t, rules)
	cmd := command(dir, "--ask-timeout", "10m")
	alive, held, err := os.Pipe() // whatever it starts holds it, too
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	cmd.Stdin, cmd.ExtraFiles = strings.NewReader(payload("Bash", `{"command":"ls"}`)), []*os.File{held}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	waitFor(t, filepath.Join(dir, ".local/state/clawai/queue/*"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := alive.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil { // less than it would ask
		t.Fatal(err)
	}
	if _, err := alive.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("it still runs: %v", err)
	}
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for range 6000 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %s", pattern)
}

// What is linked is initialised at every call, and none of this is needed for one.
func TestLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	for _, pkg := range linked {
		for _, banned := range []string{"modernc.org", "database/sql", "net", "net/http", "github.com/urfave", "charm.land", "github.com/godbus", "text/template", "html/template",
			"encoding/gob", "github.com/tidwall", "time/tzdata", "github.com/goccy", "github.com/clawai/clawai/wrap", "github.com/clawai/clawai/internal/ask",
			"github.com/clawai/clawai/internal/session", "github.com/clawai/clawai/internal/check", "github.com/clawai/clawai/internal/state/export", "testing"} {
			if pkg == banned || strings.HasPrefix(pkg, banned+"/") && pkg != "github.com/clawai/clawai/internal/session/base" && pkg != "github.com/clawai/clawai/internal/session/carried" && pkg != "github.com/clawai/clawai/wrap/proxyargs" && banned != "net" {
				t.Errorf("it links %s", pkg)
			}
		}
	}
	if len(linked) < 100 {
		t.Errorf("%d packages", len(linked))
	}
}

// maxSize is that of a release, in bytes.
const maxSize = 8_200_000

// released builds a package as a release does; .goreleaser.yaml has the same flags.
func released(file, pkg string) error {
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestSize(t *testing.T) {
	slow.Test(t)
	file := filepath.Join(t.TempDir(), "clawai-hook")
	if err := released(file, "."); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxSize {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}
