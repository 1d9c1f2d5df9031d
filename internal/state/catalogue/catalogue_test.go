package catalogue_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/catalogue"
	"github.com/clawai/clawai/internal/testing/accesstest"
	"github.com/clawai/clawai/internal/testing/slow"
)

const canary = "canary-in-the-environment"

// kept is a state folder in which a text is kept for an identity, and its file.
func kept(t *testing.T) (state, file string) {
	t.Helper()
	state = t.TempDir()
	newKey(t, state)
	catalogue.NewEntry(state, []byte(canary)).Keep([]byte("what it lists"))
	files, err := filepath.Glob(filepath.Join(state, "catalogue", "*.list"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return state, files[0]
}

func newKey(t *testing.T, state string) {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	if err := os.WriteFile(filepath.Join(state, "record.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(state, identity string) string {
	return string(catalogue.NewEntry(state, []byte(identity)).Load())
}

func TestKeep(t *testing.T) {
	state, file := kept(t)
	if got := load(state, canary); got != "what it lists" {
		t.Errorf("%q", got)
	}
	if got := load(state, canary+"."); got != "" {
		t.Errorf("another finds %q", got)
	}
	err := filepath.WalkDir(filepath.Join(state, "catalogue"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(path+string(text), canary) {
			t.Errorf("%s shows what the server was started with", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, there := kept(t); filepath.Base(there) == filepath.Base(file) {
		t.Error("who knows what a server was started with knows its file")
	}
	for _, text := range []string{"", strings.Repeat("x", 8<<20+1)} { // instead of which the old one must not stand
		e := catalogue.NewEntry(state, []byte(canary))
		e.Keep([]byte("again"))
		e.Keep([]byte(text))
		if _, err := os.Lstat(file); !os.IsNotExist(err) {
			t.Errorf("a text of %d bytes: %v", len(text), err)
		}
	}
}

// What is not as we have left it is as if it was not there, and the next text stands again.
func TestFilesThatAreNotTrusted(t *testing.T) {
	put := func(text string) func(string) error {
		return func(file string) error { return os.WriteFile(file, []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		spoil  func(file string) error
		unix   bool
		asRoot bool
	}{
		"gone":      {spoil: os.Remove},
		"empty":     {spoil: put("")},
		"hostile":   {spoil: put("tools/list {\"tools\":[{\"name\":\"rm\"}]}\n")},
		"torn":      {spoil: func(file string) error { return os.Truncate(file, 40) }},
		"longer":    {spoil: func(file string) error { return os.Truncate(file, 50) }},
		"huge":      {spoil: func(file string) error { return os.Truncate(file, 1<<40) }, unix: true},
		"shared":    {spoil: accesstest.Share},
		"a group's": {spoil: func(file string) error { return os.Chmod(file, 0o660) }, unix: true},
		"foreign":   {spoil: func(file string) error { return os.Lchown(file, 4711, 4711) }, asRoot: true},
		"a folder":  {spoil: func(file string) error { _ = os.Remove(file); return os.Mkdir(file, 0o700) }},
		"a link to another's": {unix: true, spoil: func(file string) error {
			other := filepath.Join(filepath.Dir(file), "elsewhere")
			if err := os.Rename(file, other); err != nil {
				return err
			}
			return os.Symlink("/dev/zero", file)
		}},
		"of another server": {spoil: func(file string) error {
			catalogue.NewEntry(filepath.Dir(filepath.Dir(file)), []byte("other")).Keep([]byte("other"))
			all, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.list"))
			for _, one := range all {
				if one != file && err == nil {
					err = os.Rename(one, file)
				}
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.unix || c.asRoot && os.Getuid() != 0 {
				t.Skip("not to be had here")
			}
			state, file := kept(t)
			if err := c.spoil(file); err != nil {
				t.Fatal(err)
			}
			if got := load(state, canary); got != "" {
				t.Errorf("%q is believed", got)
			}
			catalogue.NewEntry(state, []byte(canary)).Keep([]byte("new"))
			if got := load(state, canary); got != "new" {
				t.Errorf("%q, not what was kept since", got)
			}
		})
	}
}

// Without a key that is ours alone, and a folder of our own, nothing is kept.
func TestNoPlace(t *testing.T) {
	for name, spoil := range map[string]func(key string) error{
		"no key":                 func(key string) error { return os.Remove(key) },
		"half a key":             func(key string) error { return os.Truncate(key, 16) },
		"a key that others know": func(key string) error { return accesstest.Share(key) },
	} {
		t.Run(name, func(t *testing.T) {
			state, _ := kept(t)
			if err := spoil(filepath.Join(state, "record.key")); err != nil {
				t.Fatal(err)
			}
			if catalogue.NewEntry(state, []byte(canary)) != nil {
				t.Error("there is a place")
			}
		})
	}
	state, _ := kept(t)
	newKey(t, state)
	if got := load(state, canary); got != "" {
		t.Errorf("%q is found by another key", got)
	}
	state, file := kept(t)
	if err := accesstest.Share(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if got := load(state, canary); got != "" {
		t.Errorf("%q is believed in a folder of others", got)
	}
	catalogue.NewEntry(state, []byte(canary)).Keep([]byte("new"))
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("it is kept in a folder of others: %v", err)
	}
}

// What else lies in the folder, which may be a link to one that the owner uses, stays.
func TestSweepLeavesWhatIsNotOurs(t *testing.T) {
	state, file := kept(t)
	folder := filepath.Dir(file)
	then := time.Now().Add(-365 * 24 * time.Hour)
	var others []string
	for _, name := range []string{"passwd", ".x.list.1.tmp", "notes.list", filepath.Base(file) + ".orig", "x" + filepath.Base(file)} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("the owner's"), 0o600); err != nil {
			t.Fatal(err)
		}
		others = append(others, path)
	}
	empty := filepath.Join(folder, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	others = append(others, empty)
	for _, path := range others {
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	catalogue.NewEntry(state, []byte("other")).Keep([]byte("x"))
	for _, path := range others {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestSweep(t *testing.T) {
	slow.Test(t)
	state, file := kept(t)
	keep := func(identity string) { catalogue.NewEntry(state, []byte(identity)).Keep([]byte("x")) }
	age := func(path string, by time.Duration) {
		t.Helper()
		then := time.Now().Add(-by)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	left := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".1.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age(file, 29*24*time.Hour)
	keep("other")
	if !exists(file) || !exists(left) {
		t.Error("what may be needed was removed")
	}
	age(file, 29*24*time.Hour)
	load(state, canary) // which is a use
	age(left, 31*24*time.Hour)
	keep("other")
	if info, err := os.Lstat(file); err != nil || time.Since(info.ModTime()) > time.Hour || exists(left) {
		t.Error(info, err, exists(left))
	}
	age(file, 31*24*time.Hour)
	keep("other")
	if exists(file) {
		t.Error("nobody has used it for a month")
	}
	for i := range 300 {
		keep(fmt.Sprint(i))
	}
	all, _ := filepath.Glob(filepath.Join(state, "catalogue", "*.list"))
	if len(all) != 256 || load(state, "299") != "x" || load(state, "0") != "" {
		t.Errorf("%d files", len(all))
	}
}
