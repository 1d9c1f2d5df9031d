//go:build linux

package installed_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
)

// write makes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var package1 = map[string]string{"node_modules/p/index.js": "one", "node_modules/p/package.json": "{}"}

func manifest(version string) installed.Manifest {
	return installed.Manifest{Launcher: "npx", Package: "p", Version: version, Runner: "/bin/node", Script: "node_modules/p/index.js"}
}

// install makes an installation count.
func install(t *testing.T, s *installed.Store, version string, files map[string]string) *installed.Manifest {
	t.Helper()
	c, err := s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	write(t, c.Dir, files)
	measured, err := installed.Measure(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(manifest(version), measured); err != nil {
		t.Fatal(err)
	}
	m, err := s.Load("x")
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	return m
}

// An installation counts when it is whole, and not before.
func TestChange(t *testing.T) {
	s := installed.NewStore(filepath.Join(t.TempDir(), "state"))
	if m, err := s.Load("x"); m != nil || err != nil {
		t.Fatal(m, err)
	}
	c, err := s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Dir, package1)
	if _, err := s.Begin("x"); !errors.Is(err, installed.ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	if other, err := s.Begin("y"); err != nil {
		t.Errorf("another server: %v", err)
	} else {
		other.End()
	}
	killed := c.Dir
	c.Dir = "" // as if the process was killed: nothing is cleaned up
	c.End()
	if m, err := s.Load("x"); m != nil || err != nil {
		t.Fatal("half of an installation counts", m, err)
	}
	m := install(t, s, "1.0.0", package1)
	if _, err := os.Stat(killed); err == nil {
		t.Error("what the killed one left is still there")
	}
	if err := s.Check(m); err != nil {
		t.Fatal(err)
	}
	command := s.Command(m, []string{"--a"})
	if want := []string{"node", filepath.Join(s.Folder(m), "node_modules/p/index.js"), "--a"}; filepath.Base(command[0]) != want[0] || strings.Join(command[1:], " ") != strings.Join(want[1:], " ") {
		t.Errorf("%q", command)
	}
	// A second one that is given up leaves the first; one that is taken keeps the files of the first,
	// from which servers may still run.
	c, err = s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Dir, package1)
	c.End()
	if m, err := s.Load("x"); err != nil || m.Version != "1.0.0" || s.Check(m) != nil {
		t.Fatal(m, err)
	}
	m2 := install(t, s, "2.0.0", package1)
	if m2.Before != m.Folder || s.Check(m) != nil || s.Check(m2) != nil {
		t.Errorf("before %q, and the first was %q", m2.Before, m.Folder)
	}
	install(t, s, "3.0.0", package1)
	if _, err := os.Stat(s.Folder(m)); err == nil {
		t.Error("the first is still there after the third")
	}
	c, err = s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	if had, err := c.Remove(); !had || err != nil {
		t.Error(had, err)
	}
	if m, err := s.Load("x"); m != nil || err != nil {
		t.Error(m, err)
	}
}

// Where the manifest cannot be written, what counted before goes on to count.
func TestCommitFails(t *testing.T) {
	state := t.TempDir()
	s := installed.NewStore(state)
	install(t, s, "1.0.0", package1)
	c, err := s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Dir, package1)
	files, err := installed.Measure(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	bad := manifest("2.0.0")
	for name, m := range map[string]installed.Manifest{
		"a version with letters of a shell": {Launcher: "npx", Package: "p", Version: "1.0.0; rm -rf ~", Runner: "/bin/node", Script: "x"},
		"a version that is a path":          {Launcher: "npx", Package: "p", Version: "../../x", Runner: "/bin/node", Script: "x"},
		"a program outside":                 {Launcher: "npx", Package: "p", Version: "1.0.0", Runner: "/bin/node", Script: "../../../bin/sh"},
		"a program that is a path":          {Launcher: "npx", Package: "p", Version: "1.0.0", Runner: "/bin/node", Script: "/bin/sh"},
	} {
		if err := c.Commit(m, files); err == nil {
			t.Errorf("%s counts", name)
		}
	}
	write(t, c.Dir, map[string]string{"node_modules/p/late.js": "x"})
	if err := c.Commit(bad, files); !errors.Is(err, installed.ErrDamaged) {
		t.Errorf("what changed after it was measured counts: %v", err)
	}
	if files, err = installed.Measure(c.Dir); err != nil {
		t.Fatal(err)
	}
	path := manifestFile(t, state)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil { // as where nothing can be written
		t.Fatal(err)
	}
	if err := c.Commit(bad, files); err == nil {
		t.Error("a manifest was written over a folder")
	}
	dir := c.Dir
	c.End()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the new folder stays")
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, old, 0o600)); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Load("x"); err != nil || m.Version != "1.0.0" || s.Check(m) != nil {
		t.Error(m, err)
	}
}

