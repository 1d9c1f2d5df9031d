//go:build attack

package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kind is a shell, and how it is asked to log a call of a program: as a function
// that the texts of a batch find in place of the program.
type kind struct {
	name    string
	argv    []string
	version []string
	prints  string // the builtin that prints its words as they are
	fish    bool
}

var kinds = []kind{
	{name: "bash", argv: []string{"bash"}, version: []string{"bash", "--version"}, prints: "printf %s"},
	{name: "bash-posix", argv: []string{"bash", "--posix"}, prints: "printf %s"},
	{name: "dash", argv: []string{"dash"}, version: []string{"dpkg-query", "-W", "dash"}, prints: "printf %s"},
	{name: "busybox", argv: []string{"busybox", "sh"}, version: []string{"busybox"}, prints: "printf %s"},
	{name: "mksh", argv: []string{"mksh"}, version: []string{"mksh", "-c", "echo $KSH_VERSION"}, prints: "print -rn --"},
	{name: "zsh", argv: []string{"zsh", "-f"}, version: []string{"zsh", "--version"}, prints: "printf %s"},
	{name: "zsh-sh", argv: []string{"zsh", "--emulate", "sh", "-f"}, prints: "printf %s"},
	{name: "ksh93", argv: []string{"ksh93"}, version: []string{"ksh93", "-c", "echo ${.sh.version}"}, prints: "printf %s"},
	{name: "fish", argv: []string{"fish", "--no-config"}, version: []string{"fish", "--version"}, fish: true},
}

// programs have a shim on the path of the texts, and real ones run others.
var (
	programs = []string{"ls", "grep", "git", "wc", "cat", "look", "pwn", "rm", "more", "tee"}
	real     = []string{"env", "xargs", "timeout", "find", "nice", "bash", "dash", "mksh", "zsh", "sh"}
)

// What ends a field and a record of the log. No text that a policy allows holds
// a control character.
const (
	field  = "\x1f"
	record = "\x1e"
)

// jail runs texts as nobody, in a process, mount and network namespace of their
// own, with a disk in memory as the only place to write.
type jail struct {
	dir string
}

func newJail(t *testing.T) *jail {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("run this as root: the texts run as nobody in namespaces of their own, which only root can make")
	}
	j := &jail{dir: t.TempDir()}
	for d := j.dir; d != "/"; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && info.Mode()&0o001 == 0 {
			must(t, os.Chmod(d, info.Mode()|0o011))
		}
	}
	bin := filepath.Join(j.dir, "bin")
	for _, d := range []string{bin, filepath.Join(j.dir, "work"), filepath.Join(j.dir, "texts")} {
		must(t, os.Mkdir(d, 0o755))
	}
	dash, err := exec.LookPath("dash")
	must(t, err)
	for _, p := range programs {
		shim := "#!" + dash + "\nIFS='" + field + "'\nprintf %s \"" + p + field + "$#" + field + "$*" + record + "\" >>\"${ATTACK_LOG:-" + j.dir + "/work/lost}\"\n"
		must(t, os.WriteFile(filepath.Join(bin, p), []byte(shim), 0o755))
	}
	for _, p := range real {
		path, err := exec.LookPath(p)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(bin, p)))
	}
	must(t, os.WriteFile(filepath.Join(j.dir, "drive"), []byte(j.driver(t)), 0o755))
	return j
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// driver is the script that is the first process of a namespace: `drive FOLDER
// LOCALE` runs FOLDER/batch.KIND in every shell, and each text FOLDER/alone.N as
// the word of -c and as a script, and says what was logged and which files are
// there.
func (j *jail) driver(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`dir=$1 locale=$2
one() { # NAME COMMAND...
	mkdir -p "$work/$1/cwd/dir" "$work/$1/home" && cd "$work/$1/cwd" && : >a.txt && : >b.txt && : >dir/b || exit 1
	name=$1; shift
	env -i PATH=` + j.dir + `/bin HOME="$work/$name/home" LC_ALL=$locale ATTACK_LOG="$work/$name/log" \
		X='x; pwn x' A='a[$(pwn a)]' E= timeout -s KILL 15 "$@" >/dev/null 2>&1
	printf '\035%s\035%s\035' "$name" $?
	cat "$work/$name/log" 2>/dev/null
	printf '\035'; cd "$work/$name/cwd" && find . ../home/* 2>/dev/null
}
work=` + j.dir + `/work
`)
	for _, k := range kinds {
		path, err := exec.LookPath(k.argv[0])
		must(t, err)
		argv := strings.Join(append([]string{path}, k.argv[1:]...), " ")
		fmt.Fprintf(&b, "[ ! -f $dir/batch.%s ] || one %s %s $dir/batch.%s </dev/null\n", k.name, k.name, argv, k.name)
		fmt.Fprintf(&b, "for f in $dir/alone.*; do [ ! -f $f ] || { one %s:-c:${f##*.} %s -c \"$(cat $f; echo)\" </dev/null; one %s:-s:${f##*.} %s <$f; }; done\n", k.name, argv, k.name, argv)
	}
	b.WriteString("printf '\\035lost\\0350\\035'; cat $work/lost 2>/dev/null; printf '\\035'\n")
	return b.String()
}

