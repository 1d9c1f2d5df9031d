package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clawai/clawai/internal/gateway/program"
)

// TestMain makes the test binary play clawai, so that the scripts run the real
// command line in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, programs)
}

// programs are what the test binary plays, by the name it is started under.
var programs = map[string]func(){
	"clawai":         main,
	"clawai-gateway": func() { os.Exit(program.Run(os.Args[1:], "test", os.Stdout, os.Stderr)) },
	"toyserver":      toyServer,
	"parityserver":   parityServer,
	"listserver":     listServer,
	"browser":        browserProgram,
	"fakeclaude":     fakeClaude,
	"mcpclient":      mcpClient,
}

// scriptsIn are the scripts of a folder, with the commands that they have.
func scriptsIn(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "asks": asksInScript, "grants": grantsInScript, "answers": answersInScript, "damages": damagesInScript, "recalls": recallsInScript,
			"shows": shows, "centre": centreInScript, "gateway": gatewayInScript,
		},
		Setup: func(env *testscript.Env) error {
			repo, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			env.Setenv("REPO", repo)
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("USERPROFILE", env.WorkDir+`\home`) // HOME on Windows
			return os.MkdirAll(env.WorkDir+"/home", 0o700)
		},
	}
}

// exits runs a program and demands an exit code: exits CODE PROGRAM ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
