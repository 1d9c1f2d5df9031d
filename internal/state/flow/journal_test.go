package flow

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/accesstest"

	"github.com/clawai/clawai/policy"
)

func seenBy(t *testing.T, s *Session) string {
	t.Helper()
	seen, err := s.Seen()
	if err != nil {
		return "error"
	}
	return strings.Join(seen.LabelWords(), " ")
}

// begin is a session that ends with the test.
func begin(t testing.TB, state string, keys ...string) *Session {
	s := New(state, keys)
	t.Cleanup(s.Close)
	return s
}

func add(t *testing.T, s *Session, kind, source string) {
	t.Helper()
	if err := s.Add([]Seen{{kind, source, time.Now()}}); err != nil {
		t.Fatal(err)
	}
}

// A label that one adds is known to all that share a key, with their next look.
func TestShared(t *testing.T) {
	state := t.TempDir()
	a, b, c := begin(t, state, "session:1"), begin(t, state, "session:1", "process:7"), begin(t, state, "process:7")
	other := begin(t, state, "session:2")
	if got := seenBy(t, a) + seenBy(t, b) + seenBy(t, c); got != "" {
		t.Fatalf("at first: %q", got)
	}
	add(t, c, untrusted, "web fetch")
	add(t, a, secret, "vault read")
	for i, s := range []*Session{a, b, c} {
		if got := seenBy(t, s); got != "untrusted private secret" {
			t.Errorf("session %d: %q", i, got)
		}
	}
	if got := seenBy(t, other); got != "" {
		t.Errorf("another session: %q", got)
	}
	if err := other.JoinKey("session:1"); err != nil || seenBy(t, other) != "untrusted private secret" {
		t.Errorf("joined: %v, %q", err, seenBy(t, other))
	}
	add(t, other, private, "files read")
	if got := a.labelsNow(t); !got.hasLabel(private, "files read") {
		t.Error("the link does not lead back")
	}
	all, err := ListSessions(state)
	if err != nil || len(all) != 1 || all[0].Key != "session:2" || len(all[0].Also) != 2 || len(all[0].Seen) != 3 {
		t.Errorf("listed: %v, %+v", err, all)
	}
	b.Close()
	if seenBy(t, b) != "error" || b.Add([]Seen{{untrusted, "x", time.Now()}}) == nil {
		t.Error("closed, it still answers")
	}
}

func (s *Session) labelsNow(t *testing.T) labels {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshState(); err != nil {
		t.Fatal(err)
	}
	return s.labels
}

