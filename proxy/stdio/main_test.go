package stdio_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/stdio"
)

// role makes the test binary play a server, or a proxy that is going to be
// killed.
const role = "CLAWAI_TEST_ROLE"

func TestMain(m *testing.M) {
	if r := os.Getenv(role); r != "" {
		play(r)
		os.Exit(0)
	}
	// A child built for the race detector would linger a second after its end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func play(r string) {
	r, arg, _ := strings.Cut(r, ":")
	switch r {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "suicide":
		killSelf()
	case "deaf": // reads nothing, hears neither the end of its input nor SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(os.Getpid())
		time.Sleep(time.Minute)
	case "family": // as npx: a launcher whose server survives it
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=deaf")
		child.Stdout = os.Stdout
		fmt.Println(os.Getpid())
		_ = child.Run()
	case "wrapper": // as timeout: a family in a group of its own
		leadGroup()
		play("family")
	case "orphans": // ends with its input, and leaves a process behind
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=deaf")
		child.Stdout = os.Stdout
		_ = child.Start()
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(7)
	case "last": // says what it has to say when its input ends, and is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		_, _ = os.Stdout.WriteString(lastWords)
	case "stderr":
		fmt.Fprintln(os.Stderr, "heard", arg)
	case "owner", "early owner": // a proxy that starts what arg says, tells all pids, and waits
		o := stdio.Options{Args: []string{os.Args[0]}, Env: append(os.Environ(), role+"="+arg)}
		if r == "early owner" {
			o.Watchdog = stdio.StartWatchdog()
		}
		c, err := stdio.Start(o)
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(os.Stdout, c)
	}
}

// lastWords fit into a pipe, of 4 KiB on Windows.
var lastWords = strings.Repeat("the last answer\n", 200)

func start(t *testing.T, r string) *stdio.Child {
	t.Helper()
	c, err := stdio.Start(stdio.Options{Args: []string{os.Args[0]}, Env: append(os.Environ(), role+"="+r)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// pids reads n process ids, one a line.
func pids(t *testing.T, r io.Reader, n int) []int {
	t.Helper()
	var got []int
	lines := bufio.NewScanner(r)
	for len(got) < n && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, pid)
	}
	if len(got) < n {
		t.Fatalf("got %d pids, want %d", len(got), n)
	}
	return got
}

// patience is how long anything may take on a machine that is busy.
const patience = time.Minute

// gone waits until no process has any of the ids.
func gone(t *testing.T, within time.Duration, pids ...int) {
	t.Helper()
	late := time.After(within)
	for _, pid := range pids {
		for running(pid) {
			select {
			case <-late:
				t.Fatalf("process %d still runs after %v", pid, within)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}
