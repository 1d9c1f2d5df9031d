//go:build unix

package queue_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
)

func init() {
	// look: whether this user may use the queue.
	roles["look"] = func(dir string, _ []string) error {
		err := use(dir)
		if err == nil {
			fmt.Println("used")
		}
		return err
	}
}

// use is what every user of a queue does first.
func use(dir string) error {
	return asProxy(dir, "use", queue.Options{}, func(_ *queue.Queue, p *queue.Proxy) error {
		_, err := p.Put(ctx, write(`{}`))
		return err
	})
}

// used is a queue with a session in it, closed.
func used(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "queue")
	if err := use(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// However the umask stands, nobody else reads any of it.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "queue")
	q := open(t, dir, queue.Options{})
	put(t, attach(t, q, "s1"), `{}`)
	a, err := q.AddAnswerer("web")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	n := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		n++
		return err
	})
	if err != nil || n < 9 {
		t.Error(n, err)
	}
}

func TestWhatOthersCanChangeIsRefused(t *testing.T) {
	slow.Test(t)
	const stranger = 54321
	for name, tt := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"folder, others write":   {func(d string) error { return os.Chmod(d, 0o707) }, "can be written by other users"},
		"folder, group writes":   {func(d string) error { return os.Chmod(d, 0o770) }, "can be written by other users"},
		"database, others write": {func(d string) error { return os.Chmod(d+"/queue.db", 0o602) }, "can be written by other users"},
		"database, group writes": {func(d string) error { return os.Chmod(d+"/queue.db", 0o660) }, "can be written by other users"},
		"sessions, others write": {func(d string) error { return os.Chmod(d+"/proxies", 0o777) }, "can be written by other users"},
		"bell, others write":     {func(d string) error { return os.Chmod(d+"/bell", 0o666) }, "can be written by other users"},
		"folder, another's":      {func(d string) error { return os.Lchown(d, stranger, stranger) }, "belongs to another user (uid 54321"},
		"database, another's":    {func(d string) error { return os.Lchown(d+"/queue.db", stranger, stranger) }, "belongs to another user (uid 54321"},
		"folder, a link": {func(d string) error {
			return errors.Join(os.Rename(d, d+".real"), os.Symlink(d+".real", d))
		}, "is not a folder (a symbolic link)"},
		"folder, another's link": {func(d string) error {
			return errors.Join(os.Rename(d, d+".real"), os.Symlink(d+".real", d), os.Lchown(d, stranger, stranger))
		}, "is not a folder (a symbolic link)"},
		"database, a link": {func(d string) error {
			return errors.Join(os.Rename(d+"/queue.db", d+"/real"), os.Symlink(d+"/real", d+"/queue.db"))
		}, "is not a regular file (a symbolic link)"},
		"database, a link to nothing": {func(d string) error {
			return errors.Join(os.Remove(d+"/queue.db"), os.Symlink(d+"/../made", d+"/queue.db"))
		}, "is not a regular file (a symbolic link)"},
		"log, a link":           {func(d string) error { return os.Symlink(d+"/real", d+"/queue.db-wal") }, "is not a regular file (a symbolic link)"},
		"shared memory, a link": {func(d string) error { return os.Symlink(d+"/real", d+"/queue.db-shm") }, "is not a regular file (a symbolic link)"},
		"database, a folder":    {func(d string) error { return errors.Join(os.Remove(d+"/queue.db"), os.Mkdir(d+"/queue.db", 0o700)) }, "is not a regular file (a folder)"},
		"database, a pipe": {func(d string) error {
			return errors.Join(os.Remove(d+"/queue.db"), syscall.Mkfifo(d+"/queue.db", 0o600))
		}, "is not a regular file"},
		"session, a link":     {func(d string) error { return os.Symlink(d+"/bell", d+"/proxies/use") }, "too many levels"},
		"bell, a link":        {func(d string) error { return errors.Join(os.Remove(d+"/bell"), os.Symlink(d+"/queue.db", d+"/bell")) }, "is not a regular file (a symbolic link)"},
		"a file in its place": {func(d string) error { return errors.Join(os.RemoveAll(d), os.WriteFile(d, nil, 0o600)) }, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "another's") && os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			dir := used(t)
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			if err := use(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
			if _, err := os.Lstat(filepath.Dir(dir) + "/made"); err == nil {
				t.Error("a file was made through a link")
			}
		})
	}
}

// What others can only read is closed to them.
func TestReadableIsClosed(t *testing.T) {
	slow.Test(t)
	dir := used(t)
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(dir+"/queue.db", 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := use(dir); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, dir + "/queue.db": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

// Another user uses no queue but his own, root's neither.
func TestAnotherUser(t *testing.T) {
	slow.Test(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	const stranger = 54321
	top := t.TempDir()
	exe := filepath.Join(top, "test")
	exectest.Self(t, exe)
	for owner, want := range map[int]string{stranger: "used", 0: "belongs to another user", stranger + 1: "belongs to another user"} {
		home := filepath.Join(top, fmt.Sprint(owner))
		dir := filepath.Join(home, "queue")
		err := os.MkdirAll(dir, 0o700)
		for _, path := range []string{home, dir} {
			err = errors.Join(err, os.Lchown(path, owner, owner))
		}
		err = errors.Join(err, os.Chmod(home, 0o755), os.Chmod(top, 0o755), os.Chmod(filepath.Dir(top), 0o755))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "QUEUE_ROLE=look", "QUEUE_DIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("owner %d: %s, want %s", owner, out, want)
		}
	}
}
