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
type Watchdog struct {
	pipe  *os.File
	done  chan struct{}
	taken bool // a child has it; used only by the goroutine that starts the child
	once  sync.Once
}

// watchdogScript reads the id of the group, then waits for another line and exits. If it reads the
// end of the pipe instead of that line, this process has died. Without a group it only exits.
const watchdogScript = `read group && test "$group" && ! read _ && { kill -TERM -"$group"; sleep 1; kill -KILL -"$group"; }`

// StartWatchdog starts a watchdog for a child that will be started soon (Options.Watchdog). It works
// in another goroutine, so that nothing waits for it. Without a child, call Stop.
func StartWatchdog() *Watchdog {
	var fds [2]int
	if pipeFDs(&fds) != nil {
		return nil
	}
	theirs := os.NewFile(uintptr(fds[0]), "watch")
	w := &Watchdog{pipe: os.NewFile(uintptr(fds[1]), "watch"), done: make(chan struct{})}
	cmd := exec.Command("/bin/sh", "-c", watchdogScript)
	cmd.Args[0] = "clawai-watch"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.Stdin = theirs
	// The watchdog gets its own session, because clients that kill the group of this process must
	// not kill the watchdog.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	go func() {
		defer close(w.done)
		err := cmd.Start()
		_ = theirs.Close()
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return w
}

// watchGroup tells the watchdog which group to end.
func (w *Watchdog) watchGroup(id int) {
	if w != nil {
		w.taken = true
		_, _ = w.pipe.WriteString(strconv.Itoa(id) + "\n") // an error means that there is no shell, and so no watchdog
	}
}

// Stop ends the watchdog itself, and not its group. It may be called again, and for nil.
func (w *Watchdog) Stop() {
	if w == nil {
		return
	}
	w.once.Do(func() {
		if w.taken {
			_, _ = w.pipe.WriteString("\n")
		}
		_ = w.pipe.Close()
		<-w.done
	})
}
