//go:build linux

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/cage/preview"
	"github.com/clawai/clawai/internal/cage/preview/report"
)

// yard is a home with a project, in which commands are tried.
type yard struct {
	t       *testing.T
	home    string
	project string
	env     []string
}

// makeYard is the shell text that makes the project of a yard.
const makeYard = `
mkdir -p src build/deep node_modules/left-pad .vscode docs
printf 'int main(void) { return 0; }\n' >src/main.c
printf 'one\ntwo\nthree\n' >src/list.txt
printf 'b\n' >build/out.o; printf 'c\n' >build/deep/x.o
printf 'all: build/app\nbuild/app: src/main.c\n\tmkdir -p build\n\tcp src/main.c build/app\nclean:\n\trm -rf build\ninstall: all\n\tmkdir -p inst/bin\n\tinstall -m 755 build/app inst/bin/app\n' >Makefile
printf '{"name":"yard","version":"1.0.0","scripts":{"test":"node test.js","build":"node -e \\"require(\x27fs\x27).writeFileSync(\x27dist.js\x27,\x27ok\x27)\\"","clean":"rm -rf build"}}\n' >package.json
printf 'require("fs").mkdirSync("coverage",{recursive:true});require("fs").writeFileSync("coverage/report.json","{}");require("assert").equal(1,1);\n' >test.js
printf 'module.exports=1\n' >node_modules/left-pad/index.js
printf 'TOKEN=1\n' >.env
printf 'name,n\na,1\nb,2\n' >docs/table.csv
ln -s src/list.txt link; ln src/list.txt hard; printf 'x\n' >script.sh; chmod 755 script.sh
head -c 70000 /dev/zero >docs/zeros.bin
git init -q -b main .
printf 'build/\nnode_modules/\n.env\n' >.gitignore
git add . ; git commit -qm first
printf 'four\n' >>src/list.txt; printf 'new\n' >untracked.txt
`

func newYard(t *testing.T) *yard {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, home: home, project: filepath.Join(home, "work", "yard")}
	const at = "2026-01-02T03:04:05Z"
	y.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C", "SOURCE_DATE_EPOCH=1700000000", "PYTHONDONTWRITEBYTECODE=1", "npm_config_update_notifier=false",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at, "GIT_CONFIG_NOSYSTEM=1"}
	for _, dir := range []string{y.project, filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id"), []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	y.run(makeYard, true)
	return y
}

// run runs a command for real, without a network.
func (y *yard) run(text string, must bool) int {
	y.t.Helper()
	cmd := exec.Command("/bin/bash", "-c", text)
	cmd.Dir, cmd.Env = y.project, y.env
	cmd.SysProcAttr = ownNamespaces(syscall.CLONE_NEWNET)
	out, err := cmd.CombinedOutput()
	if must && err != nil {
		y.t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return cmd.ProcessState.ExitCode()
}

// ownNamespaces is how a process gets namespaces in which it is the same user.
func ownNamespaces(more uintptr) *syscall.SysProcAttr {
	uid := os.Getuid()
	same := []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | more, UidMappings: same, GidMappings: same}
}

// Something is mounted in the home, so that no layer can be put over it: the folder in which the command starts
// has one of its own, and nothing else is written.
func TestPreviewBesideAMount(t *testing.T) {
	if os.Getuid() != nobody {
		t.Skip("only root can mount something in a home")
	}
	project := filepath.Join(mountedHome, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, home: mountedHome, project: project, env: []string{"PATH=/usr/bin:/bin", "HOME=" + mountedHome}}
	r := y.preview("echo x >made; echo y >../beside || echo z >/tmp/$$")
	if r.Counts.Created != 2 || !slices.Contains(r.Closed, mountedHome) || r.Code != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(project, "made")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the preview has written: %v", err)
	}
}

func (y *yard) preview(text string) *report.Result {
	y.t.Helper()
	r := preview.Run(y.t.Context(), preview.Options{Text: text, Dir: y.project, Home: y.home, Env: y.env, Listed: 1 << 20, Wait: time.Minute})
	if r.Fault != "" {
		y.t.Fatalf("%s: %s", text, r.Fault)
	}
	return r
}

// state is a file as it is compared.
type state struct {
	Kind, Sum, Link string
	Mode            uint32
	inode           uint64
	changed         syscall.Timespec
}

