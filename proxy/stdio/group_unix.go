//go:build unix

package stdio

import (
	"os"
	"os/exec"
	"syscall"
)

// group holds the process groups that may contain the child and its descendants. These are the group
// that the watchdog leads and in which the child starts, and the group that the child leads if it makes
// one itself. Without a watchdog the child always leads a group. A descendant that changes its group
// is in neither.
type group struct {
	ids      []int
	watchdog *Watchdog
}

// prepareGroup makes the command start in the group of the watchdog w. If w already has a child or is
// nil, it starts another watchdog.
func (g *group) prepareGroup(cmd *exec.Cmd, w *Watchdog) {
	if w == nil || w.taken { // a cage may need a second attempt to start
		w = StartWatchdog()
	}
	g.watchdog = w
	joined := w.group()
	if joined != 0 {
		g.ids = append(g.ids, joined)
	}
	setProcessAttributes(cmd, joined)
}

// abandonGroup is called instead of adoptProcess if the command could not be started. The caller
// still has w.
func (g *group) abandonGroup(w *Watchdog) {
	if g.watchdog != w {
		g.watchdog.Stop()
	}
}

func (g *group) adoptProcess(p *os.Process) error {
	g.ids = append(g.ids, p.Pid)
	g.watchdog.watchChild(p.Pid)
	return nil
}

// expelWatchdog starts another watchdog outside the group and ends the one inside. After that an empty
// group means that the child and its descendants have ended.
func (g *group) expelWatchdog() {
	outside := StartWatchdog()
	for _, id := range g.ids {
		outside.watchGroup(id)
	}
	outside.group() // waits until it runs
	g.watchdog.Stop()
	g.watchdog = outside
}

// signalGroup reports whether there was a process to signal.
func (g *group) signalGroup(s syscall.Signal) (found bool) {
	for _, id := range g.ids {
		found = syscall.Kill(-id, s) == nil || found
	}
	return found
}

func (g *group) terminateGroup() { g.signalGroup(syscall.SIGTERM) }

func (g *group) killGroup() { g.signalGroup(syscall.SIGKILL) }

func (g *group) isAlive() bool { return g.signalGroup(0) }

func (g *group) releaseGroup() { g.watchdog.Stop() }

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// checkArgs returns nil, because on Unix a program gets its arguments unchanged.
func checkArgs(string, []string) error { return nil }
