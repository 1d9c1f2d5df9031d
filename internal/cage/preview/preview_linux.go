package preview

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/preview/layer"
	"github.com/clawai/clawai/internal/cage/preview/report"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy/where/shell"
)

// maxResult is the largest size of the helper's output in bytes.
const maxResult = 64 << 20

func run(ctx context.Context, o Options) (*report.Result, error) {
	spec, err := newSpec(&o)
	if err != nil {
		return nil, err
	}
	helper, err := cage.HelperCommand()
	if err != nil {
		return nil, err
	}
	spec.Helper = helper[1:]
	text, err := spec.Encode()
	if err != nil {
		return nil, err
	}
	result, err := runHelper(ctx, append(helper, layer.Word, text), o.Env)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("it was not ready within %s", o.Wait)
	}
	return result, err
}

// runHelper starts the helper in its own namespaces, and reads its result.
func runHelper(ctx context.Context, words, env []string) (*report.Result, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	attr, err := namespaces()
	if err != nil {
		return nil, err
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.Stderr, cmd.SysProcAttr = env, []*os.File{theirs}, &errs, attr // theirs becomes layer.ResultFD in the helper
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("this system lets no user make namespaces: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // if this process is killed, the kernel ends all other processes of its namespace
	out, err := io.ReadAll(io.LimitReader(ours, maxResult))
	result := &report.Result{}
	if err == nil {
		err = json.Unmarshal(out, result)
	}
	select {
	case failed := <-ended:
		if err != nil {
			err = errors.Join(errors.New("it ended without a list: "+strings.TrimSpace(errs.String())), failed)
		}
	case <-ctx.Done():
		if err != nil {
			err = ctx.Err()
		}
	}
	return result, err
}

// powers are the capabilities that the helper needs in its namespaces. They have no effect outside
// these namespaces.
var powers = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP,
	unix.CAP_KILL, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_SYS_PTRACE}

// rootPowers are the capabilities that a command of root keeps. They apply only to files of users
// that its namespace knows.
var rootPowers = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID, unix.CAP_SETUID}

func namespaces() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{
		AmbientCaps: powers,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
	}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	var err1, err2 error // root may own files of all users, so all users are mapped
	attr.UidMappings, err1 = readMap("/proc/self/uid_map")
	attr.GidMappings, err2 = readMap("/proc/self/gid_map")
	attr.GidMappingsEnableSetgroups = true
	return attr, errors.Join(err1, err2)
}

// readMap reads the users or groups of this namespace from a file in /proc. It returns a map in
// which each user or group keeps its number.
func readMap(path string) (all []syscall.SysProcIDMap, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m syscall.SysProcIDMap
		var outside int
		if _, err := fmt.Sscan(lines.Text(), &m.ContainerID, &outside, &m.Size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		m.HostID = m.ContainerID
		all = append(all, m)
	}
	return all, nil
}

// newSpec examines the disk and returns the Spec for the helper.
func newSpec(o *Options) (*layer.Spec, error) {
	spec := &layer.Spec{Command: o.Command, Time: o.Wait * 3 / 4, Until: o.Wait * 9 / 10, Bytes: maxBytes, Listed: cmp.Or(o.Listed, maxList)}
	var err error
	if spec.Dir, err = realFolder(cmp.Or(o.Dir, ".")); err != nil {
		return nil, err
	}
	home, err := realFolder(o.Home)
	if err != nil {
		return nil, err
	}
	if o.Text != "" {
		program := "/bin/sh"
		if _, err := os.Stat("/bin/bash"); err == nil {
			program = "/bin/bash"
		}
		spec.Command = []string{program, "-c", o.Text}
	}
	if spec.Command[0], err = findProgram(spec.Command[0], spec.Dir); err != nil {
		return nil, err
	}
	spec.Folders = findFolders(spec.Dir, home, o.Text)
	if os.Geteuid() == 0 {
		spec.Keep = rootPowers
	}
	for _, own := range o.Own {
		if real, err := filepath.EvalSymlinks(own); err == nil {
			spec.Empty = append(spec.Empty, real)
		}
	}
	spec.Empty = append(spec.Empty, cage.SecretsIn(home, append([]string{home, spec.Dir}, ancestors(spec.Dir, home)...))...)
	if at := slices.IndexFunc(spec.Empty, func(place string) bool { return place == spec.Dir || strings.HasPrefix(spec.Dir, place+"/") }); at >= 0 {
		return nil, fmt.Errorf("it starts in %s, which is empty in a preview", spec.Empty[at])
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	for _, v := range o.Env {
		if name, _, found := strings.Cut(v, "="); found && redact.ScrubText(v) == v {
			spec.Env = append(spec.Env, name)
		}
	}
	return spec, nil
}

func realFolder(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// findProgram returns the path of a program, as a shell finds it.
func findProgram(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// ancestors returns the folders around dir, below home.
func ancestors(dir, home string) (all []string) {
	for at := filepath.Dir(dir); strings.HasPrefix(at, home+"/"); at = filepath.Dir(at) {
		all = append(all, at)
	}
	return all
}

// findFolders returns the folders that get layers: folders in which this user can write. It does
// not search the whole disk.
func findFolders(dir, home, text string) (all []string) {
	add := func(path string) {
		real, err := filepath.EvalSymlinks(path)
		if _, rest, _ := strings.Cut(real, "/"); err == nil && real != "/" && !slices.Contains(all, real) && !isMachine(rest) {
			if info, err := os.Stat(real); err == nil && info.IsDir() {
				all = append(all, real)
			}
		}
	}
	if os.Geteuid() == 0 {
		entries, _ := os.ReadDir("/")
		for _, e := range entries {
			add("/" + e.Name())
		}
	}
	for _, path := range []string{home, topWritable(dir), dir, "/tmp", "/var/tmp", "/dev/shm"} {
		add(path)
	}
	for _, name := range shell.FilesOf(text).Writes {
		if filepath.IsAbs(name) {
			add(topWritable(filepath.Dir(name)))
		}
	}
	return all
}

// isMachine reports whether a path, without its first slash, belongs to the kernel, to devices or to
// running services. Such a folder gets no layer, except /dev/shm.
func isMachine(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{"proc", "sys", "dev", "run"}, first) && path != "dev/shm"
}

// topWritable returns the outermost folder around a path in which this user can write.
func topWritable(path string) string {
	top := path
	for at := path; at != "/"; at = filepath.Dir(at) {
		if unix.Access(at, unix.W_OK) == nil {
			top = at
		}
	}
	return top
}
