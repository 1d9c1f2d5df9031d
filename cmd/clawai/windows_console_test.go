//go:build windows

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/event"
)

func init() {
	programs["atconsole"] = atConsole
	programs["typist"] = typist
}

var (
	kernel32      = windows.NewLazySystemDLL("kernel32.dll")
	attachConsole = kernel32.NewProc("AttachConsole")
	freeConsole   = kernel32.NewProc("FreeConsole")
	typeAtConsole = kernel32.NewProc("WriteConsoleInputW")
	readScreen    = kernel32.NewProc("ReadConsoleOutputCharacterW")
	createThread  = kernel32.NewProc("CreateRemoteThread")
)

// atConsole is who sits at the console of another process: atconsole PID EVENT, one of
// windows.CTRL_C_EVENT and its like. It may end by the event itself.
func atConsole() {
	pid, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	ctrl, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	_, _, _ = freeConsole.Call()
	if ok, _, err := attachConsole.Call(uintptr(pid)); ok == 0 {
		panic(err)
	}
	if err := windows.GenerateConsoleCtrlEvent(uint32(ctrl), 0); err != nil {
		panic(err)
	}
}

// TestControlC ends a proxy in order, and its server by the end of its input: the event is
// not for the server too.
func TestControlC(t *testing.T) {
	t.Parallel()
	r := launch(t, t.TempDir(), allowTools, "-tidies", "1ms")
	r.call(1, "hang")
	pid, ctrl := strconv.Itoa(r.cmd.Process.Pid), strconv.Itoa(windows.CTRL_C_EVENT)
	if out, err := exec.Command("atconsole", pid, ctrl).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.over()
	ends := r.kept(event.End)
	if len(ends) != 1 {
		t.Fatalf("%d ends are recorded", len(ends))
	}
	// Of itself it ends with 7; 0 is how Wine has those end that a Ctrl-C reaches.
	if how := ends[0].Detail; strings.HasPrefix(how, "server: exit code 0;") {
		t.Errorf("%s: it was told too", how)
	}
}

// TestConsoleEnds: Ctrl-Break, the closing of a console's window, a logoff and a shutdown end
// a session in order. The console starts a thread at this routine of the process for each;
// here that is done by hand, since Wine makes no such event.
func TestConsoleEnds(t *testing.T) {
	t.Parallel()
	routine := windows.NewLazySystemDLL("kernelbase.dll").NewProc("CtrlRoutine") // at one place in all processes
	for name, ctrl := range map[string]uintptr{
		"Ctrl-Break": windows.CTRL_BREAK_EVENT, "close": windows.CTRL_CLOSE_EVENT,
		"logoff": windows.CTRL_LOGOFF_EVENT, "shutdown": windows.CTRL_SHUTDOWN_EVENT,
	} {
		r := launch(t, t.TempDir(), allowTools, "-tidies", "1ms")
		r.call(1, "hang")
		proxy, err := windows.OpenProcess(windows.PROCESS_ALL_ACCESS, false, uint32(r.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		thread, _, err := createThread.Call(uintptr(proxy), 0, 0, routine.Addr(), ctrl, 0, 0)
		if thread == 0 {
			t.Fatal(err)
		}
		r.over()
		_ = windows.CloseHandle(windows.Handle(thread))
		_ = windows.CloseHandle(proxy)
		if ends := r.kept(event.End); len(ends) != 1 {
			t.Errorf("%s: %d ends are recorded", name, len(ends))
		}
	}
}

// typist is a person at a console of its own who runs "clawai approve": typist SEEN TYPED...
// types each text when the other is on the screen, and says what the screen is in the end.
func typist() {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	out, err2 := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	cmd := exec.Command("clawai", "approve")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait()
	}()
	late := time.After(patience)
	for steps := os.Args[1:]; ; time.Sleep(100 * time.Millisecond) {
		select {
		case <-late:
			_ = cmd.Process.Kill()
		case <-over:
			fmt.Println(onScreen(out))
			os.Exit(cmd.ProcessState.ExitCode())
		default:
		}
		if len(steps) > 3 && strings.Contains(onScreen(out), steps[2]) {
			steps = steps[2:]
		}
		if strings.Contains(onScreen(out), steps[0]) { // once more when it was typed too early
			typeIn(in, steps[1]+"\r")
		}
	}
}

// typeIn puts presses of keys into a console's input (wincon.h, INPUT_RECORD).
func typeIn(in *os.File, text string) {
	for _, c := range text {
		r := [10]uint16{0: 1, 2: 1, 4: 1, 7: uint16(c)}
		var n uint32
		_, _, _ = typeAtConsole.Call(in.Fd(), uintptr(unsafe.Pointer(&r)), 1, uintptr(unsafe.Pointer(&n)))
	}
}

func onScreen(out *os.File) string {
	var b strings.Builder
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(out.Fd()), &info) != nil {
		return ""
	}
	line := make([]uint16, info.Size.X)
	for y := int16(0); y <= info.CursorPosition.Y; y++ {
		var n uint32
		_, _, _ = readScreen.Call(out.Fd(), uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)), uintptr(y)<<16, uintptr(unsafe.Pointer(&n)))
		b.WriteString(strings.TrimRight(windows.UTF16ToString(line[:n]), " ") + "\n")
	}
	return b.String()
}

// TestAskedAtAConsole: a call that a rule asks about waits in the queue, is shown to who
// sits at a console, and goes on when they allow it.
func TestAskedAtAConsole(t *testing.T) {
	t.Parallel()
	r := launch(t, t.TempDir(), "[[rule]]\naction = \"prompt\"\ntool = \"write\"\n"+allowTools)
	r.call(1, "write")
	cmd := exec.Command("typist", "1 waiting:", "1", "Return alone: deny.", "allow", "allowed once", "q")
	cmd.Env, cmd.SysProcAttr = r.environ(), &windows.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
	screen, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, screen)
	}
	r.answers(1, `"result"`)
}
