//go:build unix

package stdio

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdog ends the child's process group if this process is killed and cannot do it itself. It is
// a shell that reads from a pipe. Only this process holds the other end of the pipe. The watchdog
// is needed because Linux's parent-death signal reaches only the direct child, and npx leaves its
// server running when npx is killed. Without /bin/sh there is no watchdog.
type watchdog struct {
	pipe *os.File
	done chan struct{}
}

// watchdogScript exits when it reads a line. If it reads the end of the pipe instead, this process
// has died. $0 is the id of the group, the only value from outside.
const watchdogScript = `read _ && exit; kill -TERM -"$0"; sleep 1; kill -KILL -"$0"`

// startWatchdog starts the watchdog in another goroutine, because the client is waiting for the
// server.
func startWatchdog(group int) *watchdog {
	var fds [2]int
	if pipeFDs(&fds) != nil {
		return nil
	}
	theirs := os.NewFile(uintptr(fds[0]), "watch")
	w := &watchdog{pipe: os.NewFile(uintptr(fds[1]), "watch"), done: make(chan struct{})}
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, strconv.Itoa(group))
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

func (w *watchdog) stopWatchdog() {
	if w == nil {
		return
	}
	_, _ = w.pipe.WriteString("\n")
	_ = w.pipe.Close()
	<-w.done
}
