//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running process of one way. It uses blocking reads and writes, because a poller
// would add to the measured time.
type process struct {
	way  way
	cmd  *exec.Cmd
	in   int // the end of the child's standard input that we write
	out  int // the end of the child's standard output that we read
	buf  []byte
	line []byte // the buffer of the last request
	last int    // the id of the last request
}

// start starts a process of the way w. If wrap is not empty, it is a command such as valgrind, and
// start runs the process under this command.
func (b *testbed) start(ctx context.Context, w way, wrap ...string) (*process, error) {
	args := append(wrap, b.commandLine(w)...)
	p := &process{way: w, cmd: exec.CommandContext(ctx, args[0], args[1:]...), buf: make([]byte, 1<<20)}
	p.cmd.Dir, p.cmd.Stderr = b.dir, os.Stderr
	// The caller's settings and policies would change the figures, so the process gets its own
	// folders.
	p.cmd.Env = append(os.Environ(), "HOME="+b.dir, "CLAWAI_CONFIG_DIR="+b.path("config"), "GOMAXPROCS=", "GOGC=")
	var stdin, stdout [2]int
	if err := syscall.Pipe2(stdin[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	if err := syscall.Pipe2(stdout[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	theirs := []*os.File{os.NewFile(uintptr(stdin[0]), "stdin"), os.NewFile(uintptr(stdout[1]), "stdout")}
	p.cmd.Stdin, p.cmd.Stdout = theirs[0], theirs[1]
	p.in, p.out = stdin[1], stdout[0]
	err := p.cmd.Start()
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, p.closePipes())
	}
	return p, p.open()
}

// open sends the requests that some ways need before the first call.
func (p *process) open() error {
	for _, one := range []struct {
		needed bool
		line   string
	}{{p.way.hub, begin}, {p.way.listed, askTools}} {
		if !one.needed {
			continue
		}
		if err := p.write([]byte(one.line)); err != nil {
			return err
		}
		if err := p.answers(1, 0); err != nil {
			return err
		}
	}
	return nil
}

// askTools is the request tools/list.
const askTools = `{"jsonrpc":"2.0","id":0,"method":"tools/list"}` + "\n"

// begin is the initialize request of a hub's client.
const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

func (p *process) closePipes() error {
	return errors.Join(syscall.Close(p.in), syscall.Close(p.out))
}

// stop closes the input and waits for the process to end.
func (p *process) stop() error {
	_ = syscall.Close(p.in)
	err := p.cmd.Wait()
	_ = syscall.Close(p.out)
	if err != nil {
		return fmt.Errorf("%s: %w", p.way.name, err)
	}
	return nil
}

// request returns the next call as a line. size is the size of the wanted result in bytes; 0 leaves
// the size to the server. The line is valid until the next request. request must not allocate
// memory, because a test counts the allocations here.
func (p *process) request(size int) []byte {
	p.last++
	line := append(p.line[:0], `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, int64(p.last), 10)
	if p.way.lists {
		p.line = append(line, `,"method":"tools/list"}`+"\n"...)
		return p.line
	}
	line = append(line, `,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go"`...)
	if size = max(size, p.way.text); size > 0 {
		line = strconv.AppendInt(append(line, `,"head":`...), int64(size), 10)
	}
	if p.way.table > 0 {
		line = strconv.AppendInt(append(line, `,"tail":`...), int64(p.way.table), 10)
	}
	if p.way.argument > 0 {
		line = append(appendText(append(line, `,"tail":"`...), prose, p.way.argument), '"')
	}
	if line = append(line, '}'); p.way.meta {
		line = append(strconv.AppendInt(append(line, `,"_meta":{"progressToken":`...), int64(p.last), 10), '}')
	}
	p.line = append(line, "}}\n"...)
	return p.line
}

// call makes one call, and checks that the answer has at least size bytes.
func (p *process) call(size int) error {
	if err := p.write(p.request(size)); err != nil {
		return err
	}
	return p.answers(1, size)
}

func (p *process) write(line []byte) error {
	for len(line) > 0 {
		n, err := syscall.Write(p.in, line)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("%s: write: %w", p.way.name, err)
		}
		line = line[max(n, 0):]
	}
	return nil
}

// answers reads n lines. Together they must have at least size bytes, and none may be a refusal
// (isError).
func (p *process) answers(n, size int) error {
	for read := 0; n > 0; {
		got, err := p.read()
		if err != nil {
			return err
		}
		read += got
		n -= bytes.Count(p.buf[:got], []byte{'\n'})
		if n <= 0 && (read < size || bytes.Contains(p.buf[:got], []byte(`"isError"`))) {
			return fmt.Errorf("%s: %d bytes came of %d asked for; the end: %q", p.way.name, read, size, p.buf[max(got-300, 0):got])
		}
	}
	return nil
}

func (p *process) read() (int, error) {
	for {
		got, err := syscall.Read(p.out, p.buf)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("%s: read: %w", p.way.name, err)
		case got == 0:
			return 0, fmt.Errorf("%s ended before it answered", p.way.name)
		default:
			return got, nil
		}
	}
}

// inFlight makes n calls, with at most depth open calls at the same time. It writes each call
// separately.
func (p *process) inFlight(depth, n int) error {
	free := make(chan struct{}, depth)
	for range depth {
		free <- struct{}{}
	}
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range n {
			<-free
			if err := p.write(p.request(0)); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for done := 0; done < n; {
		got, err := p.read()
		if err != nil {
			return err
		}
		lines := bytes.Count(p.buf[:got], []byte{'\n'})
		for range lines {
			free <- struct{}{}
		}
		done += lines
	}
	return <-failed
}

// userTime returns the processor time of the process in user mode so far (proc(5), stat). It is
// useful only for many calls, because the resolution is 10 ms.
func (p *process) userTime() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks, err := strconv.Atoi(fields[11])
	return time.Duration(ticks) * 10 * time.Millisecond, err
}

// allTime returns the processor time of all threads so far.
func (p *process) allTime() (sum time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		ns, _ := strconv.ParseInt(strings.Fields(string(text) + " 0")[0], 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

// peak returns the maximum resident memory of the process itself, in MiB.
func (p *process) peak() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, err := strconv.ParseFloat(kib, 64)
	return n / 1024, err
}

// memory returns the memory of a process and its children in MiB, without the server's memory.
// resident counts each page fully. proportional divides each page by the number of processes that
// share it.
func (b *testbed) memory(pid int) (resident, proportional float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		kib, _ := strconv.ParseFloat(f[min(1, len(f)-1)], 64)
		switch f[0] {
		case "Rss:":
			resident += kib / 1024
		case "Pss:":
			proportional += kib / 1024
		}
	}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, 0, err
	}
	server := strings.Join([]string{b.self, childArgument, "echo", ""}, "\x00")
	for _, file := range children {
		text, _ := os.ReadFile(file)
		for child := range strings.FieldsSeq(string(text)) {
			id, _ := strconv.Atoi(child)
			if is, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)); string(is) == server {
				continue
			}
			r, s, err := b.memory(id)
			if err != nil {
				return 0, 0, err
			}
			resident, proportional = resident+r, proportional+s
		}
	}
	return resident, proportional, nil
}