// Whatever is done to a journal, a session has no fewer labels afterwards, or refuses.
func TestHarmed(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(path string) error
		want string // of a session that had it open, and of one that comes
	}{
		"torn":                      {func(p string) error { return appendTo(p, "untrusted 17") }, "private/private"},
		"torn, then another writes": {func(p string) error { return appendTo(p, "untrusted 17\n\n") }, "untrusted private secret/untrusted private secret"},
		"truncated":                 {func(p string) error { return os.Truncate(p, 0) }, "untrusted private secret/untrusted private secret"},
		"cut short":                 {func(p string) error { return os.Truncate(p, 20) }, "untrusted private secret/untrusted private secret"},
		"overwritten":               {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", 4000)), 0o600) }, "untrusted private secret/untrusted private secret"},
		"enormous":                  {func(p string) error { return appendTo(p, strings.Repeat("k \"x\"\n", maxJournal/5)) }, "untrusted private secret/untrusted private secret"},
		"an unknown word":           {func(p string) error { return appendTo(p, "trusted 1 \"x\"\n") }, "untrusted private secret/untrusted private secret"},
		"others may write":          {func(p string) error { return accesstest.Share(p) }, "private/error"},
		"a link leads astray":       {func(p string) error { return appendTo(p, "l ../../etc/passwd\n") }, "untrusted private secret/untrusted private secret"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			s := begin(t, state, "session:1")
			add(t, s, private, "files read")
			if err := c.harm(filepath.Join(dirOf(state), fileOf("session:1"))); err != nil {
				t.Fatal(err)
			}
			got := seenBy(t, s) + "/" + seenBy(t, begin(t, state, "session:1"))
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

func TestRefusedFiles(t *testing.T) {
	for name, harm := range map[string]func(dir, path string) error{
		"a folder of others": func(dir, _ string) error { return accesstest.Share(dir) },
		"a link":             func(dir, path string) error { return os.Symlink(filepath.Join(dir, "other"), path) },
		"a folder":           func(_, path string) error { return os.Mkdir(path, 0o700) },
	} {
		if name == "a link" && runtime.GOOS == "windows" {
			continue // is followed there: who can make one in the folder can open what is in it
		}
		state := t.TempDir()
		dir := dirOf(state)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := harm(dir, filepath.Join(dir, fileOf("session:1"))); err != nil {
			t.Fatal(err)
		}
		if got := seenBy(t, begin(t, state, "session:1")); got != "error" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A key that a message names and whose journal cannot be opened ends the session: what was
// seen under it by others stays unknown.
func TestRefusedKey(t *testing.T) {
	state := t.TempDir()
	s := begin(t, state, "session:1")
	add(t, s, untrusted, "web page")
	if err := os.Mkdir(filepath.Join(dirOf(state), fileOf("session:2")), 0o700); err != nil {
		t.Fatal(err)
	}
	if s.JoinKey("session:2") == nil {
		t.Error("joined")
	}
	if got := seenBy(t, s); got != "error" {
		t.Errorf("afterwards it had seen %q", got)
	}
}

func TestBounded(t *testing.T) {
	state := t.TempDir()
	s := begin(t, state, "session:1")
	for i := range 3 * maxSources {
		add(t, s, untrusted, fmt.Sprint("web page", i))
	}
	again := begin(t, state, "session:1")
	if n, m := len(s.labelsNow(t)[untrusted]), len(again.labelsNow(t)[untrusted]); n != maxSources+1 || m != n || !again.labels.hasLabel(untrusted, "any") {
		t.Errorf("%d and %d sources", n, m)
	}
}

// Of several journals, one may tell of the others before another has told all names.
func TestOthersBeforeTheLastName(t *testing.T) {
	l := labels{}
	l.addLabel(Seen{untrusted, others, time.Now()})
	for i := range maxSources {
		source := fmt.Sprint(i)
		if l.addLabel(Seen{untrusted, source, time.Now()}); !l.hasLabel(untrusted, source) {
			t.Error(source, "has been joined, and would be new again")
		}
	}
}

func TestSwept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open is not removed there")
	}
	state := t.TempDir()
	held, left := begin(t, state, "session:held"), begin(t, state, "session:left")
	add(t, held, untrusted, "web")
	add(t, left, untrusted, "web")
	left.Close()
	old := time.Now().Add(-8 * 24 * time.Hour)
	for _, key := range []string{"session:held", "session:left"} {
		if err := os.Chtimes(filepath.Join(dirOf(state), fileOf(key)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if seenBy(t, begin(t, state, "session:new")) != "" || seenBy(t, begin(t, state, "session:held")) != "untrusted" || seenBy(t, begin(t, state, "session:left")) != "" {
		t.Error("not what was idle was swept")
	}
}

const (
	writerState = "CLAWAI_TEST_FLOW_STATE"
	writerLimit = "CLAWAI_TEST_FLOW_LIMIT"
)

// TestMain is a writer as well: it adds labels of its own until it is killed, and says each
// when it may count on it.
func TestMain(m *testing.M) {
	state := os.Getenv(writerState)
	if state == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(writerLimit) != "" {
		countForever(state)
	}
	s := New(state, []string{"session:1", "process:" + os.Args[1]})
	for i := range 200 {
		source := os.Args[1] + "." + fmt.Sprint(i)
		kind := policy.SeenWords()[i%3]
		if err := s.Add([]Seen{{kind, source, time.Now()}}); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		s.mu.Lock()
		if _, folded := s.labels[kind][source]; !folded {
			source = others
		}
		s.mu.Unlock()
		fmt.Println(kind, source)
	}
	_ = os.Stdin.Close()
	time.Sleep(time.Minute)
}

// What four processes have been told is kept is known to a fifth, whenever they are killed.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs kill -9")
	}
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		state := t.TempDir()
		reader := begin(t, state, "session:1")
		if seenBy(t, reader) != "" {
			t.Fatal("it begins with something")
		}
		said := make(chan string, 4000)
		done := make(chan struct{}, 4)
		for i := range 4 {
			cmd := exec.Command(os.Args[0], fmt.Sprint(i)) //nolint:gosec // ourselves
			cmd.Env = append(os.Environ(), writerState+"="+state)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := 1 + rand.IntN(60)
			go func() {
				defer func() { done <- struct{}{} }()
				in := bufio.NewScanner(out)
				for n := 0; n < lines && in.Scan(); n++ {
					said <- in.Text()
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
		}
		for ended := 0; ended < 4 || len(said) > 0; {
			select {
			case line := <-said:
				kind, source, _ := strings.Cut(line, " ")
				if known := reader.labelsNow(t); !known.hasLabel(kind, source) {
					t.Fatalf("round %d: %q was kept and is not known", round, line)
				}
			case <-done:
				ended++
			}
		}
		if all, fresh := reader.labelsNow(t), begin(t, state, "session:1").labelsNow(t); len(all[untrusted]) == 0 || len(fresh[untrusted]) < min(len(all[untrusted]), maxSources) {
			t.Errorf("round %d: %d, and %d to one who comes", round, len(all[untrusted]), len(fresh[untrusted]))
		}
	}
}

func BenchmarkNothingNew(b *testing.B) {
	s := begin(b, b.TempDir(), "session:1")
	if err := s.Add([]Seen{{private, "files read", time.Now()}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if seen, err := s.Seen(); err != nil || seen&policy.PrivateData == 0 {
			b.Fatal(seen, err)
		}
	}
}

// BenchmarkRead is the one system call that looking costs at least.
func BenchmarkRead(b *testing.B) {
	f, err := os.CreateTemp(b.TempDir(), "")
	if err == nil {
		defer f.Close()
		_, err = f.WriteString("a line\n")
	}
	if err != nil {
		b.Fatal(err)
	}
	var buf [512]byte
	for b.Loop() {
		if n, err := readOnce(f, buf[:], 6); n != 1 {
			b.Fatal(n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\nk \"a\"\n\nuntrusted 17 \"web\"\n\nl 0123456789abcdef0123456789abcdef\n"))
	f.Add([]byte("e 0123456789abcdef0123456789abcdef\ne\ne ../x\n"))
	f.Add([]byte("x\nk\nl\nsecret\nsecret 1\nsecret 1 \"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := parseLines(text)
		if lines := strings.Fields(string(text)); len(lines) > 0 && !c.torn && len(c.keys)+len(c.links)+len(c.seen)+len(c.ends) == 0 {
			t.Error("something stands there, and nothing was said of it")
		}
		for _, one := range c.seen {
			again := parseLines([]byte(labelLine(one) + "\n"))
			if !c.torn && (len(again.seen) != 1 || again.torn || again.seen[0] != one) {
				t.Errorf("%+v is read again as %+v", one, again)
			}
		}
	})
}
