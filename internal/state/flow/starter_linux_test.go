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
		"a file, by a shell replaced":    {[]string{"sh", "-c", "exec " + run + " < " + script}, true, "refused: a file"},
		"a file, to a shell's only word": {[]string{"sh", "-c", run + " < " + script}, true, "refused: a"},
		"a here-document":                {[]string{"sh", "-c", run + " <<E\nx\nE\ntrue"}, true, "refused: a shell's"},
		"a here-string":                  {[]string{"bash", "-c", run + " <<< x; true"}, true, "refused: a shell's"},
		"a process's output":             {[]string{"bash", "-c", run + " < <(echo x); true"}, true, "refused: a shell's"},
		"a process's input":              {[]string{"bash", "-c", "echo x | tee >(" + run + ") >/dev/null; cat; true"}, true, "refused: a"},
		"a substitution":                 {[]string{"sh", "-c", "echo $(echo x | " + run + ")"}, true, "refused: a shell's"},
		"a group":                        {[]string{"sh", "-c", "{ " + run + "; }; true"}, true, "refused: a shell's"},
		"a subshell":                     {[]string{"sh", "-c", "(" + run + "); true"}, true, "refused: a shell's"},
		"in the background":              {[]string{"sh", "-c", run + " & wait"}, true, "refused: a shell's"},
		"after a command":                {[]string{"sh", "-c", "true && " + run}, true, "refused: a shell's"},
		"by eval":                        {[]string{"sh", "-c", "eval 'echo x | " + run + "'; true"}, true, "refused: a shell's"},
		"by timeout":                     {[]string{"sh", "-c", "echo x | timeout 20 " + run}, true, "refused: a shell's"},
		"by env":                         {[]string{"sh", "-c", "echo x | env A=b " + run}, true, "refused: a shell's"},
		"by nice, nice and a shell":      {[]string{"sh", "-c", "echo x | nice nice sh -c '" + run + "'"}, true, "refused: a shell's"},
		"by xargs":                       {[]string{"sh", "-c", "echo x | xargs -I{} sh -c 'echo {} | " + run + "'"}, true, "refused: a"},
		"an orphan":                      {[]string{"sh", "-c", "(sh -c 'sleep 0.3; exec " + run + "' &) >&1; exec cat"}, true, "refused: a"},
		"an orphan of another session":   {[]string{"sh", "-c", "(setsid sh -c 'sleep 0.3; exec " + run + "' &) >&1; exec cat"}, true, "refused: a"},
		"by find":                        {[]string{"find", dir, "-name", "x.sh", "-exec", hook, "-test.run=TestStarterHelper", ";"}, true, "refused: another program"},
		"by perl":                        {[]string{"perl", "-e", `system("` + run + `")`}, true, "refused: another program"},
		"by perl, through a pipe":        {[]string{"perl", "-e", `open(F, "|` + run + `"); print F "x"`}, true, "refused: another program"},
		"by python":                      {[]string{"python3", "-c", `import subprocess; subprocess.run(["` + hook + `", "-test.run=TestStarterHelper"], input=b"x")`}, true, "refused: another program"},
		"by env and perl":                {[]string{"env", "perl", "-e", `system("` + run + `")`}, true, "refused: another program"},
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
