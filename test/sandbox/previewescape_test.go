//go:build linux

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/preview"
	"github.com/clawai/clawai/internal/cage/preview/report"
	"github.com/clawai/clawai/internal/testing/slow"
)

// stayOpen are the attempts that lead somewhere in a preview: into layers, or to what may be read.
// hardlink-hidden reads what write-env has written.
var stayOpen = strings.Fields(`read-file list-home list-tmp
	write-file write-shell create-shell create-tmp mkdir delete truncate rename-in rename-out create-autostart
	chmod fchmodat2 utimes setxattr chown
	write-env rename-env hardlink-hidden create-hook write-hook write-git-config move-hooks move-git write-vscode
	preload`)

// A hostile command makes every attempt to leave that servers make, and what it finds open is only
// what a preview forgets. The first process of the namespace, which keeps the layers, is attacked as
// the one that started it.
func TestPreviewHolds(t *testing.T) {
	for _, first := range []bool{false, true} {
		s := newSite(t)
		y := &yard{t: t, home: s.Home, project: s.Box}
		outside := s.world
		if first {
			outside.Parent = 1
		}
		as, err := json.Marshal(outside)
		if err != nil {
			t.Fatal(err)
		}
		before, connected := y.look(), s.countAll()
		r := preview.Run(t.Context(), preview.Options{
			Wait: time.Minute, Text: `"$OWN" hostile "$WORLD" >all; grep -c . all >count; grep '"Open":true' all >open`, Dir: s.Box, Home: s.Home, Listed: 1 << 20,
			Own: []string{filepath.Dir(s.Policy), filepath.Dir(s.Record)},
			Env: append(os.Environ(), "OWN="+s.Own, "WORLD="+string(as), "HOME="+s.Home, "CAGE_TEST_TOKEN=secret", "LD_PRELOAD="),
		})
		if r.Fault != "" || r.Ended != "" {
			t.Fatalf("%q %q %s", r.Fault, r.Ended, r.Output)
		}
		if now := y.look(); !equalLooks(before, now) {
			t.Errorf("it has changed:\n%s", strings.Join(differ(before, now), "\n"))
		}
		if n := s.countAll() - connected; n != 0 {
			t.Errorf("%d connections arrived outside", n)
		}
		if made := strings.TrimSpace(after(r, filepath.Join(s.Box, "count"))); made != strconv.Itoa(countAttempts()) {
			t.Errorf("%s of %d attempts were made: %s", made, countAttempts(), r.Output)
		}
		for line := range strings.Lines(after(r, filepath.Join(s.Box, "open"))) {
			var o outcome
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if !slices.Contains(stayOpen, o.Name) {
				t.Errorf("attacking process %d: %s is open", outside.Parent, o.Name)
			}
		}
		if len(r.Hosts) == 0 {
			t.Error("the hosts that it asked for were not seen")
		}
	}
}

func countAttempts() (n int) {
	for _, a := range attempts() {
		if a.about != "" {
			n++
		}
	}
	return n
}

// after returns what a file would hold.
func after(r *report.Result, path string) string {
	for i := range r.Changes {
		if r.Changes[i].Path == path {
			return r.Changes[i].After
		}
	}
	return ""
}

// hostileCommand is a command that wants more than a preview gives, and what is said of it.
type hostileCommand struct {
	name, text string
	ended      string
	says       func(r *report.Result) bool
}