// What stands before the first text of a batch, and after its last.
const (
	none = -2
	last = -1
)

// seen is what one shell did with one text or with all of a batch.
type seen struct {
	kind, way string // "-c", "-s"; "" in a batch
	text      int
	calls     [][]string
	files     []string // that were not there before
	cut       bool     // the shell of the batch ended with this text
}

// run gives texts to some shells, in one process each, and those named to all
// shells, in processes of their own.
func (j *jail) run(ctx context.Context, shells []kind, texts []string, alone ...int) ([]seen, error) {
	folder, err := os.MkdirTemp(filepath.Join(j.dir, "texts"), "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	files := map[string]string{}
	for _, k := range shells {
		files["batch."+k.name] = k.batch(texts, j.dir+"/work/"+k.name+"/log")
	}
	for _, i := range alone {
		files["alone."+strconv.Itoa(i)] = texts[i]
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, err
	}
	locale := []string{"C.UTF-8", "C"}[len(texts[0])%2]
	script := `ulimit -f 4096 && ulimit -p 4000 && mount -t tmpfs -o mode=0777,nosuid,nodev,size=64m none "$1/work" &&
		mount -o remount,bind,ro / &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all dash "$1/drive" "$2" "$3"`
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net", "--ipc", "--uts",
		"dash", "-c", script, "dash", j.dir, folder, locale)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the namespace: %w: %s", err, stderr.String())
	}
	return parseRuns(string(out))
}

// batch is a script in which a shell runs texts one after the other.
func (k kind) batch(texts []string, log string) string {
	var b strings.Builder
	if k.fish {
		for _, p := range programs {
			fmt.Fprintf(&b, "function %s; begin; printf %%s %s %s (count $argv) %s; for a in $argv; printf %%s $a %s; end; printf %%s %s; end >>%s; end\n", p, p, field, field, field, record, log)
		}
		quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
		for i, s := range texts {
			fmt.Fprintf(&b, "printf %%s '#%s%d%s' >>%s\neval '%s' </dev/null\n", field, i, record, log, quote.Replace(s))
		}
		fmt.Fprintf(&b, "printf %%s '#%s-1%s' >>%s\n", field, record, log)
		return b.String()
	}
	for _, p := range programs {
		fmt.Fprintf(&b, "%s() { __i=$IFS; IFS='%s'; %s \"%s%s$#%s$*%s\" >>%s; IFS=$__i; __n=x$__n; case $__n in xxxxxxxxxxxxxxxxxxxx*) exit;; esac; }\n", p, field, k.prints, p, field, field, record, log)
	}
	for i, s := range texts {
		fmt.Fprintf(&b, "%s '#%s%d%s' >>%s\n(eval '%s'\nwait) </dev/null\n", k.prints, field, i, record, log, strings.ReplaceAll(s, "'", `'\''`))
	}
	fmt.Fprintf(&b, "%s '#%s-1%s' >>%s\n", k.prints, field, record, log)
	return b.String()
}

// present are the files that every shell finds.
var present = []string{".", "./a.txt", "./b.txt", "./dir", "./dir/b"}

func parseRuns(out string) ([]seen, error) {
	parts := strings.Split(out, "\x1d")
	if len(parts) < 5 || (len(parts)-1)%4 != 0 {
		return nil, fmt.Errorf("the driver said %.500q", out)
	}
	var all []seen
	for p := parts[1:]; len(p) >= 4; p = p[4:] {
		s := seen{text: none}
		name := strings.Split(p[0], ":")
		s.kind = name[0]
		if len(name) == 3 {
			s.way = name[1]
			s.text, _ = strconv.Atoi(name[2])
		}
		for f := range strings.Lines(p[3]) {
			f = strings.TrimSuffix(f, "\n")
			if !slices.Contains(present, f) {
				s.files = append(s.files, f)
			}
		}
		at := s
		for r := range strings.SplitSeq(p[2], record) {
			fields := strings.Split(r, field)
			switch {
			case fields[0] == "#" && len(fields) == 2:
				all = append(all, at)
				at = s
				at.text, _ = strconv.Atoi(fields[1])
			case len(fields) > 2:
				n, _ := strconv.Atoi(fields[1])
				at.calls = append(at.calls, append([]string{fields[0]}, fields[2:min(2+n, len(fields))]...))
			}
		}
		if at.way == "" && at.kind != "lost" {
			if at.text == none {
				return nil, fmt.Errorf("%s did not begin: status %s", at.kind, p[1])
			}
			at.cut = at.text != last
		}
		all = append(all, at)
	}
	return all, nil
}
