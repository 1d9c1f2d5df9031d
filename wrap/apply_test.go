package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/testing/slow"
)

const cursorFile = `{"mcpServers":{"web":{"command":"npx","args":[]}}}`

// refused demands an error that says want, and a file that is as it was.
func (m *machine) refused(rel, want string, err error) {
	m.t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		m.t.Errorf("got %v, want %q", err, want)
	}
	if err != nil && !strings.HasPrefix(err.Error(), m.path(rel)+": ") {
		m.t.Errorf("the error does not start with the file: %v", err)
	}
	m.nothingLeft()
}

// nothingLeft demands that no temporary file of ours lies about.
func (m *machine) nothingLeft() {
	m.t.Helper()
	for _, path := range m.leftovers() {
		m.t.Errorf("left behind: %s", path)
	}
}

func (m *machine) leftovers() []string {
	var left []string
	_ = filepath.WalkDir(m.home, func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".json.lock") {
			left = append(left, path)
		}
		return nil
	})
	return left
}

func TestAClientThatWritesMeanwhileLosesNothing(t *testing.T) {
	for _, point := range []string{"locked", "journaled"} {
		m := newMachine(t)
		m.write(".cursor/mcp.json", cursorFile)
		theirs := strings.Replace(cursorFile, "web", "theirs", 1)
		m.opts.at = func(p string) {
			if p == point {
				m.write(".cursor/mcp.json", theirs)
			}
		}
		err := m.do(Wrap, Selection{})
		m.refused(".cursor/mcp.json", "run the command again", err)
		if !errors.Is(err, atomicfile.ErrChanged) {
			t.Errorf("got %v", err)
		}
		if got := m.read(".cursor/mcp.json"); got != theirs {
			t.Errorf("%s: lost what the client wrote: %s", point, got)
		}
		m.opts.at = nil
		if err := m.do(Wrap, Selection{}); err != nil || m.states()["theirs"] != Wrapped {
			t.Errorf("again: %v", err)
		}
	}
}

func TestAFailedEditIsTakenBackInTheJournal(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", cursorFile)
	m.opts.at = func(string) { m.write(".cursor/mcp.json", cursorFile+"\n") }
	if err := m.do(Wrap, Selection{}); err == nil {
		t.Fatal("not refused")
	}
	if s := m.states()["web"]; s != Bare {
		t.Errorf("it is %s, though it was never wrapped", s)
	}
}

func TestOneRefusedFileDoesNotStopTheOthers(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", cursorFile)
	m.write(".gemini/settings.json", cursorFile)
	if err := os.Chmod(m.path(".cursor/mcp.json"), 0o444); err != nil {
		t.Fatal(err)
	}
	changes := m.plan(Wrap, Selection{})
	errs := ApplyChanges(t.Context(), changes, m.opts)
	if len(errs) != 2 || errs[0] == nil || errs[1] != nil {
		t.Fatalf("got %v", errs)
	}
	m.refused(".cursor/mcp.json", "read-only for you (-r--r--r--)", errs[0])
	if m.read(".cursor/mcp.json") != cursorFile || m.read(".gemini/settings.json") == cursorFile {
		t.Error("the wrong file was written")
	}
}

func TestASymlinkStaysALink(t *testing.T) {
	m := newMachine(t)
	target := m.write("dotfiles/cursor.json", cursorFile)
	m.write(".cursor/other", "")
	link := m.path(".cursor/mcp.json")
	if err := os.Symlink("../dotfiles/cursor.json", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "../dotfiles/cursor.json" {
		t.Errorf("the link is now %q, %v", to, err)
	}
	if info, err := os.Stat(link); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	if m.states()["web"] != Wrapped {
		t.Error("not wrapped")
	}
	if err := m.do(Unwrap, Selection{}); err != nil || m.read("dotfiles/cursor.json") != cursorFile {
		t.Errorf("%v", err)
	}
}

func TestALinkElsewhereIsRefused(t *testing.T) {
	m := newMachine(t)
	outside := filepath.Join(t.TempDir(), "shared.json")
	if err := os.WriteFile(outside, []byte(cursorFile), 0o644); err != nil {
		t.Fatal(err)
	}
	m.write(".cursor/other", "")
	if err := os.Symlink(outside, m.path(".cursor/mcp.json")); err != nil {
		t.Fatal(err)
	}
	m.refused(".cursor/mcp.json", "outside your home folder; give --follow", m.do(Wrap, Selection{}))
	m.opts.Follow = true
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Error(err)
	}
	if err := os.Remove(outside); err != nil {
		t.Fatal(err)
	}
	places := FindConfigFiles(m.env(), m.rows)
	if len(places) != 1 || places[0].Err == nil || !strings.Contains(places[0].Err.Error(), "symlink to a file that does not exist") {
		t.Errorf("dangling: %+v", places)
	}
}

