//go:build windows

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/internal/testing/accesstest"
)

// spoils are what may be wrong with a file of the owner's, and what is said of it.
var spoils = []struct {
	name, said string
	spoil      func(t *testing.T, path string) (undo func())
}{
	{"others can open it", "Everyone", func(t *testing.T, path string) func() {
		if err := accesstest.Share(path); err != nil {
			t.Fatal(err)
		}
		return func() {}
	}},
	{"of another user", "belongs to another user", giveAway},
	{"locked", "another program", func(t *testing.T, path string) func() {
		name, err := windows.UTF16PtrFromString(path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = windows.CloseHandle(h) }
	}},
}

// held is how Wine calls what Windows calls "being used by another process".
const held = "Sharing violation"

func init() { programs["giveaway"] = chown }

// chown gives a file to somebody else, by a program of the system below Wine: giveaway PATH.
// Wine gives back no handles of such a program but what lay in the memory for them, and Go
// closes those: that must not be the process of a test.
func chown() {
	attr := os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	if _, err := os.StartProcess(`Z:\bin\chown`, []string{"chown", "4711", os.Args[1]}, &attr); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// giveAway has a file belong to somebody else, which Wine itself cannot do.
func giveAway(t *testing.T, path string) func() {
	below := kernel32.NewProc("wine_get_unix_file_name")
	if below.Find() != nil {
		t.Skip("this is no Wine")
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	unix, _, _ := below.Call(uintptr(unsafe.Pointer(name)))
	cmd := exec.Command("giveaway", windows.BytePtrToString(*(**byte)(unsafe.Pointer(&unix))))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for late := time.Now().Add(patience); access.CheckOwner(path) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it still belongs to us: run this as root")
		}
	}
	return func() {}
}

// TestWindowsFiles: what is locked, open to others or another user's is refused with a word
// of what is wrong, and stays as it is.
func TestWindowsFiles(t *testing.T) {
	t.Parallel()
	proxy := []string{"proxy", "--server", "s", "--", "toyserver"}
	settled := &owner{t: t, dir: t.TempDir()}
	settled.settle()
	for _, f := range []struct {
		name, path string
		but        string // the spoil that is none for this file
		args       []string
	}{
		{"the policy", "policy.toml", "", proxy},
		{"the record's key", `state\record.key`, "", proxy},
		{"the ledger", `state\audit\ledger.ndjson`, "", proxy},
		{"the folder of the record", `state\audit`, "locked", proxy},
		{"a client's file", `home\.cursor\mcp.json`, "others can open it", []string{"wrap", "--all", "--yes"}},
		{"the queue", `state\queue\queue.db`, "", []string{"approve", "--list"}},
		{"a header's file", "header", "", []string{"proxy", "--server", "s", "--header-file", "header", "--", "http://127.0.0.1:9/mcp"}},
	} {
		for _, s := range spoils {
			if s.name == f.but {
				continue
			}
			t.Run(f.name+", "+s.name, func(t *testing.T) {
				dir := t.TempDir()
				owner := &owner{t: t, dir: dir}
				if err := os.CopyFS(dir, os.DirFS(settled.dir)); err != nil {
					t.Fatal(err)
				}
				path, want := filepath.Join(dir, f.path), s.said
				if f.name == "a client's file" && s.name == "locked" {
					want = held // of several files each gets its line
				}
				before, _ := os.ReadFile(path)
				undo := s.spoil(t, path)
				said, err := owner.run(f.args...)
				undo()
				if err == nil || !strings.Contains(said, want) || !strings.Contains(said, filepath.Base(f.path)) {
					t.Errorf("%v: %s", err, said)
				}
				if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
					t.Errorf("it held %q and holds %q", before, after)
				}
			})
		}
	}
}

// owner is somebody with a policy, a record and a queue.
type owner struct {
	t   *testing.T
	dir string
}

func (o *owner) settle() {
	o.t.Helper()
	for name, text := range map[string]string{
		"policy.toml": allowTools, "header": "Authorization: Bearer x\n",
		`home\.cursor\mcp.json`: `{"mcpServers":{"s":{"command":"toyserver"}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(o.dir, name)), 0o700); err != nil {
			o.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"proxy", "--server", "s", "--", "toyserver"}, {"approve", "--list"}} {
		if said, err := o.run(args...); err != nil {
			o.t.Fatalf("%v: %s", err, said)
		}
	}
}

func (o *owner) run(args ...string) (said string, err error) {
	cmd := exec.Command("clawai", args...)
	cmd.Dir = o.dir
	home, tmp := filepath.Join(o.dir, "home"), filepath.Join(o.dir, "tmp") // what lies in a temporary folder is given to no client
	cmd.Env = append(os.Environ(), "CLAWAI_CONFIG_DIR="+o.dir, "CLAWAI_STATE_DIR="+filepath.Join(o.dir, "state"), "CLAWAI_ASK_NOBODY=deny",
		"USERPROFILE="+home, "TMP="+tmp, "TEMP="+tmp, "AppData="+filepath.Join(home, "AppData", "Roaming"), "LocalAppData="+filepath.Join(home, "AppData", "Local"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
