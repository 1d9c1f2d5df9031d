//go:build e2e

// Package e2e puts software we did not write on both sides of the proxy: the
// reference servers, the Inspector and a client of the official TypeScript SDK,
// all from npm. .ci/run installs them and runs these tests; a missing tool is a
// failure.
package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const allowAll = `
[[rule]]
action = "allow"
tool = "**"
[[rule]]
action = "allow"
resource = "**"
[[rule]]
action = "allow"
prompt = "**"
[[rule]]
action = "allow"
sampling = "**"
[[rule]]
action = "allow"
elicitation = "**"
`

// clawai is the binary under test, built once by TestMain.
var clawai string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "tap" {
		os.Exit(tap(os.Args[2], os.Args[3:]))
	}
	if i := slices.Index(os.Args, "model-tap"); i > 0 {
		os.Exit(tapModel(os.Args[i+1], slices.Concat(os.Args[1:i], os.Args[i+2:])))
	}
	if len(os.Args) > 1 && os.Args[1] == "go-server" {
		os.Exit(goServer())
	}
	dir, err := os.MkdirTemp("", "clawai-e2e")
	if err != nil {
		panic(err)
	}
	clawai = filepath.Join(dir, "clawai")
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/clawai", "../../cmd/clawai-hook", "../../cmd/clawai-gateway").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// patience is how long a test waits for what must happen by itself. A busy machine is late, so the time decides nothing
// but when a test gives up.
const patience = 3 * time.Minute

// await waits until ok says yes.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// site is one place to run in: a HOME with a policy and a folder of files.
type site struct {
	t    *testing.T
	home string
	env  []string
}

func newSite(t *testing.T, policy string) site {
	t.Helper()
	home := t.TempDir()
	s := site{t: t, home: home}
	t.Cleanup(s.deserted) // before its folder is removed
	s.write(".config/clawai/policy.toml", policy)
	s.write("projects/notes.md", "# Notes\n")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "XDG_") {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "HOME="+home)
	return s
}

// deserted waits for the last process that was started with this HOME: one that
// is still closing its queue would write into a folder that is being removed, and
// one that stays has outlived its client.
func (s site) deserted() {
	s.t.Helper()
	var left []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if left = living(s.t, s.home); len(left) == 0 {
			return
		}
	}
	s.t.Errorf("still running after their client: %q", left)
}

// living are the command lines of the processes whose HOME this is.
func living(t *testing.T, home string) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environments) == 0 {
		t.Fatalf("processes cannot be listed: %v", err)
	}
	var found []string
	for _, path := range environments {
		environ, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+home) {
			continue // ended meanwhile, or another's
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

func (s site) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run executes a command at the site and returns its standard output.
func (s site) run(argv ...string) (string, error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), argv[0], argv[1:]...)
	cmd.Env = s.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Logf("%q: %v\nstderr: %s", argv, err, stderr.String())
	}
	return string(out), err
}

func (s site) projects() string { return filepath.Join(s.home, "projects") }

// proxied is the command line of a server behind the proxy.
func proxied(server []string) []string {
	return append([]string{clawai, "proxy", "--server", "under-test", "--"}, server...)
}

func serverCommand(s site, story string) []string {
	path := "node_modules/@modelcontextprotocol/server-" + story + "/dist/index.js"
	if story == "everything" {
		return []string{"node", path, "stdio"}
	}
	return []string{"node", path, s.projects()}
}

// TestTransparent holds that with a policy that allows everything the proxy
// cannot be told from a wire: what one side wrote the other side read, byte for
// byte and in order, and the client saw what it sees without a proxy.
func TestTransparent(t *testing.T) {
	for _, story := range []string{"everything", "filesystem"} {
		t.Run(story, func(t *testing.T) {
			t.Parallel()
			direct := transcript(t, story, func(_ site, server []string) []string { return server })

			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			taps := t.TempDir()
			outer, inner := filepath.Join(taps, "client"), filepath.Join(taps, "server")
			through := transcript(t, story, func(_ site, server []string) []string {
				behind := append([]string{self, "tap", inner}, server...)
				return append([]string{self, "tap", outer}, proxied(behind)...)
			})

			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("the client saw something else through the proxy (-direct +proxy):\n%s", diff)
			}
			for _, direction := range []string{".in", ".out"} {
				a, b := untilTheEnd(frames(t, outer+direction)), untilTheEnd(frames(t, inner+direction))
				if len(a) < 10 {
					t.Errorf("only %d frames in %s: the story did not run", len(a), direction)
				}
				if diff := cmp.Diff(a, b); diff != "" {
					t.Errorf("frames differ across the proxy in direction %s (-client side +server side):\n%s", direction, diff)
				}
			}
		})
	}
}

// transcript runs the SDK client against a server and returns its lines with
// times and random values masked.
func transcript(t *testing.T, story string, wrap func(site, []string) []string) []string {
	t.Helper()
	s := newSite(t, allowAll)
	argv := append([]string{"node", "client.mjs", story, s.projects(), "--"}, wrap(s, serverCommand(s, story))...)
	out, err := s.run(argv...)
	if err != nil {
		t.Fatalf("the %s story failed:\n%s", story, out)
	}
	out = strings.ReplaceAll(out, s.home, "HOME")
	out = clock.ReplaceAllString(out, "TIME")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if lines[len(lines)-1] != `["closed",true]` {
		t.Fatalf("the %s story did not reach its end:\n%s", story, out)
	}
	return lines
}