func manifestFile(t *testing.T, state string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "servers", "x-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// A file that was changed, added, removed or replaced is found, also with its size and time as they were.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"changed": func(dir string) error {
			at := filepath.Join(dir, "node_modules/p/index.js")
			before, err := os.Stat(at)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(at, []byte("two"), 0o600), os.Chtimes(at, before.ModTime(), before.ModTime()))
		},
		"added":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "node_modules/x.js"), nil, 0o600) },
		"a folder":  func(dir string) error { return os.Mkdir(filepath.Join(dir, "node_modules/q"), 0o700) },
		"removed":   func(dir string) error { return os.Remove(filepath.Join(dir, "node_modules/p/package.json")) },
		"a mode":    func(dir string) error { return os.Chmod(filepath.Join(dir, "node_modules/p/index.js"), 0o777) }, //nolint:gosec // on purpose
		"a link":    func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "node_modules/l")) },
		"all of it": os.RemoveAll,
	} {
		s := installed.NewStore(t.TempDir())
		m := install(t, s, "1.0.0", package1)
		if err := change(s.Folder(m)); err != nil {
			t.Fatal(err)
		}
		named := map[string]string{"changed": `"node_modules/p/index.js"`, "added": `"node_modules/x.js"`, "removed": "were changed", "a mode": `"node_modules/p/index.js"`}[name]
		if err := s.Check(m); !errors.Is(err, installed.ErrDamaged) || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A backup that was put back has other times and numbers, and the same files.
	s := installed.NewStore(t.TempDir())
	m := install(t, s, "1.0.0", package1)
	dir := s.Folder(m)
	if err := errors.Join(os.Rename(dir, dir+"-away"), os.CopyFS(dir, os.DirFS(dir+"-away"))); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"node_modules", "node_modules/p"} {
		if err := os.Chmod(filepath.Join(dir, at), 0o700); err != nil { //nolint:gosec // as it was
			t.Fatal(err)
		}
	}
	for name := range package1 {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(m); err != nil {
		t.Errorf("a backup: %v", err)
	}
}

