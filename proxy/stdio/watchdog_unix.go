//go:build unix

package stdio

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// Watchdog ends a child's process group if this process is killed and cannot do it itself. It is
// a shell that reads from a pipe. Only this process holds the other end of the pipe. The watchdog
// is needed because Linux's parent-death signal reaches only the direct child, and npx leaves its
// server running when npx is killed. Without /bin/sh there is no watchdog.
//
// The shell leads the group that the child is started in. So it knows the group before the child
// exists, and ends also what the child forks before this process knows the child's id.
type Watchdog struct {
	pipe  *os.File
	ready chan struct{} // closed when the shell runs or cannot be started
	id    int           // id of the shell and of its group; 0 without a shell; valid after ready is closed
	leave func()        // frees the id; called when the child is in the group or will not come; may be called again
	done  chan struct{}
	taken bool // a child has it; used only by the goroutine that starts the child
	once  sync.Once
}

// watchdogScript reads ids of groups, one a line. At an empty line it exits. If it reads the end of
// the pipe instead of that line, this process has died, and the script ends these groups and its
// own. The signals that it ignores are those that a child may send to its group.
const watchdogScript = `trap "" HUP INT QUIT TERM; all=; while read id; do test "$id" || exit 0; all="$all -$id"; done; all="$all -$$"; kill -TERM $all; sleep 1; kill -KILL $all`

// StartWatchdog starts a watchdog for a child that will be started soon (Options.Watchdog). It works
// in another goroutine, so that nothing waits for it. Without a child, call Stop.
func StartWatchdog() *Watchdog {
	var fds [2]int
	if pipeFDs(&fds) != nil {
		return nil
	}
	theirs := os.NewFile(uintptr(fds[0]), "watch")
	left := make(chan struct{})
	w := &Watchdog{
		pipe: os.NewFile(uintptr(fds[1]), "watch"), ready: make(chan struct{}), done: make(chan struct{}),
		leave: sync.OnceFunc(func() { close(left) }),
	}
	cmd := exec.Command("/bin/sh", "-c", watchdogScript)
	cmd.Args[0] = "clawai-watch"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.Stdin = theirs
	// The watchdog is not in the group of this process, because clients that kill that group must
	// not kill the watchdog.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	go func() {
		defer close(w.done)
		err := cmd.Start()
		_ = theirs.Close()
		if err == nil {
			w.id = cmd.Process.Pid
		}
		close(w.ready)
		<-left // until then the group exists, even if somebody kills the shell
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return w
}

// group waits until the shell runs. It returns the id of the shell's group, or 0 without a shell.
func (w *Watchdog) group() int {
	if w == nil {
		return 0
	}
	<-w.ready
	return w.id
}

// watchGroup tells the watchdog a group to end beside its own.
func (w *Watchdog) watchGroup(id int) {
	if w != nil {
		_, _ = w.pipe.WriteString(strconv.Itoa(id) + "\n") // an error means that there is no shell, and so no watchdog
	}
}

// watchChild notes that the child is in the watchdog's group. The child may make a group of its own
// then, as timeout(1) does, so the watchdog watches this too.
func (w *Watchdog) watchChild(id int) {
	if w != nil {
		w.taken = true
		w.watchGroup(id)
		w.leave()
	}
}

// Stop ends the shell and no other process of its group. It may be called again, and for nil.
func (w *Watchdog) Stop() {
	if w == nil {
		return
	}
	w.once.Do(func() {
		w.leave()
		_, _ = w.pipe.WriteString("\n")
		_ = w.pipe.Close()
		<-w.done
	})
}
