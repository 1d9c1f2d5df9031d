//go:build attack

package options

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// nest runs programs with options that nobody may know: as nobody, in namespaces of
// their own without a network, on a disk that only they see, each for seconds.
type nest struct {
	dir, path string
	binds     []string // folders that nobody may not enter otherwise, and where they are seen

	mu     sync.Mutex // guards the fields below
	known  map[string][][]string
	silent map[string]int // why runs of an option told nothing
}

func newNest(t *testing.T) *nest {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("run this as root: the programs run as nobody in namespaces of their own, which only root can make")
	}
	n := &nest{dir: t.TempDir(), known: map[string][][]string{}, silent: map[string]int{}}
	for d := n.dir; d != "/"; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && info.Mode()&0o001 == 0 {
			if err := os.Chmod(d, info.Mode()|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, d := range []string{"work", "texts", "node_modules", "rust"} {
		if err := os.Mkdir(filepath.Join(n.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n.path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/go/bin"
	modules, err := filepath.Abs("programs/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err == nil {
		n.binds = append(n.binds, modules, n.dir+"/node_modules") // by this name they find each other
		n.path += ":" + n.dir + "/node_modules/.bin"
	}
	if out, err := exec.Command("rustup", "which", "cargo").Output(); err == nil {
		n.binds = append(n.binds, filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))), n.dir+"/rust")
		n.path = n.dir + "/rust/bin:" + n.path
	}
	return n
}

// has reports whether a program stands in the path of the nest.
func (n *nest) has(program string) bool {
	for dir := range strings.SplitSeq(n.path, ":") {
		for i := 1; i < len(n.binds); i += 2 {
			dir = strings.Replace(dir, n.binds[i], n.binds[i-1], 1)
		}
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && info.Mode()&0o001 != 0 {
			return true
		}
	}
	return false
}

// late is what a command says that was not done in time.
const late = "\\036"

const prelude = `work=$1/work
mkdir -p -m 700 $work/home $work/home/run $work/home/tmp $work/cwd && cd $work/cwd || exit 1
export PATH=$2 HOME=$work/home XDG_RUNTIME_DIR=$work/home/run TMPDIR=$work/home/tmp LC_ALL=C.UTF-8 TERM=dumb COLUMNS=200 GIT_PAGER=cat GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod CI=1 NO_COLOR=1
unset CLAWAI_TEST ATTACK_SEED
git init -q && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m a && git branch x
one() {
	{ timeout -s KILL "${LIMIT:-10}" "$@" </dev/null; [ $? != 137 ] || printf '` + late + `'; } 2>&1 | head -c 60000
	printf '\035'
}
`

// run gives what each command prints, on both outputs.
func (n *nest) run(ctx context.Context, commands [][]string) ([]string, error) {
	var b strings.Builder
	b.WriteString(prelude)
	for _, words := range commands {
		if words[0] == "env" {
			b.WriteString(words[1] + " ")
			words = words[2:]
		}
		b.WriteString("one")
		for _, w := range words {
			b.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		}
		b.WriteString("\n")
	}
	f, err := os.CreateTemp(filepath.Join(n.dir, "texts"), "")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(b.String()); err != nil {
		return nil, err
	}
	if err := f.Chmod(0o644); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	script := `ulimit -f 8192 && ulimit -u 2000 2>/dev/null || ulimit -p 2000; ulimit -d 4000000
		mount -t tmpfs -o mode=0777,nosuid,nodev,size=128m none "$1/work" || exit 1
`
	for i := 0; i < len(n.binds); i += 2 {
		script += "mount --bind '" + n.binds[i] + "' '" + n.binds[i+1] + "' && mount -o remount,bind,ro '" + n.binds[i+1] + "' || exit 1\n"
	}
	script += `mount -o remount,bind,ro / || exit 1
		exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all dash "$3" "$1" "$2"`
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net", "--ipc", "--uts",
		"dash", "-c", script, "dash", n.dir, n.path, f.Name())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the namespace: %w: %.500s", err, stderr.String())
	}
	said := strings.Split(string(out), "\x1d")
	if len(said) != len(commands)+1 {
		return nil, fmt.Errorf("%d commands said %d things: %.500s", len(commands), len(said)-1, stderr.String())
	}
	return said[:len(commands)], nil
}