// A manifest that was edited or cut starts nothing.
func TestDamagedManifest(t *testing.T) {
	state := t.TempDir()
	s := installed.NewStore(state)
	install(t, s, "1.0.0", package1)
	path := manifestFile(t, state)
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"folder": "`, `"folder": "../`}, {`"script": "node_modules`, `"script": "../../x`}, {`"runner": "/`, `"runner": "`}, {`bin/node"`, `bin/sh"`},
		{`"script": "node`, `"options": ["--eval=x"], "script": "node`}, {`"script": "node`, `"options": ["x.js"], "script": "node`},
		{`"server": "x"`, `"server": "y"`}, {`"format": 1`, `"format": 2`}, {`"version": "1.0.0"`, `"version": "latest"`}, {`"files"`, `"more": 1, "files"`},
	} {
		text := strings.Replace(string(src), edit[0], edit[1], 1)
		if text == string(src) {
			t.Fatalf("there is no %s in %s", edit[0], src)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Load("x"); !errors.Is(err, installed.ErrDamaged) {
			t.Errorf("%s: %v %v", edit[1], m, err)
		}
	}
	if err := os.WriteFile(path, src[:len(src)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Load("x"); !errors.Is(err, installed.ErrDamaged) {
		t.Errorf("cut: %v %v", m, err)
	}
	if m := install(t, s, "2.0.0", package1); m.Before != "" {
		t.Errorf("a damaged one is kept: %q", m.Before)
	}
	if err := os.Chmod(manifestFile(t, state), 0o666); err != nil { //nolint:gosec // on purpose
		t.Fatal(err)
	}
	if m, err := s.Load("x"); err == nil {
		t.Errorf("others can write it: %v", m)
	}
}

// Options that are left to a script's first line let nothing run but the script.
func TestCheckOptions(t *testing.T) {
	for option, fine := range map[string]bool{
		"--no-warnings": true, "--no_deprecation": true, "--enable-source-maps": true, "--max-old-space-size=4096": true, "--max_old_space_size=4096": true,
		"--disable-warning=ExperimentalWarning": true, "--experimental-vm-modules": true, "--harmony": true, "--expose-gc": true,
		"--eval=x": false, "--require=./x.js": false, "--import": false, "--env-file=/x": false, "--env_file=/x": false, "--env-file-if-exists=/x": false,
		"--experimental_loader=x": false, "--experimental-config-file=x": false, "--inspect": false, "--title": false, "--max-old-space-size": false,
		"--max-old-space-size=": false, "--openssl-config=/x": false, "--redirect-warnings=/x": false, "--watch": false, "-r": false, "x.js": false, "--": false, "": false,
	} {
		if err := installed.CheckOptions([]string{option}); err == nil != fine {
			t.Errorf("%q: %v", option, err)
		}
	}
}

// What a package brings that leads out of its folder is refused.
func TestHostileTrees(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"an absolute link":  func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "l")) },
		"a link upwards":    func(dir string) error { return os.Symlink("../../x", filepath.Join(dir, "l")) },
		"a link to itself":  func(dir string) error { return os.Symlink("l", filepath.Join(dir, "l")) },
		"a link nowhere":    func(dir string) error { return os.Symlink("later", filepath.Join(dir, "l")) },
		"the folder itself": func(dir string) error { return os.Symlink(".", filepath.Join(dir, "l")) },
		"a parent by another link": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "a/b"), 0o700), os.Mkdir(filepath.Join(dir, "x"), 0o700),
				os.Symlink("../x", filepath.Join(dir, "a/up")), os.Symlink("../a/up/../..", filepath.Join(dir, "a/l")))
		},
		"a program with its owner's rights": func(dir string) error {
			at := filepath.Join(dir, "s")
			return errors.Join(os.WriteFile(at, nil, 0o700), os.Chmod(at, 0o700|os.ModeSetuid)) //nolint:gosec // on purpose
		},
	} {
		dir := t.TempDir()
		if err := make(dir); err != nil {
			t.Fatal(name, err)
		}
		if _, err := installed.Measure(dir); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"node_modules/p/x.js": ""})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "node_modules/.bin"), 0o700), os.Symlink("../p/x.js", filepath.Join(dir, "node_modules/.bin/p"))); err != nil {
		t.Fatal(err)
	}
	if _, err := installed.Measure(dir); err != nil {
		t.Errorf("a link as npm makes them: %v", err)
	}
}

func TestCheckEntry(t *testing.T) {
	m := manifest("1.2.3")
	m.Asked = "^1"
	for _, tc := range []struct {
		command string
		matches bool
		fails   string
	}{
		{"npx p@^1", true, ""},
		{"npx -y p@1.2.3", true, ""},
		{"npx p@2", true, "its entry asks for 2, and 1.2.3 is installed"},
		{"npx p", true, "its entry asks for any version"},
		{"npx -p p@^1 other", true, `its entry asks for the program "other"`},
		{"npx q@^1", false, ""},
		{"uvx p", false, ""},
	} {
		d, ok := servers.ParseDownload(strings.Fields(tc.command))
		if !ok {
			t.Fatal(tc.command)
		}
		if m.Matches(d) != tc.matches {
			t.Errorf("%s: matches %v", tc.command, !tc.matches)
		}
		err := m.CheckEntry(d)
		if tc.matches && (tc.fails == "") != (err == nil) || tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
			t.Errorf("%s: %v", tc.command, err)
		}
	}
}
