//go:build linux

// Package sandbox lets a hostile server try to leave its cage, as a user without powers.
package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/preview/layer"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/stdio"
)

// pageVariable holds docs/sandbox.md, which nobody may not be able to read.
const pageVariable = "CAGE_TEST_PAGE"

func readPage() string {
	text, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// nobody is the user as whom everything here runs.
const nobody = 65534

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case cage.HelperArgument:
			os.Exit(layer.RunHelper("test", os.Args[2:]))
		case "hostile":
			os.Exit(playHostile(os.Args[2:]))
		case "packets":
			os.Exit(playPackets(os.Args[2:]))
		case "grab", "hidden-memory", "mapped", "nameless", "deep", "push":
			os.Exit(playCommand(os.Args[1:]))
		}
	}
	if os.Geteuid() == 0 {
		os.Exit(runAsNobody())
	}
	if os.Getenv(pageVariable) == "" {
		_ = os.Setenv(pageVariable, readPage())
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)          // as a program that this user has started
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // where only parents may trace, anybody may
	os.Exit(m.Run())
}

// mountedHome is a home in which something is mounted, in the mount namespace of the tests.
const mountedHome = "/srv"

// runAsNobody runs the tests again as a user without powers. Nobody else may read the folder of
// the test's program, so a copy is run.
func runAsNobody() int {
	dir, err := os.MkdirTemp("", "cage")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		for _, place := range []string{"/tmp", mountedHome, filepath.Join(dir, "home", "held")} {
			_ = unix.Unmount(place, unix.MNT_DETACH)
		}
		_ = os.RemoveAll(dir)
	}()
	if err := errors.Join(arrangeMounts(dir), copyProgram("/tmp/cage/sandbox.test")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Nobody cannot write where the coverage and the log of read files would go; what is covered is
	// another program anyway.
	words := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(word string) bool {
		return slices.ContainsFunc([]string{"-test.gocoverdir", "-test.coverprofile", "-test.testlogfile"}, func(flag string) bool { return strings.HasPrefix(word, flag) })
	})
	cmd := exec.Command("/tmp/cage/sandbox.test", words...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/tmp/cage/tmp", os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir, "HOME="+cmd.Dir, pageVariable+"="+readPage())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// arrangeMounts gives this thread, and the program that it starts, folders of dir in the place of /tmp and
// of mountedHome. Other tests mount file systems in the machine's /tmp, and a folder with mounts in it gets
// no layer.
func arrangeMounts(dir string) error {
	runtime.LockOSThread()
	temp, home := filepath.Join(dir, "temp"), filepath.Join(dir, "home")
	held := filepath.Join(home, "held")
	for _, folder := range []string{temp, home, held, filepath.Join(temp, "cage"), filepath.Join(temp, "cage", "tmp")} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		os.Chmod(temp, 0o777|os.ModeSticky),
		os.Chown(home, nobody, nobody),
		os.Chown(filepath.Join(temp, "cage", "tmp"), nobody, nobody),
		unix.Unshare(unix.CLONE_NEWNS),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", held, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k"),
		unix.Mount(home, mountedHome, "", unix.MS_BIND|unix.MS_REC, ""),
		unix.Mount(temp, "/tmp", "", unix.MS_BIND, ""), // the last one, for dir lies in /tmp
	)
}

func copyProgram(to string) error {
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755) //nolint:gosec // everybody runs it
}

// outcome is what became of an attempt.
type outcome struct {
	Name string
	Open bool
	Why  string
}

// playHostile makes all attempts, or one, and tells what became of them.
func playHostile(words []string) int {
	w := &world{}
	if err := json.Unmarshal([]byte(words[0]), w); err != nil {
		return 3
	}
	for _, a := range attempts() {
		if len(words) > 1 && words[1] != a.name || len(words) == 1 && a.about == "" {
			continue
		}
		o := outcome{Name: a.name}
		if err := a.try(w); err != nil {
			o.Why = err.Error()
		} else {
			o.Open = true
		}
		line, _ := json.Marshal(o)
		fmt.Println(string(line))
	}
	return 0
}

