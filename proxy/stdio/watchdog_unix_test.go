//go:build unix

package stdio

import (
	"os/exec"
	"strings"
	"testing"
)

// The watchdog's script ends a group only if it has read the id of one, and then the end of the pipe.
func TestWatchdogScript(t *testing.T) {
	for input, kills := range map[string]bool{"": false, "\n": false, "\n\n": false, "99": false, "99\n\n": false, "99\n": true} {
		cmd := exec.Command("/bin/sh", "-c", `kill() { echo "kill $*"; }; sleep() { :; }; `+watchdogScript)
		cmd.Stdin = strings.NewReader(input)
		out, _ := cmd.Output() // the exit code says nothing
		want := ""
		if kills {
			want = "kill -TERM -99\nkill -KILL -99\n"
		}
		if string(out) != want {
			t.Errorf("%q: %q, not %q", input, out, want)
		}
	}
}