var clock = regexp.MustCompile(`\b\d{1,2}:\d{2}:\d{2}( [AP]M)?\b`)

// frames are the lines of a tap without outer blanks and line ends, which are
// no part of a frame.
func frames(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.Trim(line, " \t\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// untilTheEnd is what was said up to the last answer. Then the client closes, and what the server still says by itself may
// come to nobody: it reports the progress of a call that was cancelled.
func untilTheEnd(frames []string) []string {
	for last := len(frames); last > 0; last-- {
		if strings.Contains(frames[last-1], `"id":`) {
			return frames[:last]
		}
	}
	return nil
}

// TestPolicy runs the same software under a policy that refuses things.
func TestPolicy(t *testing.T) {
	t.Parallel()
	s := newSite(t, `
[[rule]]
action = "deny"
tool = "get-env"
description = "The environment holds secrets"
[[rule]]
action = "prompt"
tool = "get-sum"
[[rule]]
action = "allow"
tool = "**"
[[rule]]
action = "deny"
resource = "demo://resource/dynamic/**"
[[rule]]
action = "allow"
resource = "demo://**"
`)
	s.write(".config/clawai/config.toml", "[ask]\nnobody = \"deny\"\n") // the Inspector passes no variables on
	inspect := s.inspector(proxied(serverCommand(s, "everything")))

	if out, err := inspect("--method", "tools/list"); err != nil || !strings.Contains(out, "get-env") {
		t.Errorf("tools/list must pass: %v\n%s", err, out)
	}
	if out, err := inspect("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"); err != nil || !strings.Contains(out, "Echo: hi") {
		t.Errorf("an allowed call must pass: %v\n%s", err, out)
	}
	out, _ := inspect("--method", "tools/call", "--tool-name", "get-env")
	if !strings.Contains(out, "The environment holds secrets") || !strings.Contains(out, `"isError":true`) {
		t.Errorf("a denied call must be answered with the rule's description:\n%s", out)
	}
	out, _ = inspect("--method", "tools/call", "--tool-name", "get-sum", "--tool-args-json", `{"a":2,"b":3}`)
	if strings.Contains(out, "is 5") || !strings.Contains(out, `"isError":true`) {
		t.Errorf("a prompt without a terminal must deny:\n%s", out)
	}
	if out, err := inspect("--method", "resources/read", "--uri", "demo://resource/dynamic/text/1"); err == nil {
		t.Errorf("a denied resource must fail:\n%s", out)
	}
	if out, err := inspect("--method", "prompts/get", "--prompt-name", "simple-prompt"); err == nil {
		t.Errorf("a prompt that no rule opens must fail:\n%s", out)
	}
	if out, err := s.run(clawai, "log", "verify"); err != nil {
		t.Errorf("the record must verify: %v\n%s", err, out)
	}
	denied, err := s.run(clawai, "log", "--decision", "deny", "--json")
	if err != nil || strings.Count(denied, "\n") < 4 {
		t.Errorf("four denials must be on record: %v\n%s", err, denied)
	}
}

// TestInspector drives both servers through the proxy with the Inspector's own
// configuration file, in the form that clients use.
func TestInspector(t *testing.T) {
	t.Parallel()
	s := newSite(t, allowAll)
	everything := s.inspector(proxied(serverCommand(s, "everything")))
	files := s.inspector(proxied(serverCommand(s, "filesystem")))
	for _, c := range []struct {
		name    string
		inspect func(...string) (string, error)
		args    []string
		want    string
	}{
		{"tools", everything, []string{"--method", "tools/list"}, `"name":"echo"`},
		{"call", everything, []string{"--method", "tools/call", "--tool-name", "get-sum", "--tool-args-json", `{"a":2,"b":3}`}, "The sum of 2 and 3 is 5."},
		{"resources", everything, []string{"--method", "resources/list"}, "architecture.md"},
		{"templates", everything, []string{"--method", "resources/templates/list"}, "demo://resource/dynamic/text/{resourceId}"},
		{"read", everything, []string{"--method", "resources/read", "--uri", "demo://resource/dynamic/text/1"}, "plaintext resource"},
		{"prompts", everything, []string{"--method", "prompts/list"}, "simple-prompt"},
		{"prompt", everything, []string{"--method", "prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Paris"}, "Paris"},
		{"logging", everything, []string{"--method", "logging/setLevel", "--log-level", "debug"}, "{"},
		{"directory", files, []string{"--method", "tools/call", "--tool-name", "list_allowed_directories"}, s.projects()},
		{"file", files, []string{"--method", "tools/call", "--tool-name", "read_text_file", "--tool-arg", "path=" + s.projects() + "/notes.md"}, "# Notes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, err := c.inspect(c.args...); err != nil || !strings.Contains(out, c.want) {
				t.Errorf("%v: want %q in\n%s", err, c.want, out)
			}
		})
	}
}

// inspector returns a function that runs the Inspector's command line against a
// server named in its configuration file.
func (s site) inspector(server []string) func(args ...string) (string, error) {
	s.t.Helper()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"under-test": map[string]any{"command": server[0], "args": server[1:]},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	file, err := os.CreateTemp(s.home, "inspector-*.json")
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(config); err != nil {
		s.t.Fatal(err)
	}
	return func(args ...string) (string, error) {
		argv := []string{"node", "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
			"--cli", "-q", "--config", file.Name(), "--server", "under-test", "--format", "json"}
		return s.run(append(argv, args...)...)
	}
}
