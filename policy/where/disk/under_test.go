package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

func text(s string) where.Value { return where.Value{Kind: where.String, Text: s} }

// from is a path that starts in a folder when it has no root.
func from(base, path string) where.Value {
	v := text(path)
	v.Base = base
	return v
}

func under(t testing.TB, d disk.Disk, home string, dirs ...string) where.Constraint {
	t.Helper()
	c, err := disk.NewUnder(dirs, home, d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tree makes a directory of files and links: a name that ends in a slash is a
// directory, "a -> b" a link. ROOT in a target is the directory.
func tree(t testing.TB, entries ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "ROOT", root), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// house has projects in a home, and what must stay out of reach.
func house(t testing.TB) string {
	return tree(t,
		"home/u/projects/app/main.go", "home/u/projects/app/sub/deep/", "home/u/projects/café/", "home/u/projects/a b/x",
		"home/u/projects/..data/x", "home/u/projects/.git/config", "home/u/.ssh/id", "home/u/projects-evil/x", "home/u/project/x", "home/u2/projects/x", "etc/passwd",
		"home/u/projects/out -> ROOT/etc", "home/u/projects/passwd -> ROOT/etc/passwd", "home/u/projects/rel -> ../../../etc",
		"home/u/projects/up -> ..", "home/u/projects/root -> /", "home/u/projects/dangling -> ROOT/etc/new", "home/u/projects/dangling-dir -> ROOT/etc/new/dir",
		"home/u/projects/chain1 -> chain2", "home/u/projects/chain2 -> chain3", "home/u/projects/chain3 -> ROOT/etc",
		"home/u/projects/loop -> loop", "home/u/projects/loop1 -> loop2", "home/u/projects/loop2 -> loop1",
		"home/u/projects/app/in -> ../app/sub", "home/u/projects/app/self -> .", "home/u/projects/app/abs -> ROOT/home/u/projects/app",
		"home/u/projects/app/round -> ROOT/home/u/projects/out/../home/u/projects", "home/u/projects/app/deep -> sub/deep",
		"home/u/projects/sneaky -> app/../../.ssh", "home/u/projects/slash -> ROOT/etc/", "home/u/projects/dots -> ./././../.ssh",
		"home/u/p -> projects", "home/u/evil -> projects-evil", "srv/www -> ROOT/home/u/projects", "home/u/projects/proc -> /proc/self/root",
		"home/u/projects/fd -> /dev/fd", "home/u/projects/stdin -> /dev/stdin", "etc/backdoor -> ROOT/home/u/projects/app/main.go",
		"home/u/projects/hop -> app/hop2", "home/u/projects/app/hop2 -> ../hop3", "home/u/projects/hop3 -> ROOT/home/u/.ssh",
		"home/u/projects/.hidden -> ROOT/etc", "home/u/projects/app/sub/link -> ROOT/home/u/.ssh", "home/u/projects/into -> ROOT/home/u/projects-evil")
}

// evasions of under = ["~/projects"]. /R is the tree, ~ its home/u. [F] are
// CVE-2025-53109 and CVE-2025-53110 (the reference filesystem server), [Z] Zip
// Slip and CVE-2021-32803 (node-tar), [C] CVE-2024-21626 (runc), [M] CVE-2019-11246
// (kubectl cp), CVE-2022-24765 and the like for relative climbs.
var evasions = []string{
	"/R/etc/passwd", "/etc/passwd", "/", "/R", "/R/home/u", "~", "~/", "~/.ssh/id", "~/projects-evil/x", // [F] sibling prefix
	"~/projects-evil", "~/project/x", "~/projectsx", "~/projects.", "/R/home/u2/projects/x", "~/projects/../.ssh/id", "~/projects/..", "~/projects/../",
	"~/projects/../projects-evil/x", "~/projects/app/../../.ssh/id", "~/projects/app/../../../../etc/passwd", "~/projects/./.././.ssh/id", "~/projects//..//.ssh/id",
	"~/projects/missing/../../.ssh/id", "~/projects/missing/../../../../etc/passwd", "/R/home/u/projects/../../../../../../../../../etc/passwd", // [Z]
	"~/projects/out", "~/projects/out/", "~/projects/out/passwd", "~/projects/out/new", "~/projects/out/new/deep/file", "~/projects/passwd", "~/projects/passwd/", // [F] links
	"~/projects/rel/passwd", "~/projects/rel/new", "~/projects/up", "~/projects/up/.ssh/id", "~/projects/up/new", "~/projects/root", "~/projects/root/etc/passwd",
	"~/projects/dangling", "~/projects/dangling/", "~/projects/dangling-dir", "~/projects/dangling-dir/x", "~/projects/dangling/x",
	"~/projects/chain1", "~/projects/chain1/passwd", "~/projects/chain2/passwd", "~/projects/loop", "~/projects/loop/x", "~/projects/loop1", "~/projects/loop1/../x",
	"~/projects/sneaky/id", "~/projects/sneaky", "~/projects/slash/passwd", "~/projects/dots/id", "~/projects/hop/id", "~/projects/hop", "~/projects/.hidden/passwd",
	"~/projects/app/sub/link/id", "~/projects/app/in/link/id", "~/projects/app/in/../sub/link/id", "~/projects/app/in/../../../.ssh/id", "~/projects/into/x",
	"~/projects/out/../home/u/.ssh/id", "~/projects/out/../passwd", "~/projects/out/../main.go", "~/projects/app/deep/../../../../.ssh/id", "~/projects/app/deep/../../../projects-evil",
	"/R/srv/www/../../etc/passwd", "/R/srv/www/out/passwd", "/R/srv", "/R/srv/www/up/.ssh/id", "~/p/../.ssh/id", "~/p/out/passwd", "~/evil/x",
	"/proc/self/root/R/home/u/projects/app/main.go", "/proc/self/cwd/x", "/proc/1/root/etc/passwd", "/proc/self/fd/3", "/dev/fd/3", "/dev/stdin", "/dev/../proc/self/environ", // [C]
	"~/projects/proc/etc/passwd", "~/projects/proc", "~/projects/fd/3", "~/projects/stdin", "/PROC/self/root",
	"/R/etc/backdoor",                                                                                                                        // a link outside to a file inside: who replaces it touches /R/etc
	"x", "./x", "app/main.go", "../x", "../../etc/passwd", "..", ".", "projects/x", "home/u/projects/x", "etc/passwd", "R/home/u/projects/x", // [M] no working directory
	"~u/projects/x", "~root/x", "~+/x", "~-/x", "$HOME/projects/x", "${HOME}/projects/x", "%HOME%/projects/x", "file:///R/home/u/projects/x", "file:/R/home/u/projects/x", "FILE:///R/etc/passwd",
	"http://example.com/R/home/u/projects/x", "C:/R/home/u/projects/x", `C:\x`, `\\server\share`, `..\x`,
	" /R/home/u/projects/x", "/R/home/u/projects/x ", "/R/home/u/projects/x\n", "/R/home/u/projects/x\x00", "/R/home/u/projects/x\x00/../../../../etc/passwd", "~/projects/\x1b", "~/projects/\u0085x", "\u00a0/etc/passwd", "~/projects/\xff",
	"~/projec\u0074\u0301s/x", "～/projects/x", "/R/home/u／projects/x", "/R/home/u/projects／x", "/R/home/u%2fprojects/x", "~/projects%2f..%2f.ssh/id", "~%2fprojects/x",
	"~/projects/app/main.go/x", "~/projects/app/main.go/../x", "~/projects/app/main.go/..", "~/projects/..namedfork/rsrc", "/.vol/1/2", "/.file/id=1.2", "~/projects/" + strings.Repeat("a", 256),
	"~/projects/" + strings.Repeat("a/", 2100), "~/projects/" + strings.Repeat("../", 1200) + "etc/passwd", "", "/.", "//", "///etc///passwd",
}

// benign are paths that lie below ~/projects.
var benign = func() []string {
	all := []string{
		"~/projects", "~/projects/", "~/projects/.", "~/projects//", "/R/home/u/projects", "/R/home/u/projects/", "//R//home//u//projects//app", "/R/./home/./u/projects/./app",
		"~/projects/app/main.go", "/R/home/u/projects/app/main.go", "~/projects/app/", "~/projects/app", "~/projects/new", "~/projects/new/", "~/projects/new/deep/er/file.txt", "~/projects/app/sub/new",
		"~/projects/app/../app/main.go", "~/projects/app/..", "~/projects/app/../", "~/projects/app/../new", "~/projects/app/sub/../../x", "~/projects/../projects/x", "~/../u/projects/x", "/R/etc/../home/u/projects/x",
		"~/projects/new/../x", "~/projects/new/deep/../../x", "~/projects/app/./sub/./deep", "~/projects/app/in", "~/projects/app/in/deep", "~/projects/app/in/new", "~/projects/app/self/main.go", "~/projects/app/self/self/self/main.go",
		"~/projects/app/abs/main.go", "~/projects/app/abs", "~/projects/app/deep", "~/projects/app/deep/x", "~/projects/app/deep/../x", "~/projects/app/self/../x", "~/p/app/main.go", "~/p/new", "~/p/./app", "/R/srv/www/app/main.go", "/R/srv/www/x", "/R/srv/www/app/in/x",
		"/R/srv/www/app/../x", "~/p/app/../x", "~/projects/..data/x", "~/projects/...", "~/projects/..x/y", "~/projects/x..", "~/projects/.git/config", "~/projects/a b/x", "~/projects/a b/new file", "~/projects/a  b", "~/projects/café/x", "~/projects/café", "~/projects/cafe\u0301/x",
		"~/projects/日本語/ファイル", "~/projects/emoji 🎉", "~/projects/README", "~/projects/readme", "~/projects/APP", "~/projects/App/Main.go", "~/projects/a%20b", "~/projects/a%2fb", "~/projects/%2e%2e/x", "~/projects/$HOME", "~/projects/$id.tsx", "~/projects/~", "~/projects/~/x", "~/projects/x~", "~/projects/a:b", "~/projects/C:/x",
		`~/projects/a\b`, `~/projects/..\..\x`, "~/projects/file:/x", "~/projects/http://example.com/x", "~/projects/*", "~/projects/**/x", "~/projects/[a]", "~/projects/{a,b}", "~/projects/a;b", "~/projects/a&b", "~/projects/-rf", "~/projects/--help", "~/projects/'q'", `~/projects/"q"`, "~/projects/#x#", "~/projects/x.go~", "~/projects/a=b", "~/projects/@scope/x", "~/projects/+x", "~/projects/a,b", "~/projects/a|b", "~/projects/<x>", "~/projects/`x`", "~/projects/x!", "~/projects/(x)", "~/projects/x^y",
		"~/projects/proc2/x", "~/projects/app/proc/x", "~/projects/app/dev/fd/3", "~/projects/etc/passwd", "~/projects/.ssh/id", "~/projects/home/u", "~/projects/CON", "~/projects/nul.txt", "~/projects/x.", "~/projects/PROGRA~1", "~/projects/x::$DATA", "~/projects/" + strings.Repeat("a", 255), "~/projects/" + strings.Repeat("d/", 500),
	}
	for _, name := range strings.Fields(`main.go main_test.go go.mod go.sum Makefile Dockerfile .gitignore .env.example package.json package-lock.json tsconfig.json index.html style.css app.js app.ts app.tsx
		README.md LICENSE CHANGELOG.md docs/index.md docs/img/a.png src/lib.rs Cargo.toml Cargo.lock pyproject.toml setup.py tests/test_a.py a/b/c/d/e/f .github/workflows/ci.yml .vscode/settings.json node_modules/@types/node/index.d.ts
		vendor/modules.txt build/out.o target/debug/x dist/bundle.min.js data/2026-01-01.csv notes.txt a.tar.gz x.1 x.y.z _x __init__.py .x ..y app/new.go app/sub/new/`) {
		all = append(all, "~/projects/"+name, "/R/home/u/projects/app/"+name)
	}
	return all
}()

func TestUnder(t *testing.T) {
	root := house(t)
	home := root + "/home/u"
	rooted := func(s string) string { return strings.ReplaceAll(s, "/R", root) }
	all := []where.Constraint{
		under(t, disk.SystemDisk(), home, "~/projects"),
		under(t, disk.SystemDisk(), home, home+"/projects"),
		under(t, disk.SystemDisk(), home, "/R/nowhere", "~/p/"),
		under(t, disk.SystemDisk(), home, root+"/srv/www/app/.."),
	}
	for _, c := range all {
		for _, opens := range []bool{false, true} {
			for _, path := range evasions {
				if got := c.JudgeValue(text(rooted(path)), opens); got == where.Yes {
					t.Errorf("%q is under the projects", path)
				}
			}
			for _, path := range benign {
				if got := c.JudgeValue(text(rooted(path)), opens); got != where.Yes {
					t.Errorf("%q is not under the projects: %d", path, got)
				}
			}
		}
	}
	if len(evasions) < 50 || len(benign) < len(evasions) {
		t.Errorf("%d evasions, %d ordinary paths", len(evasions), len(benign))
	}
}

// TestCase holds that a name in another case is the directory exactly where the
// disk says so.
func TestCase(t *testing.T) {
	root := tree(t, "Projects/x", "café/x")
	for dir, other := range map[string]string{"/Projects": "/PROJECTS", "/café": "/cafe\u0301"} {
		want := where.No
		if _, err := os.Lstat(root + other); err == nil {
			want = where.Yes
		}
		for _, path := range []string{other, other + "/x", other + "/new/x"} {
			if got := under(t, disk.SystemDisk(), "", root+dir).JudgeValue(text(root+path), true); got != want {
				t.Errorf("%s under %s: %d, want %d", path, dir, got, want)
			}
		}
	}
}

// TestRooted holds that the same tree read as a root gives the same answers, for
// links that begin at the root as well.
func TestRooted(t *testing.T) {
	root := tree(t, "home/u/projects/app/main.go", "etc/passwd", "home/u/projects/out -> /etc", "home/u/projects/in -> /home/u/projects/app",
		"home/u/projects/up -> ../../../../../../../etc", "p -> /home/u/projects", "escape -> ../../../..")
	c := under(t, disk.RootedDisk(root), "/home/u", "~/projects")
	for path, want := range map[string]where.Match{
		"/home/u/projects/app/main.go": where.Yes,
		"~/projects/new/x":             where.Yes,
		"/p/app":                       where.Yes,
		"~/projects/in/x":              where.Yes,
		"/../../home/u/projects/x":     where.Yes,
		"~/projects/out/passwd":        where.No,
		"~/projects/up/passwd":         where.No,
		"/etc/passwd":                  where.No,
		"/escape/etc/passwd":           where.No,
		"/escape/home/u/projects/x":    where.Yes,
		"x":                            where.Maybe,
		"/proc/self/root":              where.Maybe,
	} {
		if got := c.JudgeValue(text(path), true); got != want {
			t.Errorf("%q: %d, want %d", path, got, want)
		}
	}
	missing := under(t, disk.RootedDisk(filepath.Join(root, "missing")), "/home/u", "~/projects")
	if got := missing.JudgeValue(text("~/projects/x"), true); got != where.Maybe {
		t.Errorf("without a root: %d", got)
	}
	if _, err := disk.RootedDisk("missing").Readlink("/x"); err == nil {
		t.Error("a link is read without a root")
	}
}

func TestVerdicts(t *testing.T) {
	root := house(t)
	home := root + "/home/u"
	in := disk.SystemDisk()
	for _, c := range []struct {
		disk disk.Disk
		home string
		dir  string
		path string
		want where.Match
	}{
		{in, home, "~/projects", "main.go", where.Yes},
		{in, home, "~/projects", "./main.go", where.Yes},
		{in, home, "~/projects", "../new", where.Yes},
		{in, home, "~/projects", ".", where.Yes},
		{in, home, "~/projects", "../../.ssh/id", where.No},
		{in, home, "~/projects", "sub/link/id", where.No},
		{in, home, "~/projects", "a:b", where.Maybe},
		{nil, home, "~/projects", home + "/projects/x", where.Maybe},
		{nil, home, "~/projects", "x", where.Maybe},
		{in, home, "${cwd}", "main.go", where.Yes},
		{in, home, "${cwd}/sub", "main.go", where.No},
		{in, home, "${cwd}", "../new", where.No},
		{in, home, "${cwd}", "sub/link/id", where.No},
		{in, home, "${cwd}", home + "/projects/app/x", where.Yes},
		{in, "", "~/projects", home + "/projects/x", where.Maybe},
		{in, "", "~/projects", "~/projects/x", where.Maybe},
		{in, "", root, "~/projects/x", where.Maybe},
		{in, home, "/", "/etc/passwd", where.Yes},
		{in, home, "/", "~/projects/out/passwd", where.Yes},
		{in, home, root + "/etc", "~/projects/out/passwd", where.Yes},
		{in, home, root + "/etc", "~/projects/out/../etc/passwd", where.Maybe}, // the kernel's way and the text's
		{in, home, root + "/etc", "~/projects/passwd", where.Maybe},            // the link stands elsewhere
		{in, home, root + "/etc/passwd", root + "/etc/passwd", where.Yes},
		{in, home, root + "/loopless/dir", root + "/loopless/dir/x", where.Yes},
		{in, home, root + "/loopless/dir", root + "/loopless/DIR/x", where.Maybe},
		{in, home, root + "/loopless/dir", root + "/loopless/dirx", where.No},
		{in, home, home + "/projects/loop", home + "/projects/x", where.Maybe},
		{in, home, home + "/projects", home + "/projects/app/main.go/x", where.Maybe},
		{in, home, "/proc", "/proc/self/status", where.Maybe},
		{in, home, "C:/projects", "/projects/x", where.Maybe},
	} {
		got := under(t, c.disk, c.home, c.dir).JudgeValue(from(home+"/projects/app", c.path), false)
		if got != c.want {
			t.Errorf("%q under %q: %d, want %d", c.path, c.dir, got, c.want)
		}
	}
	for kind := where.Absent; kind <= where.List; kind++ {
		if kind != where.String {
			if got := under(t, in, home, "/").JudgeValue(where.Value{Kind: kind, Text: "/x"}, false); got != where.No {
				t.Errorf("kind %d: %d", kind, got)
			}
		}
	}
}

func TestUnderErrors(t *testing.T) {
	for _, dirs := range [][]string{nil, {""}, {"projects"}, {"./projects"}, {"~user/x"}, {"/srv/**"}, {"/srv/?"}, {"/x\x00"}, {"/\xff"}, {"/ok", ".."}, {"C:x"}, {"file:///x"}} {
		if _, err := disk.NewUnder(dirs, "/home/u", nil); err == nil {
			t.Errorf("Under(%q) is no error", dirs)
		}
	}
}

// TestDirectoryIsALink is macOS's /tmp: the directory of the policy is
// itself a link.
func TestDirectoryIsALink(t *testing.T) {
	root := tree(t, "private/tmp/", "tmp -> private/tmp")
	c := under(t, disk.SystemDisk(), "", root+"/tmp")
	if c.JudgeCost(10) <= 0 || c.JudgeCost(1<<20) < c.JudgeCost(4096) {
		t.Error("under costs nothing")
	}
	for _, path := range []string{"/tmp", "/tmp/", "/tmp/x", "/private/tmp", "/private/tmp/x"} {
		if got := c.JudgeValue(text(root+path), true); got != where.Yes {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got := c.JudgeValue(text(root+"/private"), true); got != where.No {
		t.Errorf("/private: %d", got)
	}
}

// failing answers with an error for one path.
type failing struct {
	disk.Disk
	lstat, readlink string
	target          string
}

var errDenied = errors.New("denied")

func (f failing) Lstat(path string) (fs.FileInfo, error) {
	if path == f.lstat {
		return nil, errDenied
	}
	return f.Disk.Lstat(path)
}

func (f failing) Readlink(path string) (string, error) {
	if path == f.readlink {
		return f.target, map[bool]error{true: errDenied}[f.target == ""]
	}
	return f.Disk.Readlink(path)
}

func TestErrors(t *testing.T) {
	root := house(t)
	home := root + "/home/u"
	for _, d := range []failing{
		{lstat: "/"},
		{lstat: home + "/projects/app"},
		{readlink: home + "/projects/app/in"},
		{readlink: home + "/projects/app/in", target: strings.Repeat("x/", 4000)},
	} {
		d.Disk = disk.SystemDisk()
		if got := under(t, d, home, "/R", "~/projects").JudgeValue(text("~/projects/app/in/x"), true); got != where.Maybe {
			t.Errorf("%+v: %d", d, got)
		}
	}
}