// site is a home with what a server must not reach, and listeners outside.
type site struct {
	world
	t      *testing.T
	dir    string
	counts map[string]*atomic.Int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: dir, counts: map[string]*atomic.Int64{}}
	s.Home = filepath.Join(dir, "home")
	s.Box, s.Parent = filepath.Join(s.Home, "box"), os.Getpid()
	for name, content := range map[string]string{
		".ssh/id": "key", ".claude.json": "{}", ".mozilla/firefox/logins.json": "{}", ".bashrc": "rc", "plain.txt": "a text of mine", "victim": "x", "victim2": "x",
		".config/autostart/.keep": "", ".config/clawai/policy.toml": "policy", ".local/state/clawai/record.jsonl": "record",
		".local/state/clawai/queue.db": "queue", ".local/state/clawai/queue.db-wal": "x",
		"box/.env": "TOKEN=1", "box/.git/hooks/sample": "#!/bin/sh", "box/.git/config": "[core]", "box/.vscode/tasks.json": "{}", "box/open.txt": "open",
	} {
		s.put(name, content)
	}
	s.Policy, s.Record = filepath.Join(s.Home, ".config/clawai/policy.toml"), filepath.Join(s.Home, ".local/state/clawai/record.jsonl")
	s.Queue, s.Plain = filepath.Join(s.Home, ".local/state/clawai/queue.db"), filepath.Join(s.Home, "plain.txt")
	s.Unix, s.Abstract = filepath.Join(dir, "s"), fmt.Sprintf("cage-%d-%s", os.Getpid(), filepath.Base(dir))
	s.TCP, s.UDP = s.listen("tcp", "tcp", "127.0.0.1:0"), s.listenUDP()
	s.Listed = s.listen("listed", "tcp", "127.0.0.1:0")
	s.listen("unix", "unix", s.Unix)
	s.listen("abstract", "unix", "@"+s.Abstract)
	if s.Own, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if s.FD, err = unix.Open(s.Plain, unix.O_RDONLY, 0); err != nil { // inherited by what is started
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(s.FD) })
	return s
}

