package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/testing/slow"
)

type actionFile struct {
	Inputs map[string]struct {
		Description string
		Default     *string
	}
	Runs struct {
		Using string
		Steps []struct {
			Name, If, Shell, Run string
			Uses                 string
			Env                  map[string]string
		}
	}
}

type hook struct {
	ID, Name, Language, Entry, Files string
	Args                             []string
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalWithOptions([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// knows fails when the command line has a command or an option that clawai does
// not have.
func knows(t *testing.T, words []string) {
	t.Helper()
	app := newApp(io.Discard, io.Discard, listCommands())
	cmds, flags := app.Commands, []cli.Flag(nil)
	for i, word := range words {
		switch {
		case word == "--":
			return
		case strings.HasPrefix(word, "--"):
			if cmdline.FlagNamed(flags, strings.TrimPrefix(word, "--")) == nil {
				t.Errorf("%v: there is no %s", words, word)
			}
		case len(cmds) > 0:
			cmd := findCommand(cmds, word)
			if cmd == nil {
				t.Fatalf("%v: there is no command %s", words, strings.Join(words[:i+1], " "))
			}
			cmds, flags = cmd.Subcommands, cmd.Flags
		}
	}
}

func TestHooksExist(t *testing.T) {
	var hooks []hook
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) < 4 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		entry, ours := strings.CutPrefix(h.Entry, "clawai ")
		if !ours || h.Language != "golang" || !strings.HasPrefix(h.ID, "clawai-") {
			t.Errorf("hook %+v", h)
		}
		if re, err := regexp.Compile(h.Files); err != nil || !re.MatchString("policy.toml") || !re.MatchString("agents/policy.toml") || re.MatchString("mypolicy.tomlx") {
			t.Errorf("%s: files %s, %v", h.ID, h.Files, err)
		}
		knows(t, append(strings.Fields(entry), h.Args...))
	}
}

func TestActionNamesWhatExists(t *testing.T) {
	var action actionFile
	readYAML(t, "action.yml", &action)
	call := regexp.MustCompile(`(?m)^"\$RUNNER_TEMP/clawai" (.*?)( [|>&].*)?$`)
	calls := 0
	for _, step := range action.Runs.Steps {
		if step.Uses != "" || step.Shell != "bash" {
			t.Errorf("%s: uses %q, shell %q", step.Name, step.Uses, step.Shell)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s: an expression in a script is a script of whoever sets it", step.Name)
		}
		for _, m := range call.FindAllStringSubmatch(step.Run, -1) {
			calls++
			knows(t, strings.Fields(strings.ReplaceAll(m[1], `"`, "")))
		}
		for _, value := range append([]string{step.If}, values(step.Env)...) {
			for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(value, -1) {
				if in, found := action.Inputs[m[1]]; !found || in.Default == nil {
					t.Errorf("%s: there is no input %s with a default", step.Name, m[1])
				}
			}
		}
	}
	if calls < 6 {
		t.Errorf("only %d calls of clawai are seen", calls)
	}
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// TestActionRuns runs the action's scripts on a pull request as the runner does,
// with a repository whose policy a commit has changed.
func TestActionRuns(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the action runs in bash")
	}
	for _, tool := range []string{"bash", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	const narrow = "[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/work/*\"\n\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
	wide := strings.Replace(narrow, "/work/*", "/work/**", 1)
	const team = "[[rule]]\naction = \"deny\"\ntool = \"drop\"\n"
	pinned := func(team string) string {
		return fmt.Sprintf("extends = [{ file = \"../team.toml\", sha256 = \"%x\" }]\n", sha256.Sum256([]byte(team)))
	}
	type files map[string]string
	const name = "agents/my policy.toml"
	for what, c := range map[string]struct {
		base, head files
		summary    string
	}{
		"a wider glob":                {files{name: narrow}, files{name: wide}, "/work/"},
		"a new policy":                {files{}, files{name: narrow}, "/work/"},
		"a policy that extends files": {files{name: pinned(team) + narrow, "team.toml": team}, files{name: pinned(team+"#") + wide, "team.toml": team + "#"}, "/work/"},
		"a base that does not load":   {files{name: "[[rule]]\n"}, files{name: narrow}, "does not load"},
	} {
		t.Run(what, func(t *testing.T) {
			summary := runAction(t, name, c.base, c.head)
			if !strings.Contains(summary, c.summary) {
				t.Errorf("summary %q, not with %q", summary, c.summary)
			}
		})
	}
}

// runAction commits files, changes some and runs every step; it gives the summary.
func runAction(t *testing.T, policy string, base, head map[string]string) string {
	t.Helper()
	repo, temp := t.TempDir(), t.TempDir()
	self, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(temp, "clawai")); err != nil {
		t.Fatal(err)
	}
	run := func(env []string, script string) (string, error) {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary.md"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	put := func(files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(base)
	put(map[string]string{"agents/fixtures/read.json": `{"method":"tools/call","params":{"name":"read","arguments":{"path":"/work/a"}},"expected":"allow"}`})
	commit, err := run(nil, "git init -q . && git add . && git commit -qm base && git rev-parse HEAD")
	if err != nil {
		t.Fatal(commit)
	}
	put(head)

	var action actionFile
	readYAML(t, "action.yml", &action)
	with := map[string]string{"inputs.policy": policy, "inputs.fixture-dir": "agents/fixtures",
		"inputs.severity": "error", "inputs.mutate-min": "10", "github.event.pull_request.base.sha": strings.TrimSpace(commit)}
	expression := regexp.MustCompile(`^\$\{\{ (.*) \}\}$`)
	for _, step := range action.Runs.Steps[1:] { // the first builds what is here already
		var env []string
		for name, value := range step.Env {
			m := expression.FindStringSubmatch(value)
			if m == nil || with[m[1]] == "" {
				t.Fatalf("%s: %s is %s", step.Name, name, value)
			}
			env = append(env, name+"="+with[m[1]])
		}
		if out, err := run(env, step.Run); err != nil {
			t.Errorf("%s: %v\n%s", step.Name, err, out)
		}
	}
	summary, err := os.ReadFile(filepath.Join(temp, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(summary)
}
