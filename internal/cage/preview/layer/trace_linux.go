package layer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/preview/report"
)

// Limits of a command, in addition to Spec.Time and Spec.Bytes.
const (
	maxTasks    = 1024 // processes and threads at a time
	maxPrograms = 100  // programs in the list
	maxOutput   = 4 << 10
	maxReport   = 64 << 10
	memoryEvery = 20 * time.Millisecond
)

// command is the state of the running command and of all processes that it has started.
type command struct {
	r     *runner
	main  int
	tasks map[int]bool
	shown bool        // the command's own program has been started
	ended atomic.Bool // the command's first process has ended
	full  bool        // watch has found the layers full at some time
	why   atomic.Pointer[string]
}

// runCommand runs the command in a cage. If the command still runs at the time in the parameter
// until, it is killed. runCommand returns when all processes of the command have ended.
func (r *runner) runCommand(until time.Time) error {
	c := &command{r: r, tasks: map[int]bool{}}
	output, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	said, reports, err := os.Pipe()
	if err != nil {
		return err
	}
	if err := c.start(theirs, reports); err != nil {
		return fmt.Errorf("cannot start the cage: %w", err)
	}
	_, _ = theirs.Close(), reports.Close()
	var tasks sync.WaitGroup
	var last tail
	var text []byte
	tasks.Go(func() { _, _ = io.Copy(&last, output) })
	tasks.Go(func() { text, _ = io.ReadAll(io.LimitReader(said, maxReport)) })
	over := make(chan struct{})
	tasks.Go(func() { c.watch(over, until) })
	status, left := c.trace()
	close(over)
	tasks.Wait()
	if fault := r.readFault(text); fault != "" {
		return errors.New(fault)
	}
	r.result.Full = c.full
	r.result.Code, r.result.Left, r.result.Output = status.ExitStatus(), left, last.String()
	switch why := c.why.Load(); {
	case why != nil:
		r.result.Ended, r.result.Code = *why, 0
	case status.Signaled():
		r.result.Ended, r.result.Code = report.BySignal, int(status.Signal())
	}
	return nil
}

// readFault returns the reason why the cage was not built or the command was not started.
func (r *runner) readFault(text []byte) string {
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var said confine.Report
		switch err := lines.Decode(&said); {
		case err != nil:
			return "the report of the cage cannot be read: " + err.Error()
		case said.Fault != "" && said.Code != confine.ExitFault:
			return r.spec.Command[0] + ": " + said.Fault
		case said.Fault != "":
			return said.Fault
		}
	}
	return ""
}

// tail is a writer that keeps only the last maxOutput bytes.
type tail struct{ text []byte }

func (t *tail) Write(more []byte) (int, error) {
	t.text = append(t.text, more...)
	if extra := len(t.text) - maxOutput; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(more), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.text), "\uFFFD") }

// start starts the helper of cages, which becomes the command.
func (c *command) start(output, reports *os.File) error {
	spec := confine.Spec{
		Enforce: true, Own: true, Forks: true, Layered: true, Program: c.r.spec.Command[0],
		Read: []string{"/"}, Env: c.r.spec.Env, Keep: c.r.spec.Keep,
	}
	for _, l := range c.r.layers {
		spec.Write = append(spec.Write, l.folder)
	}
	text, err := confine.EncodeSpec(&spec)
	if err != nil {
		return err
	}
	nothing, err := os.Open("/dev/null")
	if err != nil {
		return err
	}
	defer nothing.Close()
	setLimits(c.r.spec.Bytes)
	words := slices.Concat(os.Args[:1], c.r.spec.Helper, []string{text}, c.r.spec.Command)
	attr := &syscall.ProcAttr{
		Dir: c.r.spec.Dir, Env: os.Environ(), Files: []uintptr{nothing.Fd(), output.Fd(), output.Fd(), reports.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, Ptrace: true},
	}
	if c.main, err = syscall.ForkExec("/proc/self/exe", words, attr); err != nil { // an error may mean that the system forbids tracing
		c.r.result.Untraced, attr.Sys.Ptrace = true, false
		if c.main, err = syscall.ForkExec("/proc/self/exe", words, attr); err != nil {
			return err
		}
	}
	c.tasks[c.main] = true
	if c.r.result.Untraced {
		return nil
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.main, &status, syscall.WALL, nil); err != nil || !status.Stopped() {
		return errors.Join(err, errors.New("its first process did not start"))
	}
	const events = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE
	if err := syscall.PtraceSetOptions(c.main, events); err != nil {
		return err
	}
	return syscall.PtraceCont(c.main, 0)
}

