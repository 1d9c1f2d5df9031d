package stdio

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that kills what is in it when its last handle closes,
// ours, so that nothing outlives this process however it ends.
type group struct {
	job windows.Handle
}

func (g *group) adopt(p *os.Process) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return os.NewSyscallError("CreateJobObject", err)
	}
	g.job = job
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	var assign error
	err = p.WithHandle(func(handle uintptr) {
		assign = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	return errors.Join(err, os.NewSyscallError("AssignProcessToJobObject", assign))
}

// terminate does nothing: Windows has no polite request for a process without
// a window, and the end of its stdin has been that already.
func (g *group) terminate() {}

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// alive is not asked for what the child started: the job ends it on release.
func (g *group) alive() bool { return false }

func (g *group) release() { _ = windows.CloseHandle(g.job) }

func setProcessAttributes(*exec.Cmd) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// pipeEnd is a pipe handle; Go reads and writes these with blocking calls.
type pipeEnd struct{ f *os.File }

func (e *pipeEnd) Read(p []byte) (int, error) {
	n, err := e.f.Read(p)
	if errors.Is(err, windows.ERROR_BROKEN_PIPE) {
		err = io.EOF
	}
	return n, err
}

func (e *pipeEnd) Write(p []byte) (int, error) { return e.f.Write(p) }

func (e *pipeEnd) close() { _ = e.f.Close() }

func pipe(read bool) (theirs *os.File, ours *pipeEnd, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if read {
		return w, &pipeEnd{r}, nil
	}
	return r, &pipeEnd{w}, nil
}

// Stdin and Stdout are this process's own.
func Stdin() io.Reader { return os.Stdin }

// Stdout is the writer beside Stdin.
func Stdout() io.Writer { return os.Stdout }

// StdoutGone is never closed: a pipe whose reader has gone says so when something is
// written to it.
func StdoutGone() <-chan struct{} { return nil }
