package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/program"
)

// stopPatience is the time that clawai has to write a denial after a signal to stop.
const stopPatience = 1500 * time.Millisecond

// judgeByClawai lets clawai judge the payload. It starts the program clawai in the folder of this
// program. If the output is not an answer of a hook, judgeByClawai returns a denial.
func judgeByClawai(ctx context.Context, line *program.Line, payload []byte) client.Answer {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return program.NewRefusal(*line, "the clawai beside it cannot be found: "+err.Error())
	}
	name := "clawai"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var out, errs bytes.Buffer
	// The program lies in our own folder, and its arguments are those of this process.
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), name), slices.Concat([]string{"hook", program.HeldOption(payload)}, line.Words)...) //nolint:gosec
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopPatience
	err = runWithOpenInput(cmd, payload)
	var exit *exec.ExitError
	code := 0
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		return program.NewRefusal(*line, "clawai, which sees to this call, cannot be run: "+err.Error())
	}
	said := out.Bytes()
	if code != 0 && code != 2 || len(said) > 0 && !json.Valid(said) {
		return program.NewRefusal(*line, "clawai, which sees to this call, did not answer it")
	}
	return client.Answer{Stdout: said, Stderr: errs.Bytes(), Code: code}
}

// runWithOpenInput runs a program and writes payload to its input. The input stays open, so the
// program sees the end of its input only if this process dies.
func runWithOpenInput(cmd *exec.Cmd, payload []byte) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// If the write fails, clawai has not read the whole payload and gives no answer. The caller
	// notices the missing answer, so the error needs no check here.
	go func() { _, _ = in.Write(payload) }()
	return cmd.Wait()
}
