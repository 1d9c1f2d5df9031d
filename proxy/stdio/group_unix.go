//go:build unix

package stdio

import (
	"os"
	"syscall"
)

// group is the process group of the child. It contains all descendants of the child that did not
// change their group.
type group struct {
	id       int
	watchdog *Watchdog
}

func (g *group) adoptProcess(p *os.Process, w *Watchdog) error {
	g.id = p.Pid             // because of Setpgid, the child is the leader of the group
	if w == nil || w.taken { // a cage may need a second attempt to start
		w = StartWatchdog()
	}
	g.watchdog = w
	w.watchGroup(g.id)
	return nil
}

func (g *group) terminateGroup() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

func (g *group) killGroup() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) isAlive() bool { return syscall.Kill(-g.id, 0) == nil }

func (g *group) releaseGroup() { g.watchdog.Stop() }

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// checkArgs returns nil, because on Unix a program gets its arguments unchanged.
func checkArgs(string, []string) error { return nil }
