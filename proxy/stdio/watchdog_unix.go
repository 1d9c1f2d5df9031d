//go:build unix

package stdio

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdog ends the child's process group when this process is killed and cannot end the group
// itself. It is a shell that reads from a pipe whose other end only this process holds. Linux's
// parent-death signal reaches only the direct child, and npx leaves its server running when it is
// killed. Without /bin/sh there is no watchdog.
type watchdog struct {
	pipe *os.File
	done chan struct{}
}

// watchdogScript exits when it reads a line. The end of the pipe means that this process died. $0
// is the group's id, the only value from outside.
const watchdogScript = `read _ && exit; kill -TERM -"$0"; sleep 1; kill -KILL -"$0"`

// startWatchdog starts the watchdog in parallel, because the client is waiting for the server.
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
	// Clients that kill this process's group must not kill the watchdog.
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