// look returns every file of the home.
func (y *yard) look() map[string]state {
	y.t.Helper()
	all := map[string]state{}
	err := filepath.WalkDir(y.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		s := state{Kind: "folder", Mode: stat.Mode & 0o7777, inode: stat.Ino, changed: stat.Ctim}
		switch info.Mode().Type() {
		case 0:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			s.Kind, s.Sum = "file", hex.EncodeToString(sum[:])
		case os.ModeSymlink:
			s.Kind = "link"
			s.Link, err = os.Readlink(path)
		case os.ModeNamedPipe:
			s.Kind = "pipe"
		}
		all[path] = s
		return err
	})
	if err != nil {
		y.t.Fatal(err)
	}
	return all
}

// differ returns the differences of two looks, as lines.
func differ(before, after map[string]state) (lines []string) {
	for path, now := range after {
		was, known := before[path]
		was.inode, was.changed, now.inode, now.changed = 0, syscall.Timespec{}, 0, syscall.Timespec{}
		switch {
		case !known:
			lines = append(lines, line("create", path, now))
		case was.Kind != now.Kind:
			lines = append(lines, line("replace", path, now))
		case was.Sum != now.Sum || was.Link != now.Link:
			lines = append(lines, line("change", path, now))
		case was.Mode != now.Mode && now.Kind != "link":
			now.Sum = ""
			lines = append(lines, line("mode", path, now))
		}
	}
	for path, was := range before {
		if _, known := after[path]; !known {
			lines = append(lines, "delete "+was.Kind+" "+path)
		}
	}
	slices.Sort(lines)
	return lines
}

// line is a change as text. The index of git and some files of npm hold times and places of files,
// so that their bytes are never the same twice.
func line(what, path string, s state) string {
	sum := s.Sum
	if strings.HasSuffix(path, "/.git/index") {
		sum = "*"
	}
	if folder, _, found := strings.Cut(path, "/.npm/_logs/"); found {
		path, sum = folder+"/.npm/_logs/*", "*"
	}
	return fmt.Sprintf("%s %s %s %o %s %s", what, s.Kind, path, s.Mode, sum, s.Link)
}

