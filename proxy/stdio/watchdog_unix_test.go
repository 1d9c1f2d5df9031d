//go:build unix

package stdio

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The watchdog's script ends its group at the end of the pipe, and every group that it has read. After an
// empty line it ends nothing.
func TestWatchdogScript(t *testing.T) {
	for input, want := range map[string]string{
		"": "-OWN", "99": "-OWN", "99\n": "-99 -OWN", "99\n98\n": "-99 -98 -OWN",
		"\n": "", "\n\n": "", "99\n\n": "", "99\n98\n\n": "",
	} {
		cmd := exec.Command("/bin/sh", "-c", `kill() { echo "kill $*"; }; sleep() { :; }; `+watchdogScript)
		cmd.Stdin = strings.NewReader(input)
		out, _ := cmd.Output() // the exit code says nothing
		if want != "" {
			want = strings.ReplaceAll("kill -TERM "+want+"\nkill -KILL "+want+"\n", "OWN", strconv.Itoa(cmd.Process.Pid))
		}
		if string(out) != want {
			t.Errorf("%q: %q, not %q", input, out, want)
		}
	}
}

// A child has forked, and this process ends before it knows the child's id: the watchdog ends both.
func TestWatchdogKnowsTheGroupBefore(t *testing.T) {
	var g group
	w := StartWatchdog()
	child := exec.Command("/bin/sh", "-c", "sleep 300 & echo $!; wait")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	g.prepareGroup(child, w)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	var forked int
	if _, err := fmt.Fscan(out, &forked); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(forked, syscall.SIGKILL) }()
	_ = w.pipe.Close() // the system does this when this process is killed
	ended := make(chan struct{})
	go func() {
		_, _ = out.Read(make([]byte, 1)) // both have it
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a process of the group still runs")
	}
	w.leave()
	<-w.done
}