var hostileCommands = []hostileCommand{
	{"fork bomb", `b() { b | b & }; b; sleep 9`, "", func(r *report.Result) bool { return r.Ended == report.ByPrograms || r.Ended == report.ByTime }},
	{"forks that let go", `for i in $(seq 2000); do (setsid sleep 9 >/dev/null 2>&1 &) ; done; sleep 9`, "", func(r *report.Result) bool { return r.Ended == report.ByPrograms || r.Ended == report.ByTime }},
	{"full disk", `head -c 900M /dev/zero >big; echo ok >small`, "", func(r *report.Result) bool { return r.Full || r.Ended == report.ByTime }},
	{"unlinked files", `for i in 1 2 3 4; do exec {f}>x$i; rm x$i; head -c 200M /dev/zero >&$f; done; echo done`, "", func(r *report.Result) bool { return r.Full || r.Ended == report.ByTime }},
	{"many files", `i=0; while :; do i=$((i+1)); : >f$i; done`, report.ByTime, func(r *report.Result) bool { return r.Unlisted > 0 || r.Unread }},
	{"memory", `"$OWN" grab 4000`, "", isBounded},
	{"memory of many", `for i in 1 2 3 4 5 6; do "$OWN" grab 150 & done; wait`, "", isBounded},
	{"memory without a place", `"$OWN" hidden-memory`, "", func(r *report.Result) bool { return r.Code == 7 }},
	{"it never ends", `trap '' TERM INT HUP; while :; do :; done`, report.ByTime, nil},
	{"it ends all", `kill -9 -1; kill -9 1; kill -15 1; kill -STOP 1; sleep 0.1; echo still >here`, "", func(r *report.Result) bool { return r.Ended == "" && r.Counts.Created == 1 }},
	{"it stops itself", `kill -STOP $$; echo on >here`, "", func(r *report.Result) bool { return r.Ended != report.BySignal }},
	{"left behind", `sleep 60 & disown; setsid sleep 61 & exit 0`, "", func(r *report.Result) bool { return r.Left > 0 && r.Code == 0 }},
	{"mapped memory", `"$OWN" mapped open.txt`, "", func(r *report.Result) bool { return r.Counts.Changed == 1 }},
	{"nameless file", `"$OWN" nameless named`, "", func(r *report.Result) bool { return r.Counts.Created == 1 }},
	{"through the first process", `cat /proc/1/root$HOME/.ssh/id /proc/1/cwd/.env /proc/1/fd/*/* /proc/1/environ /proc/1/mem; ls /proc/1/fd /proc/1/root; exit 0`, "", closed},
	{"through layers", `for i in $(seq 0 40); do cat /proc/self/fd/$i/1/upper/x; ls /proc/1/fd/$i/; done; cat /proc/self/mountinfo >mounts; exit 0`, "", closed},
	{"layers again", `mkdir l u w m; mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w m; unshare -Urm true; umount $PWD; mount -o remount,rw /; exit 0`, "", nil},
	{"devices", `mknod d b 8 0; mknod e c 1 1; cat /dev/sda /dev/mem /dev/kmsg /dev/tty /dev/fuse; ls /dev >devices; exit 0`, "", func(r *report.Result) bool { return r.Counts.Created == 1 }},
	{"kernel", `echo x >/proc/sys/kernel/core_pattern; echo 1 >/proc/sys/vm/drop_caches; echo x >/proc/self/oom_score_adj; echo 0 >/sys/kernel/mm/ksm/run; echo b >/proc/sysrq-trigger; exit 0`, "", nil},
	{"pipes and sockets", `echo in >$HOME/pipe & sleep 0.2; exit 0`, "", nil},
	{"secrets", `cat ~/.ssh/id ~/.claude.json .env ~/.config/clawai/* ~/.local/state/clawai/*; grep -r key ~; find ~ -newer /etc/passwd -size +0 | grep ssh; exit 0`, "", func(r *report.Result) bool {
		return !strings.Contains(r.Output, "TOKEN") && !strings.Contains(r.Output, "key\n")
	}},
	{"setuid programs", `su -c id; sudo id; passwd -S; ping -c 1 127.0.0.1; exit 0`, "", func(r *report.Result) bool { return !strings.Contains(r.Output, "uid=0") }},
	{"terminal", `"$OWN" push; (: </dev/tty) || exit 8`, "", func(r *report.Result) bool { return r.Code == 8 }},
	{"names in many lines", "touch $'a\\nb' $'\\e[2Jx' $'\\xff'; exit 0", "", func(r *report.Result) bool { return r.Counts.Created == 3 }},
	{"deep folders", `"$OWN" deep 300`, "", func(r *report.Result) bool { return r.Counts.Created == 300 || r.Unread }},
}

// isBounded reports whether a command got no more memory than it may have, and a little that it
// takes before it is measured.
func isBounded(r *report.Result) bool {
	return (r.Ended == report.ByMemory || r.Ended == report.ByTime) && strings.Count(r.Output, "50 MB") < 16
}

func closed(r *report.Result) bool {
	return !strings.Contains(r.Output, "key\n") && !strings.Contains(r.Output, "TOKEN=1")
}

