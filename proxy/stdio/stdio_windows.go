package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. It kills its processes when its last handle is closed. Only this process
// has a handle, so no process of the job outlives this process. The child is started suspended. It
// is resumed when it is in the job, so that the child's own processes are in the job too.
type group struct {
	job windows.Handle
}

func (g *group) adoptProcess(p *os.Process) error {
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
	var in error
	err = p.WithHandle(func(handle uintptr) {
		if in = os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(job, windows.Handle(handle))); in == nil {
			in = resumeProcess(windows.Handle(handle))
		}
	})
	return errors.Join(err, in)
}

// Watchdog is not needed on Windows, because a job object ends its processes.
type Watchdog struct{}

// StartWatchdog returns nil.
func StartWatchdog() *Watchdog { return nil }

// Stop does nothing.
func (*Watchdog) Stop() {}

// ntResumeProcess resumes all threads of a process. It is used because ResumeThread needs the
// handle of the first thread, which os/exec closes.
var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

func resumeProcess(process windows.Handle) error {
	if err := ntResumeProcess.Find(); err != nil {
		return err
	}
	if status, _, _ := ntResumeProcess.Call(uintptr(process)); status != 0 {
		return os.NewSyscallError("NtResumeProcess", windows.NTStatus(status))
	}
	return nil
}

// abandonGroup does nothing, because a job is made only for a process.
func (g *group) abandonGroup(*Watchdog) {}

// expelWatchdog does nothing, because a job needs no watchdog.
func (g *group) expelWatchdog() {}

// terminateGroup does nothing. On Windows a process without a window cannot be asked to end, and
// stdin is closed already.
func (g *group) terminateGroup() {}

func (g *group) killGroup() { _ = windows.TerminateJobObject(g.job, 1) }

// isAlive returns false, because no wait is needed: releaseGroup ends all processes of the job.
func (g *group) isAlive() bool { return false }

func (g *group) releaseGroup() { _ = windows.CloseHandle(g.job) }

// prepareGroup also puts the child into its own process group. So only this process gets a
// Ctrl-C, and it then closes the child's input. Otherwise a batch file in the group would get it
// too, and would ask whether to end.
func (g *group) prepareGroup(cmd *exec.Cmd, _ *Watchdog) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
}

// checkArgs refuses some arguments of a batch file (npx is npx.cmd). Windows starts cmd.exe for a
// batch file, and cmd.exe would interpret these arguments itself. No quoting is safe
// (CVE-2024-24576).
func checkArgs(path string, args []string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cmd", ".bat":
	default:
		return nil
	}
	for _, arg := range args {
		if at := strings.IndexAny(arg, "\"%!^&|<>\r\n"); at >= 0 {
			return fmt.Errorf("%s is a batch file, and cmd.exe reads %q in its argument %q as its own; start the program that it runs, as node with its script", filepath.Base(path), arg[at:at+1], arg)
		}
	}
	return nil
}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// pipeEnd is a handle of a pipe. Go reads and writes such a handle with blocking calls.
type pipeEnd struct{ f *os.File }

func (e *pipeEnd) Read(p []byte) (int, error) {
	n, err := e.f.Read(p)
	if errors.Is(err, windows.ERROR_BROKEN_PIPE) {
		err = io.EOF
	}
	return n, err
}

func (e *pipeEnd) Write(p []byte) (int, error) { return e.f.Write(p) }

// closeEnd closes the handle at once, or when the running call has returned. It does not wait for
// this. os.File cancels a pending operation only once, and a goroutine that has locked the file but
// has not yet made the system call would not notice the cancellation.
func (e *pipeEnd) closeEnd() {
	go func() { _ = e.f.Close() }()
}

func newPipe(read bool) (theirs *os.File, ours *pipeEnd, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if read {
		return w, &pipeEnd{r}, nil
	}
	return r, &pipeEnd{w}, nil
}

// Stdin returns this process's standard input. It cannot be closed, because at a console Close
// would wait until a person types a line.
func Stdin() io.Reader { return struct{ io.Reader }{os.Stdin} }

// Stdout returns this process's standard output.
func Stdout() io.Writer { return os.Stdout }

// StdoutGone returns nil, because on Windows only a write shows that the reader of a pipe is gone.
func StdoutGone() <-chan struct{} { return nil }
