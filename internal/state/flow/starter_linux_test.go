package flow

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStarterHelper is no test: it is the hook that others start.
func TestStarterHelper(t *testing.T) {
	state := os.Getenv("FLOW_TEST_HOOK")
	if state == "" {
		t.Skip("started by TestWhoStartedTheHook")
	}
	if err := HearIn(state, "s", "to bob@example.org"); err != nil {
		fmt.Fprintln(os.Stdout, "refused:", err)
		return
	}
	fmt.Fprintln(os.Stdout, "heard")
}

// The user's words count from the client's hook, and not from a shell's pipe or script, or from a
// program that the client started.
func TestWhoStartedTheHook(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "clawai-hook.test") // a command of clawai
	if err := os.Symlink(self, hook); err != nil {
		t.Fatal(err)
	}
	run := hook + " -test.run=TestStarterHelper"
	script := filepath.Join(dir, "x.sh")
	if err := os.WriteFile(script, []byte(run+"\ntrue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command []string
		linked  bool // the session has our process as its client
		want    string
	}{
		"the client":                     {[]string{hook, "-test.run=^TestStarterHelper$"}, false, "heard"},
		"the client, known":              {[]string{hook, "-test.run=^TestStarterHelper$"}, true, "heard"},
		"its shell, replaced":            {[]string{"sh", "-c", "exec " + run}, true, "heard"},
		"its shell":                      {[]string{"sh", "-c", run}, true, "heard"},
		"a pipe":                         {[]string{"sh", "-c", "printf x | " + run}, true, "refused: a shell's"},
		"a file":                         {[]string{"sh", "-c", run + " < /dev/null; true"}, true, "refused: a shell's"},
		"a script":                       {[]string{"sh", script}, true, "refused: a shell's"},
		"two shells":                     {[]string{"sh", "-c", "sh -c '" + run + "'; true"}, true, "refused: a shell's"},
		"a program of the client's":      {[]string{"awk", `BEGIN{system("exec ` + run + `")}`}, true, "refused: another program"},
		"a program, in a session so far": {[]string{"awk", `BEGIN{system("exec ` + run + `")}`}, false, "heard"}, // it becomes the client of a session of its own
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			if err := makeFolder(dirOf(state)); err != nil {
				t.Fatal(err)
			}
			if c.linked {
				s := begin(t, state, byProcess+processKey(os.Getpid()))
				if err := s.JoinKey(IDKey("s")); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(c.command[0], c.command[1:]...)
			cmd.Env = append(os.Environ(), "FLOW_TEST_HOOK="+state)
			out, err := cmd.CombinedOutput()
			if !strings.HasPrefix(string(out), c.want) {
				t.Errorf("%s, %v; want %s", out, err, c.want)
			}
		})
	}
}
