package flow

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

const limitRule = `[[rule]]
action = "allow"
tool = "*"
limit = "50/hour"
`

// counter is what a process of a session counts with.
func counter(t testing.TB, state string) func() (let bool, over gate.Excess) {
	return counterOf(New(state, []string{"session:1"}), t.Cleanup)
}

func counterOf(s *Session, cleanup func(func())) func() (bool, gate.Excess) {
	cleanup(s.Close)
	p, err := policy.Parse("p.toml", []byte(limitRule), policy.Options{})
	if err != nil {
		panic(err)
	}
	m := &gate.Meter{Ledger: s.CountsLedger()}
	cs := []policy.Call{{Subject: policy.ToolSubject, Names: []string{"x"}, Method: "tools/call"}}
	return func() (bool, gate.Excess) {
		paid, over := m.Charge(time.Now(), nil, p.DecideAll(cs).Rates, cs)
		return paid != nil && over.Rule == nil, over
	}
}

func countsFile(state string) string {
	return filepath.Join(dirOf(state), fileOf("session:1")+countsEnd)
}

// Four processes of a session, killed whenever, let no more through than the limit; and all of
// it, where none of them takes a place along that it did not use.
func TestKilledWhileCounting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs kill -9")
	}
	rounds := 4
	if testing.Short() {
		rounds = 2 // to the end, and killed
	}
	for round := range rounds {
		state := t.TempDir()
		counts := make(chan int, 4)
		for i := range 4 {
			cmd := exec.Command(os.Args[0], fmt.Sprint(i)) //nolint:gosec // ourselves
			cmd.Env = append(os.Environ(), writerState+"="+state, writerLimit+"=1")
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := 1 + rand.IntN(30)
			if round == 0 {
				lines = 1000 // to the end
			}
			go func() {
				in, let := bufio.NewScanner(out), 0
				for n := 0; n < lines && in.Scan(); n++ {
					if let++; in.Text() != "let" {
						let = 1000
					}
				}
				_ = cmd.Process.Kill()
				for in.Scan() { // what it let through before it fell
					let++
				}
				_ = cmd.Wait()
				counts <- let
			}()
		}
		sum := 0
		for range 4 {
			sum += <-counts
		}
		again := counter(t, state)
		for {
			let, over := again()
			if !let {
				if over.Rule == nil {
					t.Errorf("round %d: %v", round, over.Err)
				}
				break
			}
			sum++
		}
		if sum > 50 || round == 0 && sum != 50 {
			t.Errorf("round %d: %d were let through", round, sum)
		}
	}
}

// countForever is what one of them does.
func countForever(state string) {
	charge := counterOf(New(state, []string{"session:1"}), func(func()) {})
	for {
		switch let, over := charge(); {
		case let:
			fmt.Println("let")
		case over.Rule == nil:
			fmt.Println("error", over.Err)
			os.Exit(1)
		default:
			_ = os.Stdout.Close()
			time.Sleep(time.Minute)
		}
	}
}

// A file that is not as it was written counts nothing, for those who have read it before and
// for those who come; one that was taken away is begun anew, and who has read it knows it.
func TestHarmedLedger(t *testing.T) {
	slow.Test(t)
	for name, harm := range map[string]func(path string, was []byte) error{
		"torn":   func(p string, was []byte) error { return os.WriteFile(p, append(was, "c 0011"...), 0o600) },
		"a line": func(p string, was []byte) error { return os.WriteFile(p, append(was, "x\n"...), 0o600) },
		"zeros":  func(p string, was []byte) error { return os.WriteFile(p, append(was, 0, 0, 0, '\n'), 0o600) },
		"less":   func(p string, was []byte) error { return os.WriteFile(p, was[:len(was)-4], 0o600) },
		"longer": func(p string, was []byte) error {
			return os.WriteFile(p, append(was, bytes.Repeat([]byte("\n"), maxLedger)...), 0o600)
		},
		"a minus": func(p string, was []byte) error {
			return os.WriteFile(p, bytes.ReplaceAll(was, []byte(" 1 \""), []byte(" -1 \"")), 0o600)
		},
		"of others": func(p string, _ []byte) error { return os.Chmod(p, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && name == "of others" {
				t.Skip("needs modes")
			}
			state := t.TempDir()
			knew := counter(t, state)
			if let, over := knew(); !let {
				t.Fatal(over)
			}
			was, err := os.ReadFile(countsFile(state))
			if err == nil {
				err = harm(countsFile(state), was)
			}
			if err != nil {
				t.Fatal(err)
			}
			if let, over := counter(t, state)(); let || over.Err == nil || !strings.Contains(over.Err.Error(), countsEnd) {
				t.Errorf("who comes: %v, %+v", let, over)
			}
			if let, over := knew(); (name == "torn" || name == "a line" || name == "zeros" || name == "longer") && (let || over.Err == nil) {
				t.Errorf("who knew it: %v, %+v", let, over)
			}
		})
	}
	if runtime.GOOS == "windows" {
		return // a file that is open stays
	}
	state := t.TempDir()
	knew := counter(t, state)
	for range 50 {
		knew()
	}
	if err := os.Remove(countsFile(state)); err != nil {
		t.Fatal(err)
	}
	if let, over := knew(); let || over.Rule == nil {
		t.Errorf("taken away, who knew it: %v, %+v", let, over)
	}
	if let, over := counter(t, state)(); !let {
		t.Errorf("taken away, who comes: %+v", over)
	}
}

// Who takes grants for a folder's alone would take a stranger's.
func TestWhoSharesGrants(t *testing.T) {
	state := t.TempDir()
	if New(state, []string{"folder:0:/p"}).GrantedLedger() != nil {
		t.Error("a folder's")
	}
	a, b := New(state, []string{"session:1"}), New(state, []string{"session:1", "process:7"})
	t.Cleanup(a.Close)
	t.Cleanup(b.Close)
	l := a.GrantedLedger()
	if l == nil {
		if runtime.GOOS == "linux" {
			t.Error("nobody")
		}
		return
	}
	if _, err := l.Append(gate.Entry{Key: [16]byte{1}, ID: 2, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	since, err := b.GrantedLedger().Append()
	if err != nil || len(since) != 1 || since[0].Key != [16]byte{1} || since[0].ID != 2 || !l.Alive(since[0].By) {
		t.Errorf("%+v, %v", since, err)
	}
	for _, by := range []string{"", "x", "1", "1:2:3", since[0].By + "0"} {
		if l.Alive(by) {
			t.Errorf("%q is alive", by)
		}
	}
}

// A line is what it says, or none: read and written again it is the same.
func FuzzEntry(f *testing.F) {
	e := gate.Entry{Key: [16]byte{1, 2}, ID: 1 << 60, At: time.Now(), Every: time.Hour, Amount: 5, Back: true}
	f.Add(entryLine(&e, "12:34:boot"))
	f.Add(`c 00112233445566778899aabbccddeeff 9e3779b97f4a7c15 1795430000000000000 60000000000 1 ""`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := readEntry(line)
		if err != nil {
			return
		}
		if again := entryLine(&e, e.By); again != line || e.Amount < 0 || strings.Contains(line, "\n") {
			t.Errorf("%q, %q", line, again)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	s := begin(b, b.TempDir(), "session:1")
	l := s.CountsLedger()
	e := gate.Entry{At: time.Now(), Every: time.Second, Amount: 1}
	b.ReportAllocs()
	for b.Loop() {
		if e.ID++; e.ID%100_000 == 0 {
			b.Skip("full")
		}
		if since, err := l.Append(e); err != nil || len(since) != 1 {
			b.Fatal(since, err)
		}
	}
}