// setLimits limits each process of the command. watch limits all of them together.
func setLimits(bytes int64) {
	for what, limit := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(bytes), unix.RLIMIT_DATA: 4 * uint64(bytes), unix.RLIMIT_NPROC: 2 * maxTasks} { //nolint:gosec // the limit is a positive number
		_ = unix.Setrlimit(what, &unix.Rlimit{Cur: limit, Max: limit})
	}
}

// trace waits until all processes of the command have ended. It returns the exit status of the first
// process, and how many other processes still ran when it ended.
func (c *command) trace() (main syscall.WaitStatus, left int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return main, left // no process is left
		case status.Stopped():
			c.goOn(pid, status)
		default:
			delete(c.tasks, pid)
			if pid == c.main {
				main = status
				left = c.countProcesses()
				c.ended.Store(true)
				_ = unix.Kill(-1, unix.SIGKILL)
			}
		}
	}
}

// goOn continues a process that has stopped for the trace.
func (c *command) goOn(pid int, status syscall.WaitStatus) {
	signal := int(status.StopSignal())
	switch {
	case status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		c.noteProgram(pid)
		signal = 0
	case status.StopSignal() == unix.SIGTRAP && status.TrapCause() >= 0:
		signal = 0
	case !c.tasks[pid] && status.StopSignal() == unix.SIGSTOP: // a new process starts with this stop
		signal = 0
	}
	c.tasks[pid] = true
	if len(c.tasks) > maxTasks {
		c.end(report.ByPrograms)
	}
	_ = syscall.PtraceCont(pid, signal) // an error means that the process has ended
}

// end kills all processes of the command. The parameter why is one of the reasons in package
// report.
func (c *command) end(why string) {
	c.why.CompareAndSwap(nil, &why)
	_ = unix.Kill(-1, unix.SIGKILL)
}

// noteProgram adds the program that a process now executes to the result. It skips the first
// program, because that is the command itself.
func (c *command) noteProgram(pid int) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return
	}
	if !c.shown {
		c.shown = true
		return
	}
	all := &c.r.result
	all.Started++
	if !slices.Contains(all.Programs, program) && len(all.Programs) < maxPrograms {
		all.Programs = append(all.Programs, program)
	}
}

// countProcesses returns how many other processes run in the namespace.
func (c *command) countProcesses() (n int) {
	for _, path := range findProcesses() {
		text, err := os.ReadFile(filepath.Join(path, "stat"))
		if _, after, found := strings.Cut(string(text), ") "); err == nil && found && after[0] != 'Z' && after[0] != 'X' {
			n++
		}
	}
	return n
}

// findProcesses returns the folders in /proc of all processes except this one (process 1).
func findProcesses() (all []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	return slices.DeleteFunc(paths, func(path string) bool { return path == "/proc/1" })
}

// watch ends the command when its time, its memory or its number of processes is used up. The kernel
// cannot limit these for a group of processes of a user without capabilities.
func (c *command) watch(over <-chan struct{}, until time.Time) {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	late := time.After(time.Until(until))
	for {
		select {
		case <-over:
			return
		case <-late:
			c.end(report.ByTime)
			late = nil
		case <-tick.C:
			c.full = c.full || c.r.layers[0].isFull() // one layer is enough, because all layers share their memory; full stays true, although deleting files frees memory
			switch {                                  // the limits also count processes that could not be traced
			case c.why.Load() != nil || c.ended.Load():
				_ = unix.Kill(-1, unix.SIGKILL)
			case len(findProcesses()) > maxTasks:
				c.end(report.ByPrograms)
			case countMemory() > c.r.spec.Bytes:
				c.end(report.ByMemory)
			}
		}
	}
}

// countMemory returns the memory of all processes except this one, in bytes.
func countMemory() (n int64) {
	for _, path := range findProcesses() {
		text, err := os.ReadFile(filepath.Join(path, "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			var pages int64
			if name, value, _ := strings.Cut(line, ":"); name == "RssAnon" || name == "RssShmem" {
				_, _ = fmt.Sscanf(value, "%d kB", &pages)
				n += pages << 10
			}
		}
	}
	return n
}
