//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// initialised is a home with the policy that clawai init writes for two servers and the tools
// of Claude Code, and in bin what it starts.
func initialised(t testing.TB, programs ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		".claude/settings.json": "{}\n", "bin/.keep": "", "tmp/.keep": "", "work/a": "",
		".claude.json": `{"mcpServers":{"github":{"command":"npx","args":["-y","@modelcontextprotocol/server-github"]},` +
			`"filesystem":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","` + dir + `/work"]}}}`,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range append(programs, built("clawai")) {
		if err := os.Link(program, filepath.Join(dir, "bin", filepath.Base(program))); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "bin/clawai"), "init", "--yes", "--hooks")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// ordinary are calls that the policy of init lets through or denies by itself.
func ordinary(dir string) map[string]string {
	return map[string]string{
		"task":  payload("TodoWrite", `{"todos":[]}`),
		"read":  payload("Read", `{"file_path":"`+dir+`/work/a"}`),
		"key":   payload("Read", `{"file_path":"`+dir+`/.ssh/id_ed25519"}`),
		"shell": payload("Bash", `{"command":"git status"}`),
	}
}

// Under the policy that init writes the small program judges by itself what the rules allow
// or deny, though some of them ask what a call carries: it does so where the large one is not.
func TestInitsPolicyWithoutTheLargeProgram(t *testing.T) {
	slow.Test(t)
	dir := initialised(t, built("clawai-hook"))
	if err := os.Remove(filepath.Join(dir, "bin/clawai")); err != nil {
		t.Fatal(err)
	}
	for name, stdin := range ordinary(dir) {
		hook := exec.Command(filepath.Join(dir, "bin/clawai-hook"), "claude-code")
		hook.Env, hook.Dir = []string{"HOME=" + dir, "CLAUDE_CODE_SESSION_ATTENDED=0"}, dir
		stdout, stderr, code := answer(t, hook, strings.ReplaceAll(stdin, `"cwd":"/"`, `"cwd":"`+dir+`/work"`))
		if denied := code == 2; denied != (name == "key") || strings.Contains(stderr, "cannot be run") {
			t.Errorf("%s: %d %s %s", name, code, stdout, stderr)
		}
	}
}

// What an argument carries is found by the small program, where a rule about that tool asks.
func TestCarried(t *testing.T) {
	slow.Test(t)
	dir := home(t, "[[rule]]\naction = \"deny\"\ntool = \"write\"\nfind = [\"secret\"]\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	const key = "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
	for args, denied := range map[string]bool{`{"file_path":"/a","content":"x"}`: false, `{"file_path":"/a","content":"` + key + `"}`: true} {
		hook := command(dir)
		stdout, stderr, code := answer(t, hook, payload("Write", args))
		if (code == 2) != denied {
			t.Errorf("%s: %d %s %s", args, code, stdout, stderr)
		}
		if d := lastDecision(t, dir); strings.Contains(d, `"finds":["secret`) != denied {
			t.Errorf("%s: recorded %s", args, d)
		}
	}
}

// lastDecision is the newest decision of the record.
func lastDecision(t *testing.T, dir string) string {
	t.Helper()
	log := exec.Command(built("clawai"), "log", "--json", "--kind", "decision")
	log.Env = command(dir).Env
	stdout, stderr, code := answer(t, log, "")
	if code != 0 {
		t.Fatal(stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	return lines[len(lines)-1]
}

// BenchmarkStart prints what calls cost beside an empty program, under the policy that init
// writes: the least of many starts in turn. Of that the file of the record takes ms/create,
// which is the file system's: ext4 looks at each inode that was deleted nearby in the last
// minutes.
func BenchmarkStart(b *testing.B) {
	made := b.TempDir()
	if err := os.WriteFile(filepath.Join(made, "empty.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, pkg := range map[string]string{"empty": filepath.Join(made, "empty.go"), "clawai-hook": "."} {
		if err := released(filepath.Join(made, name), pkg); err != nil {
			b.Fatal(err)
		}
	}
	dir := initialised(b, filepath.Join(made, "empty"), filepath.Join(made, "clawai-hook"))
	calls := ordinary(dir)
	calls["empty"] = ""
	least := map[string]time.Duration{}
	for b.Loop() {
		for name, stdin := range calls {
			program := "clawai-hook"
			if name == "empty" {
				program = name
			}
			cmd := exec.Command(filepath.Join(dir, "bin", program), "claude-code")
			cmd.Env, cmd.Stdin = []string{"HOME=" + dir}, strings.NewReader(stdin)
			start := time.Now()
			if out, err := cmd.CombinedOutput(); (err != nil || len(out) > 0) != (name == "key") {
				b.Fatalf("%s: %v %s", name, err, out)
			}
			if took := time.Since(start); least[name] == 0 || took < least[name] {
				least[name] = took
			}
		}
	}
	for i := range 20 {
		start := time.Now()
		f, err := os.OpenFile(filepath.Join(dir, ".local/state/clawai/audit", strconv.Itoa(i)), os.O_CREATE|os.O_EXCL, 0o600)
		if took := time.Since(start); least["create"] == 0 || took < least["create"] {
			least["create"] = took
		}
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	b.ReportMetric(float64(least["create"].Microseconds())/1000, "ms/create")
	for name := range calls {
		b.ReportMetric(float64(least[name].Microseconds())/1000, "ms/"+name)
		b.ReportMetric(float64(least[name])/float64(least["empty"]), fmt.Sprintf("x-empty/%s", name))
	}
}