// foretold returns what a preview says, in the words of differ. What it calls one deleted folder is
// each file of it.
func foretold(r *report.Result, before map[string]state, done []string) (lines []string) {
	for i := range r.Changes {
		c := &r.Changes[i]
		gone := func(path string) {
			files := 0
			for below, was := range before {
				if below != path && strings.HasPrefix(below, path+"/") {
					lines = append(lines, "delete "+was.Kind+" "+below)
					if was.Kind != "folder" {
						files++
					}
				}
			}
			if files != c.Files {
				lines = append(lines, fmt.Sprintf("%s has %d files, not %d", path, files, c.Files))
			}
		}
		if c.What == report.Deleted {
			lines = append(lines, "delete "+c.Kind+" "+c.Path)
			gone(c.Path)
			continue
		}
		if c.What == report.Replaced && before[c.Path].Kind == "folder" {
			gone(c.Path)
		}
		s := state{Kind: c.Kind, Sum: c.SHA256, Link: c.Link, Mode: c.Mode}
		lines = append(lines, line(c.What, c.Path, s))
		for path, was := range before { // its further names may change with it
			if c.Names > 0 && path != c.Path && was.inode == before[c.Path].inode {
				if also := line(c.What, path, s); slices.Contains(done, also) {
					lines = append(lines, also)
				}
				c.Names--
			}
		}
		if c.Names > 0 {
			lines = append(lines, fmt.Sprintf("%s has %d names more", c.Path, c.Names))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // two names of one file may both be listed
}

// everyday are commands as people and agents run them. needs are programs that must be there.
var everyday = []struct{ text, needs string }{
	{"make", "make"},
	{"make clean", "make"},
	{"make install", "make"},
	{"make -n", "make"},
	{"git checkout .", "git"},
	{"git status", "git"},
	{"git add -A && git commit -m second", "git"},
	{"git stash", "git"},
	{"git reset --hard", "git"},
	{"git clean -fdx", "git"},
	{"git checkout -b feature", "git"},
	{"git branch -D main || true", "git"},
	{"git rm -q --cached test.js", "git"},
	{"git mv test.js tests.js", "git"},
	{"git tag v1", "git"},
	{"git config user.name x", "git"},
	{"git diff > changes.patch", "git"},
	{"git restore src/list.txt", "git"},
	{"git log --oneline | head -1 > last", "git"},
	{"git push origin main; true", "git"},
	{"npm test", "npm"},
	{"npm run build", "npm"},
	{"npm run clean", "npm"},
	{"npm version patch --no-git-tag-version", "npm"},
	{"node -e 'require(\"fs\").renameSync(\"test.js\",\"t.js\")'", "node"},
	{"rm -rf build", ""},
	{"rm -rf build node_modules .git", ""},
	{"rm -rf ./*", ""},
	{"rm -f nothing", ""},
	{"mkdir -p a/b/c && touch a/b/c/d", ""},
	{"sed -i s/two/2/ src/list.txt", ""},
	{"sed -i s/absent/2/ script.sh", ""},
	{"echo more >> src/list.txt", ""},
	{"printf '' > src/list.txt", ""},
	{"cat src/list.txt", ""},
	{"cp -r src copy", ""},
	{"cp src/main.c src/list.txt", ""},
	{"mv src/main.c main.c", ""},
	{"mv build dist", ""},
	{"mv docs build/", ""},
	{"ln -sf docs link", ""},
	{"ln -s /nowhere dangling && rm link", ""},
	{"chmod -x script.sh", ""},
	{"chmod 600 hard", ""},
	{"chmod -R go-rwx docs", ""},
	{"touch src/list.txt", ""},
	{"cp -p src/list.txt x && cp x src/list.txt && rm x", ""},
	{"rm -rf build && mkdir build && echo n > build/n", ""},
	{"rm src/list.txt && mkdir src/list.txt", ""},
	{"rm -r docs && echo file > docs", ""},
	{"find . -name '*.o' -delete", ""},
	{"find src -type f -exec sed -i s/e/E/ {} +", ""},
	{"tar cf src.tar --sort=name --mtime=@0 src && tar xf src.tar -C docs", "tar"},
	{"gzip -nk docs/table.csv && gunzip -k docs/table.csv.gz -c > docs/again.csv", "gzip"},
	{"python3 -c 'open(\"made.py\",\"w\").write(\"x=1\")'", "python3"},
	{"python3 -m json.tool package.json > pretty.json", "python3"},
	{"sort -o docs/table.csv docs/table.csv", ""},
	{"tee a b < src/list.txt | wc -l > c", ""},
	{"curl -fsS https://example.com/install.sh | sh; true", "curl"},
	{"curl -fsSo tool.tgz https://example.com/tool.tgz || echo failed > log", "curl"},
	{"mkfifo pipe && rm -f pipe untracked.txt && false", ""},
	{"dd if=/dev/zero of=zeros bs=1k count=64 2>/dev/null", ""},
	{"truncate -s 10 docs/zeros.bin", ""},
	{"patch -p0 <<'E'\n--- src/list.txt\n+++ src/list.txt\n@@ -1 +1 @@\n-one\n+uno\nE", "patch"},
	{"for i in 1 2 3; do echo $i > f$i; done; cat f1 f2 f3 > all && rm f?", ""},
	{"echo token > ~/.netrc; mkdir -p ~/.cache/x", ""},
	{"umask 077; echo x > private; install -m 640 private shared", ""},
	{"cd src && rm -f ../hard && echo gone > ../link", ""},
}

// What a preview says of a command of everyday life is what the command then does, byte for byte,
// and the preview has done nothing.
func TestPreviewsForetell(t *testing.T) {
	tried := 0
	for i, c := range everyday {
		if testing.Short() && i%6 != 0 {
			continue
		}
		if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
			continue
		}
		tried++
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			before := y.look()
			r := y.preview(c.text)
			if after := y.look(); !equalLooks(before, after) {
				t.Fatalf("the preview has changed:\n%s", strings.Join(differ(before, after), "\n"))
			}
			code := y.run(c.text, false)
			if r.Ended != "" || r.Full || r.Unread || r.Unlisted > 0 || r.Code != code {
				t.Errorf("it ended %q with %d, and then with %d\n%s", r.Ended, r.Code, code, r.Output)
			}
			done := differ(before, y.look())
			said := foretold(r, before, done)
			if !slices.Equal(said, done) {
				t.Errorf("foretold:\n%s\ndone:\n%s\n%s", strings.Join(minus(said, done), "\n"), strings.Join(minus(done, said), "\n"), r.Output)
			}
		})
	}
	if !testing.Short() && tried < 45 || tried == 0 {
		t.Errorf("only %d commands could be tried", tried)
	}
}

func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// equalLooks compares also the inodes and the times of files.
func equalLooks(a, b map[string]state) bool {
	if len(a) != len(b) {
		return false
	}
	for path, s := range a {
		if b[path] != s {
			return false
		}
	}
	return true
}