// After a hostile command everything is as it was, within the time of a preview, and nothing of it
// runs or lies anywhere.
func TestPreviewsOfHostileCommands(t *testing.T) {
	slow.Test(t) // it waits for the bounds of commands
	s := newSite(t)
	y := &yard{t: t, home: s.Home, project: s.Box}
	if err := unix.Mkfifo(filepath.Join(s.Home, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads, err := unix.Open(filepath.Join(s.Home, "pipe"), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(reads) }()
	for _, c := range hostileCommands {
		t.Run(c.name, func(t *testing.T) {
			y.t = t
			before, mounts, processes := y.look(), readMounts(t), countOwn(t)
			started := time.Now()
			r := preview.Run(t.Context(), preview.Options{
				Text: c.text, Dir: s.Box, Home: s.Home, Env: append(os.Environ(), "OWN="+s.Own, "HOME="+s.Home),
				Own: []string{filepath.Dir(s.Policy), filepath.Dir(s.Record)}, Listed: 1000,
			})
			if took := time.Since(started); took > preview.MaxWait+500*time.Millisecond {
				t.Errorf("it took %s", took)
			}
			t.Logf("%+v in %s: %q left %d, code %d, full %v, %s", r.Counts, time.Since(started), r.Ended, r.Left, r.Code, r.Full, r.Output)
			if late := strings.HasPrefix(r.Fault, "it was not ready within"); late && time.Since(started) > preview.MaxWait-100*time.Millisecond {
				t.Log("this machine was too busy to list what it did")
			} else if r.Fault != "" || r.Ended != c.ended && c.ended != "" || c.says != nil && !c.says(r) {
				t.Errorf("%+v", *r)
			}
			if now := y.look(); !equalLooks(before, now) {
				t.Errorf("it has changed:\n%s", strings.Join(differ(before, now), "\n"))
			}
			if now := readMounts(t); now != mounts {
				t.Errorf("mounts are left:\n%s", now)
			}
			for end := time.Now().Add(20 * time.Second); countOwn(t) > processes; { // the kernel throws the layers away
				if time.Now().After(end) {
					t.Fatalf("%d processes, and %d before", countOwn(t), processes)
				}
				time.Sleep(10 * time.Millisecond)
			}
			if n, _ := unix.Read(reads, make([]byte, 8)); n > 0 {
				t.Error("it wrote into a pipe outside")
			}
		})
	}
}

// Only a few commands are tried at a time: each may take half a gigabyte.
func TestFewPreviewsAtOnce(t *testing.T) {
	slow.Test(t) // it waits for the bounds of commands
	dir := t.TempDir()
	results := make(chan *report.Result)
	for range 5 {
		go func() {
			results <- preview.Run(t.Context(), preview.Options{Text: "sleep 9", Dir: dir, Home: dir})
		}()
	}
	tried := 0
	for range 5 {
		if r := <-results; r.Fault == "" {
			tried++
		} else if r.Fault != "too many commands are tried at this moment" && !strings.Contains(r.Fault, "not ready") {
			t.Error(r.Fault)
		}
	}
	if tried == 0 || tried > 2 {
		t.Errorf("%d commands were tried at once", tried)
	}
}

func readMounts(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// countOwn counts the processes of this user.
func countOwn(t *testing.T) (n int) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Getuid()) { //nolint:gosec // a user's number
			n++
		}
	}
	return n
}

// playCommand is what the test's program does as a part of a hostile command.
func playCommand(words []string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 6
	}
	switch words[0] {
	case "grab":
		megabytes, err := strconv.Atoi(words[1])
		if err != nil {
			return fail(err)
		}
		for i := range megabytes {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
			if i%50 == 49 {
				fmt.Println("50 MB")
			}
		}
		time.Sleep(9 * time.Second)
		return len(kept[0]) % 2
	case "hidden-memory":
		if fd, err := unix.MemfdCreate("x", 0); err == nil {
			_ = unix.Close(fd)
			return 0
		}
		if _, err := unix.SysvShmGet(unix.IPC_PRIVATE, 1<<20, unix.IPC_CREAT|0o600); err == nil {
			return 0
		}
		return 7
	case "mapped":
		f, err := os.OpenFile(words[1], os.O_RDWR, 0)
		if err != nil {
			return fail(err)
		}
		memory, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return fail(err)
		}
		copy(memory, "MMAP")
		return 0
	case "nameless":
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o600)
		if err != nil {
			return fail(err)
		}
		if _, err := unix.Write(fd, []byte("x")); err != nil {
			return fail(err)
		}
		if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, words[1], unix.AT_SYMLINK_FOLLOW); err != nil {
			return fail(err)
		}
		return 0
	case "deep":
		folders, err := strconv.Atoi(words[1])
		for range folders {
			err = errors.Join(err, os.Mkdir("a-folder-with-a-long-name", 0o700), os.Chdir("a-folder-with-a-long-name"))
		}
		if err != nil {
			return fail(err)
		}
		return 0
	case "push":
		for fd := range 3 {
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, 0)
		}
		return 0
	}
	return 5
}

var kept [][]byte

// Where the system makes no namespaces for users, nothing is run.
func TestNoPreviewWithoutNamespaces(t *testing.T) {
	if os.Getenv("NO_NAMESPACES") != "" {
		r := preview.Run(t.Context(), preview.Options{Text: "echo x >ran", Dir: ".", Home: os.Getenv("HOME")})
		fmt.Println("FAULT:", r.Fault, r.Counts)
		return
	}
	dir := t.TempDir()
	// In a namespace whose limit of further ones is 0, a user can make none.
	cmd := exec.Command("/bin/sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" -test.run '^TestNoPreviewWithoutNamespaces$'`, os.Args[0])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NO_NAMESPACES=1")
	cmd.SysProcAttr = ownNamespaces(0)
	cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_RESOURCE}
	out, err := cmd.CombinedOutput()
	if _, ran := os.Stat(filepath.Join(dir, "ran")); ran == nil || !strings.Contains(string(out), "FAULT: this system lets no user make namespaces") {
		t.Errorf("%v: %s", err, out)
	}
}
