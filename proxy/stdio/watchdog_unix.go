//go:build unix

package stdio

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdog ends the group when we are killed without a chance to do it: a
// shell that reads from a pipe only we hold. Linux's parent-death signal
// reaches the direct child alone, and npx leaves its server running when it is
// killed. Where there is no /bin/sh it is done without.
type watchdog struct {
	pipe *os.File
	done chan struct{}
}

// watchdogScript is told to leave by a line; the end of the pipe means that we died.
// $0 is the group's id and nothing else comes from outside.
const watchdogScript = `read _ && exit; kill -TERM -"$0"; sleep 1; kill -KILL -"$0"`

// startWatchdog starts the watchdog beside the session, not before it: the client is
// waiting for the server.
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
	// Clients that kill our process group must not take the watchdog along.
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