func TestALinkThatMovesMeanwhileIsRefused(t *testing.T) {
	m := newMachine(t)
	a, b := m.write("a.json", cursorFile), m.write("b.json", cursorFile)
	m.write(".cursor/other", "")
	link := m.path(".cursor/mcp.json")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	m.opts.at = func(string) {
		if err := errors.Join(os.Remove(link), os.Symlink(b, link)); err != nil {
			t.Error(err)
		}
		m.opts.at = nil
	}
	m.refused(".cursor/mcp.json", "leads elsewhere by now", m.do(Wrap, Selection{}))
	if m.read("a.json") != cursorFile || m.read("b.json") != cursorFile {
		t.Error("written")
	}
}

func TestAFileThatIsNoFileIsNotOpened(t *testing.T) {
	m := newMachine(t)
	if err := os.MkdirAll(m.path(".cursor/mcp.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	places := FindConfigFiles(m.env(), m.rows)
	if len(places) != 1 || places[0].Err == nil || !strings.Contains(places[0].Err.Error(), "not a regular file") {
		t.Errorf("%+v", places)
	}
}

func TestClaudeDesktopMustNotRun(t *testing.T) {
	m := newMachine(t)
	const rel = ".config/Claude/claude_desktop_config.json"
	m.write(rel, cursorFile)
	m.opts.Running = func() ([]string, error) { return []string{"bash", "claude-desktop"}, nil }
	m.refused(rel, "Claude Desktop is running", m.do(Wrap, Selection{}))
	m.opts.Running = func() ([]string, error) { return nil, errors.New("no list") }
	m.refused(rel, "cannot tell whether Claude Desktop is running", m.do(Wrap, Selection{}))
	m.opts.WhileRunning = true
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Error(err)
	}
	m.opts.WhileRunning = false
	m.opts.Running = func() ([]string, error) { return []string{"claude", "Claude2"}, nil }
	if err := m.do(Unwrap, Selection{}); err != nil || m.read(rel) != cursorFile {
		t.Error(err)
	}
}

func TestRunningKnowsThisProcess(t *testing.T) {
	names, err := RunningPrograms()
	if err != nil || !strings.Contains(strings.Join(names, "\n"), filepath.Base(os.Args[0])) {
		t.Errorf("%v: %v", err, names)
	}
}

func TestAClientThatUndoesTheEditIsCaught(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	m.opts.RecheckAfter = 100 * time.Millisecond
	m.opts.Running = func() ([]string, error) { return []string{"init", "claude"}, nil }
	m.opts.at = func(point string) {
		if point == "written" {
			m.write(".claude.json", claudeFile)
		}
	}
	m.refused(".claude.json", "Claude Code has undone the edit of git, files, far, files; quit it", m.do(Wrap, Selection{}))
	m.opts.at = func(point string) { // a change of its own beside the edit is its own
		if point == "written" {
			m.write(".claude.json", strings.Replace(m.read(".claude.json"), `"numStartups": 7`, `"numStartups": 8`, 1))
		}
	}
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Error(err)
	}
}

// Only a client that runs can overwrite an edit, so a file is not checked again, and nobody waits,
// where none does. A program that runs clients counts as one, and so does a list that cannot be had.
func TestAnEditIsCheckedAgainWhereItsClientMayRun(t *testing.T) {
	for _, c := range []struct {
		running []string
		err     error
		checked bool
	}{{[]string{"init", "bash"}, nil, false}, {[]string{"claude"}, nil, true}, {[]string{"node"}, nil, true}, {nil, errors.New("no list"), true}} {
		m := newMachine(t)
		m.write(".claude.json", claudeFile)
		m.opts.Running = func() ([]string, error) { return c.running, c.err }
		m.opts.at = func(point string) {
			if point == "written" {
				m.write(".claude.json", claudeFile)
			}
		}
		if err := m.do(Wrap, Selection{}); (err != nil) != c.checked {
			t.Errorf("%q, %v: %v", c.running, c.err, err)
		}
	}
}

