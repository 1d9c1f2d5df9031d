package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/hosts"
)

// Exit codes for a server that could not be started. They are those of shells and of env(1).
const (
	CodeNotExecutable = 126
	CodeNotFound      = 127
)

// Options holds the command to start and its environment.
type Options struct {
	Args   []string   // the command and its arguments; at least one
	Env    []string   // environment of the child; nil means that of this process
	Dir    string     // folder of the child; "" means that of this process
	Stderr *os.File   // stderr of the child, which inherits it; nil means that the output is discarded
	Cage   *cage.Plan // the child's sandbox; nil means none
	// Watchdog was started before, so that it does not compete with the server's start. Start starts
	// one if it is nil. The child stops it when it ends; after an error the caller stops it.
	Watchdog *Watchdog
	// Refused is called for each host that the server asks for and the cage refuses. It may be nil.
	Refused func(hosts.Refusal)
}

// StartError is the reason why the server was not started, and the exit code for this reason.
type StartError struct {
	Code int
	Name string
	Err  error

	before bool // the helper of the cage could not be started in separate namespaces
}

func (e *StartError) Error() string {
	switch {
	case errors.Is(e.Err, exec.ErrDot):
		return fmt.Sprintf("cannot start %q: it is in the current folder, which is not searched; write ./%s", e.Name, e.Name)
	case errors.Is(e.Err, exec.ErrNotFound):
		return fmt.Sprintf("cannot start %q: no such command in PATH", e.Name)
	}
	return fmt.Sprintf("cannot start %q: %v", e.Name, stripExecPath(e.Err))
}

func (e *StartError) Unwrap() error { return e.Err }

// stripExecPath removes "fork/exec PATH:" from an error, because the text already has the name.
func stripExecPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func startError(name string, err error) error {
	code := CodeNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = CodeNotFound
	}
	return &StartError{Code: code, Name: name, Err: err}
}

// AskSystem makes Go's runtime find out now what the system offers for child processes. The runtime
// does this only once, and it starts a process of its own for it. Without AskSystem, the runtime
// does this when the first child is started.
func AskSystem() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
}

// Start starts the command. Every error is a *StartError and means that no process is left.
func Start(o Options) (*Child, error) {
	if len(o.Args) == 0 {
		return nil, &StartError{Code: CodeNotFound, Err: errors.New("no command given")}
	}
	if o.Cage != nil {
		return startCaged(o)
	}
	return startCommand(exec.Command(o.Args[0], o.Args[1:]...), o)
}

// startCommand starts cmd, which was made from the options.
func startCommand(cmd *exec.Cmd, o Options) (*Child, error) {
	cmd.Env, cmd.Dir = o.Env, o.Dir
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr // an *os.File is inherited and not copied
	}
	if cmd.Err != nil {
		return nil, startError(o.Args[0], cmd.Err)
	}
	if err := checkArgs(cmd.Path, cmd.Args[1:]); err != nil {
		return nil, startError(o.Args[0], err)
	}
	in, out, err := makePipes(cmd)
	if err != nil {
		return nil, startError(o.Args[0], err)
	}
	c := &Child{cmd: cmd, in: in, out: out, done: make(chan struct{}), reaped: make(chan struct{}), drained: make(chan struct{})}
	started := make(chan error)
	go c.runProcess(o.Watchdog, started)
	if err := <-started; err != nil {
		<-c.reaped
		return nil, startError(o.Args[0], err)
	}
	return c, nil
}

// runProcess starts the child and waits for it, both on one locked thread. The reason is that Linux
// sends the parent-death signal when the thread that forked ends, not when the process ends
// (prctl(2), PR_SET_PDEATHSIG).
func (c *Child) runProcess(w *Watchdog, started chan<- error) {
	defer close(c.reaped)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.group.prepareGroup(c.cmd, w)
	err := c.cmd.Start()
	c.closeChildEnds()
	if err != nil {
		c.group.abandonGroup(w)
		c.in.closeEnd()
		c.out.closeEnd()
		started <- err
		return
	}
	if err := c.group.adoptProcess(c.cmd.Process); err != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.in.closeEnd()
		c.out.closeEnd()
		started <- fmt.Errorf("could not take charge of the process: %w", err)
		return
	}
	started <- nil
	_ = c.cmd.Wait() // the error is ignored, because ProcessState holds the result
	close(c.done)
}
