//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestTheServersExitCodeIsOurs(t *testing.T) {
	r := launchProxy(t)
	r.call("1", "hang")
	r.call("2", "die")
	for range 2 {
		if got := r.next(); !strings.Contains(got, `"error":{"code":4502`) || !strings.Contains(got, "exit code 3") {
			t.Errorf("in flight when the server ended: %s", got)
		}
	}
	if code := r.code(patience); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	r.quiet()
}

func TestAKilledServer(t *testing.T) {
	r := launchProxy(t)
	r.call("1", "hang")
	for !strings.Contains(r.read("heard"), "hang") {
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(r.child(), syscall.SIGKILL)
	if got := r.next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "killed by signal 9") {
		t.Errorf("in flight when the server was killed: %s", got)
	}
	if code := r.code(patience); code != 128+9 {
		t.Errorf("exit code %d, want 137", code)
	}
}

func TestAClientThatGoesAway(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, args := range [][]string{nil, {"-deaf"}} {
		r := launchProxy(t, args...)
		_ = r.in.Close()
		if code := r.code(patience); code != 0 {
			t.Errorf("%v: exit code %d, want 0", args, code)
		}
		r.gone(patience)
		r.quiet()
	}
}

// TestAServerThatTidiesUp: servers of npm need half a second to end by themselves, and
// their clients give them two.
func TestAServerThatTidiesUp(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	code := 0
	for range 3 { // a machine that stands still for a second now does not always
		r := launchProxy(t, "-tidies", "700ms")
		_ = r.in.Close()
		if code = r.code(patience); code == 7 {
			return
		}
	}
	t.Errorf("exit code %d, want the server's own: it was not left the time to end", code)
}

// TestAClientThatWillNotWait: who sends a signal after closing our input kills us soon.
func TestAClientThatWillNotWait(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	took := time.Hour
	for range 3 {
		r := launchProxy(t, "-deaf")
		began := time.Now()
		_ = r.in.Close()
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		if code := r.code(patience); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		if took = min(took, time.Since(began)); took < 2*time.Second {
			return
		}
	}
	t.Errorf("the end took %v; clients kill us two seconds after SIGTERM", took)
}

// TestAClientThatReadsNoMore has closed our output alone; what it says still comes in.
func TestAClientThatReadsNoMore(t *testing.T) {
	for name, say := range map[string]func(*running){
		"and says nothing": func(*running) {},
		"and calls":        func(r *running) { r.call("1", "hello") },
	} {
		t.Run(name, func(t *testing.T) {
			r := launchProxy(t)
			_ = r.unread.Close()
			say(r)
			if code := r.code(patience); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			r.gone(patience)
			r.quiet()
			r.recorded(event.End, "")
		})
	}
}

func TestSignalsStopEverything(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		r := launchProxy(t, "-deaf")
		_ = r.cmd.Process.Signal(sig)
		if code := r.code(patience); code != 0 {
			t.Errorf("%v: exit code %d, want 0", sig, code)
		}
		r.gone(patience)
	}
}

func TestAKilledProxyLeavesNobody(t *testing.T) {
	for _, args := range [][]string{nil, {"-deaf"}} {
		r := launchProxy(t, args...)
		_ = r.cmd.Process.Kill()
		<-r.exited
		r.gone(patience)
	}
}

// When the disk is full every call is answered, and none that is not on record
// reaches the server.
func TestAFullDisk(t *testing.T) {
	r := prepare(t)
	args := append([]string{"-c", `ulimit -f 64; exec "$0" "$@"`, r.cmd.Path}, r.cmd.Args[1:]...)
	r.cmd = exec.Command("/bin/sh", args...)
	r.start()
	const n = 200
	refused := 0
	for i := range n {
		r.call(strconv.Itoa(i), "hello")
		switch got := r.next(); {
		case strings.Contains(got, "record_failed"):
			refused++
		case !strings.Contains(got, `"result":{"content":[]}`):
			t.Fatalf("call %d: %s", i, got)
		}
	}
	if refused == 0 || refused == n {
		t.Fatalf("%d of %d refused: the disk was not full half way", refused, n)
	}
	_ = r.in.Close()
	r.code(patience)
	heard := strings.Count(r.read("heard"), "tools/call")
	if recorded := len(r.records(event.Decision)); heard > recorded {
		t.Errorf("the server heard %d calls, the record has %d", heard, recorded)
	}
}

// A state folder that cannot be written is found before the server starts.
func TestAStateFolderThatCannotBeUsed(t *testing.T) {
	for _, mode := range []os.FileMode{0o500, 0o000} {
		t.Run(mode.String(), func(t *testing.T) { cannotUseState(t, mode) })
	}
}