func (s *site) put(name, content string) {
	path := filepath.Join(s.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// listen counts connections under a name.
func (s *site) listen(name, network, address string) string {
	l, err := net.Listen(network, address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	count := &atomic.Int64{}
	s.counts[name] = count
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func (s *site) listenUDP() string {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	count := &atomic.Int64{}
	s.counts["udp"] = count
	go func() {
		for {
			_, from, err := l.ReadFrom(make([]byte, 16))
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = l.WriteTo([]byte("in"), from)
		}
	}()
	return l.LocalAddr().String()
}

func (s *site) countAll() (n int64) {
	for _, count := range s.counts {
		n += count.Load()
	}
	return n
}

// plan is the cage of a table.
func (s *site) plan(table string) *cage.Plan {
	s.t.Helper()
	p, err := policy.Parse("p.toml", []byte("[server.x.sandbox]\n"+table), policy.Options{Home: s.Home})
	if err != nil {
		s.t.Fatal(err)
	}
	plan, err := cage.NewPlan(cage.Options{Tables: p.Cages("x"), Command: []string{s.Own}, Dir: s.Box, Home: s.Home,
		Own: []string{filepath.Dir(s.Policy), filepath.Dir(s.Record)}})
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

// attack starts the hostile server and returns what became of its attempts.
func (s *site) attack(plan *cage.Plan) map[string]outcome {
	s.t.Helper()
	as, err := json.Marshal(s.world)
	if err != nil {
		s.t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+s.Home, "CAGE_TEST_TOKEN=secret", "LD_PRELOAD=/nowhere.so")
	child, err := stdio.Start(stdio.Options{Args: []string{s.Own, "hostile", string(as)}, Env: env, Dir: s.Box, Stderr: os.Stderr, Cage: plan})
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]outcome{}
	for lines := bufio.NewScanner(child); lines.Scan(); {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			s.t.Fatalf("%v: %s", err, lines.Text())
		}
		all[o.Name] = o
	}
	_ = child.Close(context.Background())
	if child.ExitCode() != 0 {
		s.t.Errorf("the hostile server ended with %s", child.Status())
	}
	if plan != nil {
		s.t.Logf("%+v", *child.Cage())
		if len(child.Cage().Weaker) > 0 {
			s.t.Errorf("the cage is weaker: %q", child.Cage().Weaker)
		}
	}
	return all
}

// has32BitCalls reports whether the kernel runs programs of 32 bits. A kernel without them shuts the
// system calls of such programs also where there is no cage.
func has32BitCalls(t *testing.T) bool {
	t.Helper()
	header := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	code := []byte{0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80} // exit 0
	const base, size = 0x8048000, 52 + 32 + 9
	for _, half := range []uint16{2, 3, 1, 0} {
		header = binary.LittleEndian.AppendUint16(header, half)
	}
	for _, word := range []uint32{base + 52 + 32, 52, 0, 0} {
		header = binary.LittleEndian.AppendUint32(header, word)
	}
	for _, half := range []uint16{52, 32, 1, 0, 0, 0} {
		header = binary.LittleEndian.AppendUint16(header, half)
	}
	for _, word := range []uint32{1, 0, base, base, size, size, 5, 4096} {
		header = binary.LittleEndian.AppendUint32(header, word)
	}
	path := filepath.Join(t.TempDir(), "i386")
	if err := os.WriteFile(path, append(header, code...), 0o700); err != nil {
		t.Fatal(err)
	}
	err := exec.Command(path).Run()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Log("this kernel runs no programs of 32 bits, so their system calls are no way out")
	}
	return !errors.Is(err, syscall.ENOEXEC)
}

// The escape matrix of docs/sandbox.md: every attempt is made without a cage, where it must lead
// out if it can, and in each cage, where it must not.
func TestMatrix(t *testing.T) {
	const open = "write = [\"./\"]\n"
	columns := []struct {
		name, table string
		net, host   bool
	}{
		{name: "no cage"},
		{name: "enforce", table: "level = \"enforce\"\n" + open},
		{name: `net = ["*"]`, table: "level = \"enforce\"\nnet = [\"*\"]\n" + open, net: true},
		{name: "net = [a host]", table: "level = \"enforce\"\nnet = [\"LISTED\"]\n" + open, host: true},
		{name: "home readable", table: "level = \"enforce\"\nread = [\"~\"]\n" + open},
	}
	rows := map[string][]string{}
	var order []string
	oldCalls := has32BitCalls(t)
	for i, column := range columns {
		s := newSite(t)
		var plan *cage.Plan
		if column.table != "" {
			plan = s.plan(strings.Replace(column.table, "LISTED", s.Listed, 1))
		}
		before := s.countAll()
		got := s.attack(plan)
		reached := s.countAll() - before
		if column.host {
			reached -= s.counts["listed"].Load()
		}
		if plan != nil && !column.net && reached != 0 {
			t.Errorf("%s: %d connections arrived outside", column.name, reached)
		}
		if column.host && s.counts["listed"].Load() != 2 {
			t.Errorf("%s: %d connections arrived at it", column.name, s.counts["listed"].Load())
		}
		if (plan == nil || column.net) && reached == 0 {
			t.Errorf("%s: no connection arrived, so the counters count nothing", column.name)
		}
		for _, a := range attempts() {
			if a.about == "" {
				continue
			}
			o, made := got[a.name]
			if !made {
				t.Errorf("%s: %s was not tried", column.name, a.name)
				continue
			}
			plain := a.plain && (oldCalls || a.name != "32-bit")
			want := plan == nil && plain || column.net && a.net || column.host && slices.Contains([]string{"listed-host", "listed-directly"}, a.name)
			if column.name == "home readable" && slices.Contains([]string{"read-file", "list-home"}, a.name) {
				want = true
			}
			if o.Open != want && (plan != nil || a.plain) {
				t.Errorf("%s: %s: open %v, want %v (%s)", column.name, a.name, o.Open, want, o.Why)
			}
			if !slices.Contains(order, a.about) {
				order = append(order, a.about)
			}
			if len(rows[a.about]) <= i {
				rows[a.about] = append(rows[a.about], "0 of 0")
			}
			var opened, all int
			_, _ = fmt.Sscanf(rows[a.about][i], "%d of %d", &opened, &all)
			if o.Open {
				opened++
			}
			rows[a.about][i] = fmt.Sprintf("%d of %d", opened, all+1)
		}
	}
	table := "| ways out that were open |"
	for _, column := range columns {
		table += " " + column.name + " |"
	}
	table += "\n|---|" + strings.Repeat("---|", len(columns)) + "\n"
	for _, about := range order {
		table += "| " + about + " | " + strings.Join(rows[about], " | ") + " |\n"
	}
	t.Logf("the table of docs/sandbox.md:\n%s", table)
	page := os.Getenv(pageVariable)
	for _, about := range order { // what leads out without a cage depends on the machine
		caged := " | " + strings.Join(rows[about][1:], " | ") + " |\n"
		_, row, found := strings.Cut(page, "| "+about+" | ")
		if row, _, _ = strings.Cut(row, "\n"); !found || !strings.HasSuffix(row+"\n", caged) {
			t.Errorf("docs/sandbox.md says of %q: %s; it is%s", about, row, caged)
		}
	}
}

// Where the system makes no namespaces for users, Landlock and the filter close the same.
func TestMatrixWithoutNamespaces(t *testing.T) {
	s := newSite(t)
	if err := os.RemoveAll(s.Box); err != nil {
		t.Fatal(err)
	}
	s.put("box/open.txt", "open") // nothing in it stays shut
	plan := s.plan("level = \"enforce\"\nwrite = [\"./\"]\n")
	as, err := json.Marshal(s.world)
	if err != nil {
		t.Fatal(err)
	}
	lines, report := s.startBare(plan, "hostile", string(as))
	if report.Fault != "" || len(report.Weaker) > 0 {
		t.Fatalf("%+v", report)
	}
	for line := range strings.Lines(lines) {
		var o outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if o.Open && o.Name != "bounding-set" { // only who has powers can empty it, and no_new_privs does the same
			t.Errorf("%s is open", o.Name)
		}
	}
	if n := s.countAll(); n != 0 || !strings.Contains(lines, `"child-unix"`) {
		t.Errorf("%d connections arrived outside:\n%s", n, lines)
	}
}

// Something shut inside of an open folder needs mounts: without them the server is not started.
func TestNoNamespacesForHiddenPlaces(t *testing.T) {
	s := newSite(t)
	out, report := s.startBare(s.plan("level = \"enforce\"\nwrite = [\"./\"]\n"), "hostile", "{}")
	if !strings.Contains(report.Fault, "cannot be kept shut inside a folder that is open") || out != "" {
		t.Errorf("%+v\n%s", report, out)
	}
	out, report = s.startBare(s.plan("level = \"try\"\nwrite = [\"./\"]\n"), "hostile", "{}", "read-env")
	if report.Fault != "" || len(report.Weaker) != 1 || out == "" {
		t.Errorf("%+v\n%s", report, out)
	}
}

// startBare runs the helper without namespaces.
func (s *site) startBare(plan *cage.Plan, words ...string) (output string, last confine.Report) {
	s.t.Helper()
	spec := plan.Spec
	text, err := confine.EncodeSpec(&spec)
	if err != nil {
		s.t.Fatal(err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer ours.Close()
	cmd := exec.Command(s.Own, append([]string{cage.HelperArgument, text, s.Own}, words...)...)
	cmd.Dir, cmd.ExtraFiles, cmd.Stderr = s.Box, []*os.File{theirs}, os.Stderr
	out, _ := cmd.Output()
	_ = theirs.Close()
	for lines := json.NewDecoder(ours); lines.More(); {
		last = confine.Report{}
		if err := lines.Decode(&last); err != nil {
			s.t.Fatal(err)
		}
	}
	return string(out), last
}

// exec = false: the server starts no program, and can have threads.
func TestNoPrograms(t *testing.T) {
	s := newSite(t)
	got := s.attack(s.plan("level = \"enforce\"\nexec = false\nwrite = [\"./\"]\n"))
	if why := got["child-key"].Why; !strings.Contains(why, "operation not permitted") {
		t.Errorf("a program was started: %s", why)
	}
}

// What the table names is open, also among what else stays shut, and the environment is a list.
func TestNamedPlaces(t *testing.T) {
	s := newSite(t)
	got := s.attack(s.plan("level = \"enforce\"\nread = [\"~/.ssh\"]\nwrite = [\"./\", \"./.env\"]\nenv = [\"CAGE_TEST_TOKEN\"]\n"))
	for name, want := range map[string]bool{"read-key": true, "read-env": true, "variable": true, "write-hook": false, "read-policy": false, "preload": false, "write-shell": false} {
		if got[name].Open != want {
			t.Errorf("%s: open %v (%s)", name, got[name].Open, got[name].Why)
		}
	}
}

// What is hidden in the system's folders is empty, too.
func TestHiddenSystemPlaces(t *testing.T) {
	s := newSite(t)
	const look = "ls /usr/share | wc -l; wc -c </etc/passwd; wc -l </etc/group"
	plan := s.plan("level = \"enforce\"\nhide = [\"/usr/share\", \"/etc/passwd\"]\n")
	if got := strings.Fields(s.runShell(plan, look)); len(got) != 3 || got[0] != "0" || got[1] != "0" || got[2] == "0" {
		t.Errorf("%q", got)
	}
}

// The program that was installed in clawai's state folder is open, where a client leaves the disk readable,
// and nothing else of that folder is.
func TestInstalledInOpenDisk(t *testing.T) {
	s := newSite(t)
	const folder = ".local/state/clawai/servers/x-1/new-1"
	s.put(folder+"/tool.js", "installed")
	s.put(folder+"/.env", "TOKEN=1")
	s.put(".local/state/clawai/servers/x-1.json", "manifest")
	installed := filepath.Join(s.Home, folder)
	for _, client := range []*clienttable.Table{{}, nil} {
		tables := []policy.CageTable{{Level: policy.CageEnforce, Read: []string{"~"}}}
		if client != nil {
			tables = nil
		}
		plan, err := cage.NewPlan(cage.Options{Client: client, Tables: tables, Command: []string{"/bin/sh", filepath.Join(installed, "tool.js")}, Dir: s.Box, Home: s.Home,
			Own: []string{filepath.Dir(s.Policy), filepath.Dir(s.Record)}, Installed: installed})
		if err != nil {
			t.Fatal(err)
		}
		look := "cd " + filepath.Dir(s.Record) + "; find . | sort | tr '\\n' ' '; cat " + folder[len(".local/state/clawai/"):] + "/*; cat record.jsonl queue.db; cat servers/x-1.json; wc -c <" + installed + "/.env; echo x >" + installed + "/tool.js || echo kept"
		const want = ". ./servers ./servers/x-1 ./servers/x-1/new-1 ./servers/x-1/new-1/.env ./servers/x-1/new-1/tool.js installed0\nkept\n"
		if got := s.runShell(plan, look); got != want {
			t.Errorf("%q", got)
		}
	}
}

// runShell runs a line in a cage, and returns what it writes.
func (s *site) runShell(plan *cage.Plan, line string) string {
	s.t.Helper()
	plan.Spec.Program = "/bin/sh"
	child, err := stdio.Start(stdio.Options{Args: []string{"sh", "-c", line}, Env: os.Environ(), Dir: s.Box, Stderr: os.Stderr, Cage: plan})
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(child)
	_ = child.Close(context.Background())
	if err != nil || len(child.Cage().Weaker) > 0 {
		s.t.Errorf("%v, %+v", err, child.Cage())
	}
	return string(text)
}

// The names of the list lead to doors in the server's own network, whose ports nobody else has there.
func TestNamesOfHosts(t *testing.T) {
	s := newSite(t)
	plan := s.plan("level = \"enforce\"\nnet = [\"api.example.com\", \"localhost:3000\", \"*.example.org\"]\n")
	plan.Spec.Program = "/bin/sh"
	child, err := stdio.Start(stdio.Options{Args: []string{"sh", "-c", "cat /etc/hosts; (echo x >/etc/hosts) 2>/dev/null || echo kept; cat /proc/net/tcp; env"}, Env: os.Environ(), Dir: s.Box, Stderr: os.Stderr, Cage: plan})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(child)
	_ = child.Close(context.Background())
	for _, want := range []string{"127.77.0.1 api.example.com\n", "\nkept\n", " 01004D7F:01BB ", " 01004D7F:0050 ", " 0100007F:0BB8 ", "\nHTTPS_PROXY=http://127.0.0.1:", "\nNODE_USE_ENV_PROXY=1\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err != nil || strings.Contains(string(text), "example.org") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Without namespaces no host is reached, and the server is not started.
func TestHostsWithoutNamespaces(t *testing.T) {
	s := newSite(t)
	if out, report := s.startBare(s.plan("level = \"enforce\"\nnet = [\"api.example.com\"]\n"), "hostile", "{}"); !strings.Contains(report.Fault, "no host can be reached") || out != "" {
		t.Errorf("%+v\n%s", report, out)
	}
	as, err := json.Marshal(s.world)
	if err != nil {
		t.Fatal(err)
	}
	if out, report := s.startBare(s.plan("level = \"try\"\nnet = [\"api.example.com\"]\n"), "hostile", string(as), "tcp"); len(report.Weaker) != 1 || !strings.Contains(out, `"Open":false`) {
		t.Errorf("%+v\n%s", report, out)
	}
}