func TestLocks(t *testing.T) {
	slow.Test(t)
	const rel = ".cline/data/settings/cline_mcp_settings.json"
	m := newMachine(t)
	path := m.write(rel, cursorFile)
	m.opts.LockWait = 100 * time.Millisecond

	unlock, err := lockFile(t.Context(), m.opts, path)
	if err != nil {
		t.Fatal(err)
	}
	m.refused(rel, "another clawai is editing it", m.do(Wrap, Selection{}))
	unlock()

	if err := os.Mkdir(path+".lock", 0o755); err != nil {
		t.Fatal(err)
	}
	err = m.do(Wrap, Selection{})
	if err == nil || !strings.Contains(err.Error(), "its client holds "+path+".lock") || m.read(rel) != cursorFile {
		t.Errorf("got %v", err)
	}
	m.opts.at = func(string) {
		if _, err := os.Stat(path + ".lock"); err != nil {
			t.Error("the client's lock is not held while its file is written")
		}
	}
	m.opts.LockWait = 10 * time.Second
	time.AfterFunc(20*time.Millisecond, func() { _ = os.Remove(path + ".lock") })
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Errorf("a lock that is given back: %v", err)
	}
	m.opts.at = nil
	if err := os.Mkdir(path+".lock", 0o755); err != nil {
		t.Fatal(err)
	}
	m.opts.Now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := m.do(Unwrap, Selection{}); err != nil || m.read(rel) != cursorFile {
		t.Errorf("a dead one's lock: %v", err)
	}
	m.nothingLeft()
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	m := newMachine(t)
	path := m.write(".cline/data/settings/cline_mcp_settings.json", cursorFile)
	changes := m.plan(Wrap, Selection{})
	if err := os.Mkdir(path+".lock", 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := ApplyChanges(ctx, changes, m.opts)[0]; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAJournalThatCannotBeWrittenStopsTheEdit(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", cursorFile)
	changes := m.plan(Wrap, Selection{})
	if err := os.Mkdir(journalPath(m.opts.State), 0o700); err != nil {
		t.Fatal(err)
	}
	m.refused(".cursor/mcp.json", "the journal cannot be", ApplyChanges(t.Context(), changes, m.opts)[0])
	if m.read(".cursor/mcp.json") != cursorFile {
		t.Error("written")
	}
}

func TestAJournalLineThatACrashCutIsPassedOver(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", cursorFile)
	m.write(".local/state/clawai/wrap-journal.ndjson", `{"time":"2026`)
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	m.write(".cursor/mcp.json", cursorFile)
	if s := m.states()["web"]; s != Drifted {
		t.Errorf("the line behind the cut one is lost: %s", s)
	}
}

func TestTwentyMegabytes(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	var b strings.Builder
	b.WriteString(`{"history":[`)
	for i := range 200_000 {
		fmt.Fprintf(&b, `{"display":"%06d said {\"x\": [1,2]}","pasted":{}, "n":%d},`+"\n", i, i)
	}
	b.WriteString(`{}],` + strings.TrimPrefix(claudeFile, "{"))
	for b.Len() < 20<<20 {
		b.WriteString("                                                                \n")
	}
	m.write(".claude.json", b.String())
	start := time.Now()
	one := Selection{Names: []string{"git"}}
	if err := m.do(Wrap, one); err != nil {
		t.Fatal(err)
	}
	diff := m.plan(Unwrap, one)[0].Diff("f")
	if n := strings.Count(diff, "\n"); n > 20 {
		t.Errorf("a diff of %d lines", n)
	}
	if err := m.do(Unwrap, one); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB, a server wrapped and unwrapped in %v", b.Len()>>20, time.Since(start))
	if m.read(".claude.json") != b.String() {
		t.Error("came back otherwise")
	}
}

// A client that writes its file between the read and the write keeps what it wrote, and the
// edit is made all the same; an entry that means something else by then is left alone.
func TestAClientThatWritesMeanwhileIsEditedAgain(t *testing.T) {
	changed := strings.Replace(cursorFile, "npx", "node", 1)
	tests := []struct {
		name, theirs string
		times        int // how often the client writes
		want         State
	}{
		{"another member", strings.Replace(cursorFile, "{", `{"theirs": 1, `, 1), 1, Wrapped},
		{"three times", strings.Replace(cursorFile, "{", `{"theirs": 1, `, 1), 3, Wrapped},
		{"without an end", strings.Replace(cursorFile, "{", `{"theirs": 1, `, 1), 100, Bare},
		{"another command", changed, 1, Bare},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.write(".cursor/mcp.json", cursorFile)
			m.opts.Replan = m.judge().Replan
			theirs, writes := "", 0
			m.opts.at = func(p string) {
				if p == "locked" && writes < tt.times {
					theirs = tt.theirs + strings.Repeat("\n", writes)
					m.write(".cursor/mcp.json", theirs)
					writes++
				}
			}
			err := m.do(Wrap, Selection{})
			m.opts.at = nil
			if state := m.states()["web"]; state != tt.want || (err == nil) != (tt.want == Wrapped) {
				t.Fatalf("it is %s, %v; want %s", state, err, tt.want)
			}
			if err == nil {
				if err := m.do(Unwrap, Selection{}); err != nil {
					t.Fatal(err)
				}
			}
			if got := m.read(".cursor/mcp.json"); got != theirs {
				t.Errorf("got\n%s\nwant what the client wrote\n%s", got, theirs)
			}
		})
	}
}