func cannotUseState(t *testing.T, mode os.FileMode) {
	r := prepare(t)
	if err := os.Mkdir(r.path("state"), mode); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // to whom modes mean nothing: be somebody else
		const nobody = 65534
		for _, path := range []string{r.dir, r.path("state"), r.path("policy.toml")} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		reachable(t, r.dir)
		reachable(t, r.cmd.Path)
	}
	r.start()
	if code := r.code(patience); code != 125 {
		t.Errorf("exit code %d, want 125", code)
	}
	if text := r.read("stderr"); strings.Count(text, "\n") != 1 || !strings.Contains(text, r.path("state")) || strings.Contains(text, "trust.json") {
		t.Errorf("stderr is not one line with the path: %q", text)
	}
	if r.read("pid") != "" {
		t.Error("the server was started")
	}
}

// reachable lets everybody pass the temporary folders on the way to path.
func reachable(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != "/" && strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
			t.Fatal(err)
		}
	}
}

func TestThePolicyIsFollowed(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	r := launchProxy(t)
	calls := 0
	call := func() string {
		calls++
		r.call(strconv.Itoa(calls), "hello")
		return r.next()
	}
	if err := os.Remove(r.path("policy.toml")); err != nil {
		t.Fatal(err)
	}
	r.recorded(event.Policy, "policy_kept")
	if got := call(); !strings.Contains(got, `"content":[]`) {
		t.Errorf("after the policy was deleted: %s", got)
	}
	r.write("policy.toml", "[[rule]]\naction = \"deny\"\ntool = \"*\"\n")
	r.recorded(event.Policy, "policy_loaded")
	if got := call(); !strings.Contains(got, "denied_by_rule") {
		t.Errorf("after the policy was changed: %s", got)
	}
	r.write("policy.toml", "[[rule]\n")
	for kept := 0; kept < 2; {
		kept = 0
		for _, e := range r.records(event.Policy) {
			if e.Code == "policy_kept" {
				kept++
			}
		}
	}
	if got := call(); !strings.Contains(got, "denied_by_rule") {
		t.Errorf("after the policy was broken: %s", got)
	}
	r.quiet()
}

// A state folder that is deleted under a running proxy takes its records with it, and
// no call of the time after.
func TestAStateFolderThatIsDeleted(t *testing.T) {
	r := launchProxy(t)
	for os.RemoveAll(r.path("state")) != nil { // something may be put into it meanwhile
	}
	time.Sleep(10 * time.Millisecond) // a record just before it may stand for the next millisecond
	for i := range 3 {
		r.call(strconv.Itoa(i+1), "hello")
		if got := r.next(); !strings.Contains(got, `"result"`) {
			t.Fatalf("call %d: %s", i, got)
		}
	}
	_ = r.in.Close()
	r.code(inTime)
	if n := len(r.records(event.Decision)); n != 3 {
		t.Errorf("%d of 3 calls are on record", n)
	}
	told := 0
	for _, e := range r.records(event.Upkeep) {
		if strings.Contains(e.Detail, "was removed, moved or cut short while it was in use") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the record says %d times that it was removed", told)
	}
	if report, err := audit.Verify(r.path("state/audit"), "", audit.Retention{}); err != nil || report.IsIntact() {
		t.Errorf("%v, the loss is not found: %+v", err, report)
	}
}

// A question that waits when the state folder is deleted is answered by nobody, and the
// next ones are asked as if there had been no other.
func TestQuestionsOutliveAStateFolder(t *testing.T) {
	slow.Test(t) // the queue looks for its folder every 5 s
	t.Parallel()
	r := prepare(t)
	r.write("policy.toml", "[[rule]]\naction = \"prompt\"\ntool = \"write\"\n")
	r.start()
	write := func(id int, path string) {
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{"path":%q}}}`+"\n", id, path)
	}
	for id := 1; id < 6; id += 2 {
		path := "/srv/" + strconv.Itoa(id)
		write(id, path)
		if out, err := r.clawai("decide", r.waiting(1)[path], "approve"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := r.next(); !strings.Contains(got, `"result":{"content":[]}`) {
			t.Fatalf("call %d: %s", id, got)
		}
		write(id+1, "/srv/lost")
		r.waiting(1)
		for os.RemoveAll(r.path("state")) != nil { // something may be put into it meanwhile
		}
		if got := r.next(); !strings.Contains(got, `"decision":"deny"`) {
			t.Fatalf("call %d: %s", id+1, got)
		}
	}
	_ = r.in.Close()
	r.code(inTime)
}
