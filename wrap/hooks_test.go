//go:build unix

package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

// hookMachine is a machine with clawai and clawai-hook in a folder.
func hookMachine(t *testing.T) (*machine, Planner) {
	t.Helper()
	m := newMachine(t)
	m.write("bin/clawai", "")
	m.write("bin/clawai-hook", "#!/bin/sh\nexit 2\n")
	if err := os.Chmod(m.path("bin/clawai-hook"), 0o755); err != nil {
		t.Fatal(err)
	}
	return m, Planner{Program: Program{Path: m.path("bin/clawai"), Exe: m.path("bin/clawai")}}
}

// hooks finds those of one client and plans an operation.
func (m *machine) hooks(pl Planner, op Op, word string) ([]Change, []error) {
	m.t.Helper()
	rows, err := client.HookRows()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, h := range FindHooks(m.env(), rows, pl.Program, word) {
		if h.Row.Client == word {
			return pl.PlanHooks(op, []Hooks{h}, nil)
		}
	}
	m.t.Fatalf("no %s", word)
	return nil, nil
}

// What a project's settings, or the owner's environment there, do to a hook that stands as it should.
func TestSettingsUndoHooks(t *testing.T) {
	for _, tt := range []struct{ word, path, settings, want string }{
		{"claude-code", "project/.claude/settings.json", `{"env":{"FOO":"x"},"disableAllHooks":false}`, ""},
		{"claude-code", "project/.claude/settings.json", `{"disableAllHooks":true}`, "runs no hook, as disableAllHooks is true in"},
		{"claude-code", "project/.claude/settings.local.json", `{"disableAllHooks":true}`, "runs no hook, as disableAllHooks is true in"},
		{"claude-code", "project/.claude/settings.json", `{"env":{"XDG_CONFIG_HOME":"/tmp/x"}}`, "sets XDG_CONFIG_HOME, which says where clawai finds its policy"},
		{"claude-code", ".claude/settings.json", `{"env":{"HOME":"/tmp/x"}}`, "sets HOME, which says where clawai finds its policy"},
		{"claude-code", "project/.claude/settings.json", `{"env":`, ""},
		{"gemini", "project/.gemini/settings.json", `{"hooksConfig":{"enabled":false}}`, "runs no hook, as hooksConfig.enabled is false in"},
		{"gemini", "project/.gemini/settings.json", `{"hooksConfig":{"enabled":true}}`, ""},
	} {
		m, pl := hookMachine(t)
		m.write(tt.path, tt.settings)
		_, errs := m.hooks(pl, Wrap, tt.word)
		if err := errors.Join(errs...); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s in %s: %v", tt.settings, tt.path, err)
		}
	}
}

// What Claude Code's settings set reaches its servers too, and so the proxy before one: what
// steers clawai there makes a wrapper of it drifted, and is refused of a bare one.
func TestSettingsSteerServers(t *testing.T) {
	for _, tt := range []struct{ path, settings, want string }{
		{".claude/settings.json", `{"env":{"FOO":"x"}}`, ""},
		{".claude/settings.json", `{"env":{"CLAWAI_POLICY":"/tmp/x"}}`, "sets CLAWAI_POLICY, which says how clawai works"},
		{"project/.claude/settings.json", `{"env":{"XDG_STATE_HOME":"/tmp/x"}}`, "sets XDG_STATE_HOME, which says where clawai keeps its state"},
		{"project/.claude/settings.local.json", `{"env":{"HOME":"/tmp/x"}}`, "sets HOME, which says where clawai finds its policy"},
	} {
		m, pl := hookMachine(t)
		if err := os.Chmod(m.path("bin/clawai"), 0o755); err != nil {
			t.Fatal(err)
		}
		m.write(tt.path, tt.settings)
		m.write(".claude.json", `{"mcpServers":{"on":{"command":"`+m.path("bin/clawai")+`","args":["proxy","--server","on","--","x"]},"off":{"command":"x"},"far":{"type":"http","url":"https://far.example/mcp"}}}`)
		m.write(".cursor/mcp.json", `{"mcpServers":{"else":{"command":"`+m.path("bin/clawai")+`","args":["proxy","--server","else","--","x"]}}}`)
		rows, err := client.LoadCatalogue()
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, target := range SelectTargets(FindConfigFiles(m.env(), rows), Selection{}) {
			seen++
			state, why := pl.EntryState(target.File, target.Entry)
			steered := tt.want != "" && target.Entry.Name != "else"
			want := map[string]State{"on": Wrapped, "else": Wrapped, "off": Bare, "far": Bare}[target.Entry.Name]
			if steered && want == Wrapped {
				want = Drifted
			}
			if state != want || steered != strings.Contains(why, tt.want) && tt.want != "" {
				t.Errorf("%s in %s: %s is %s: %s", tt.settings, tt.path, target.Entry.Name, state, why)
			}
			if _, refused := pl.PlanChanges(Wrap, []Target{target}); steered != (len(refused) > 0) {
				t.Errorf("%s in %s: wrap says of %s: %v", tt.settings, tt.path, target.Entry.Name, refused)
			}
		}
		if seen != 4 {
			t.Errorf("%d servers", seen)
		}
		at := m.env()
		at.Dir = at.Home // where the owner's settings and the project's are one file
		for _, file := range FindConfigFiles(at, rows) {
			if len(file.Around) > 1 {
				t.Errorf("one variable is told %d times of %s", len(file.Around), file.Path)
			}
		}
	}
}

func TestClawaiHookMustBeTrustworthy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(m *machine) error
		want  string
	}{
		{"fine", func(*machine) error { return nil }, ""},
		{"gone", func(m *machine) error { return os.Remove(m.path("bin/clawai-hook")) }, "there is no clawai-hook at"},
		{"a folder", func(m *machine) error {
			return errors.Join(os.Remove(m.path("bin/clawai-hook")), os.Mkdir(m.path("bin/clawai-hook"), 0o755))
		}, "is not a program"},
		{"cannot be started", func(m *machine) error { return os.Chmod(m.path("bin/clawai-hook"), 0o644) }, "cannot be started"},
		{"writable", func(m *machine) error { return os.Chmod(m.path("bin/clawai-hook"), 0o777) }, "other users can write " + "HOME/bin/clawai-hook"},
		{"replaceable", func(m *machine) error { return os.Chmod(m.path("bin"), 0o777) }, "other users can write HOME/bin,"},
		{"replaceable, sticky", func(m *machine) error { return os.Chmod(m.path("bin"), 0o777|os.ModeSticky) }, ""},
		{"a link into a folder of others", func(m *machine) error {
			m.write("open/clawai-hook", "x")
			return errors.Join(os.Chmod(m.path("open/clawai-hook"), 0o755), os.Chmod(m.path("open"), 0o777),
				os.Remove(m.path("bin/clawai-hook")), os.Symlink(m.path("open/clawai-hook"), m.path("bin/clawai-hook")))
		}, "other users can write HOME/open,"},
		{"a link to nothing", func(m *machine) error {
			return errors.Join(os.Remove(m.path("bin/clawai-hook")), os.Symlink("/nowhere", m.path("bin/clawai-hook")))
		}, "there is no clawai-hook at"},
	} {
		m, pl := hookMachine(t)
		if err := tt.spoil(m); err != nil {
			t.Fatal(err)
		}
		path, err := pl.Program.HookPath()
		want := strings.ReplaceAll(tt.want, "HOME", m.home)
		if want == "" && (err != nil || path != m.path("bin/clawai-hook")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v; want %q", tt.name, path, err, want)
		}
	}
}

// A file that wrap makes is the owner's alone, and a script can be started.
func TestHookFilesThatAreMade(t *testing.T) {
	for word, want := range map[string]struct {
		file string
		mode os.FileMode
	}{"goose": {".agents/plugins/clawai/hooks/hooks.json", 0o600}, "cline": {"Documents/Cline/Hooks/PreToolUse", 0o700}} {
		m, pl := hookMachine(t)
		changes, errs := m.hooks(pl, Wrap, word)
		for _, err := range append(errs, ApplyChanges(context.Background(), changes, m.opts)...) {
			if err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(m.path(want.file))
		if err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%s: %v, %v", word, info, err)
		}
		changes, errs = m.hooks(pl, Unwrap, word)
		for _, err := range append(errs, ApplyChanges(context.Background(), changes, m.opts)...) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(filepath.Dir(m.path(want.file))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: its folder is still there: %v", word, err)
		}
		m.nothingLeft()
	}
}

// A home has the files and folders again that it had, and no other: what was empty is empty, and
// what wrap made is gone.
func TestHooksLeaveNoTrace(t *testing.T) {
	for _, tt := range []struct {
		word, file, text string
		folder           string // that was there, empty
		made             string // what wrap makes
	}{
		{word: "kimi", file: ".kimi-code/config.toml", made: ".kimi-code/config.toml"},
		{word: "gemini", file: ".gemini/settings.json", text: "{}", made: ".gemini/settings.json"},
		{word: "claude-code", file: ".claude.json", text: "{}", made: ".claude/settings.json"},
		{word: "goose", file: ".config/goose/config.yaml", made: ".agents/plugins/clawai/hooks/hooks.json"},
		{word: "goose", file: ".config/goose/config.yaml", folder: ".agents/plugins", made: ".agents/plugins/clawai/hooks/hooks.json"},
		{word: "copilot-cli", file: ".copilot/config.json", folder: ".copilot/hooks", made: ".copilot/hooks/clawai.json"},
	} {
		m, pl := hookMachine(t)
		m.write(tt.file, tt.text)
		if tt.folder != "" {
			if err := os.MkdirAll(m.path(tt.folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		before := m.tree()
		apply := func(op Op) {
			changes, errs := m.hooks(pl, op, tt.word)
			for _, err := range append(errs, ApplyChanges(context.Background(), changes, m.opts)...) {
				if err != nil {
					t.Fatalf("%s: %v", tt.word, err)
				}
			}
		}
		apply(Wrap)
		if text := m.read(tt.made); !strings.Contains(text, "clawai-hook") {
			t.Errorf("%s: %q", tt.word, text)
		}
		apply(Unwrap)
		if after := m.tree(); after != before {
			t.Errorf("%s: the home was\n%sand is\n%s", tt.word, before, after)
		}
	}
}

// What an older clawai made is taken away whole by this one, and what somebody has changed since is not.
func TestHookFilesOfAnOlderClawai(t *testing.T) {
	for _, tt := range []struct{ word, file, text, changed string }{
		{"opencode", ".config/opencode/plugin/clawai.js", "// Written by clawai wrap --hooks; clawai unwrap --hooks takes it back.\nexport const older = 1\n// exec HOOK opencode\n", "the script was changed since wrap wrote it"},
		{"copilot-cli", ".copilot/hooks/clawai.json", `{"version": 1, "hooks": {"preToolUse": [{"type":"command","bash":"exec HOOK copilot-cli","timeoutSec":9}]}}`, ""},
	} {
		for _, changed := range []bool{false, true} {
			m, pl := hookMachine(t)
			text := strings.ReplaceAll(tt.text, "HOOK", m.path("bin/clawai-hook"))
			c := Change{Op: Wrap, Path: m.path(tt.file), Real: m.path(tt.file), After: []byte(text), Absent: true,
				Edits: []Edit{{Entry: client.Entry{Name: "x", KeyPath: hookKey("x")}}}}
			if err := errors.Join(ApplyChanges(context.Background(), []Change{c}, m.opts)...); err != nil {
				t.Fatal(err)
			}
			if changed {
				m.write(tt.file, strings.Replace(text, "older", "newer", 1)+"\n")
			}
			journal, err := ReadJournal(m.opts.State)
			if err != nil {
				t.Fatal(err)
			}
			pl.Journal = journal
			changes, errs := m.hooks(pl, Unwrap, tt.word)
			if err := errors.Join(errs...); changed && tt.changed != "" {
				if err == nil || !strings.Contains(err.Error(), tt.changed) {
					t.Errorf("%s, changed: %v", tt.word, err)
				}
				continue
			}
			if err := errors.Join(append(errs, ApplyChanges(context.Background(), changes, m.opts)...)...); err != nil {
				t.Fatalf("%s: %v", tt.word, err)
			}
			if _, err := os.Stat(m.path(tt.file)); (err == nil) != changed {
				t.Errorf("%s, changed %v: %v", tt.word, changed, err)
			}
		}
	}
}

// tree are all files and folders but clawai's own, with what is in them.
func (m *machine) tree() string {
	m.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(m.home, func(path string, d os.DirEntry, err error) error {
		if path == m.opts.State {
			return filepath.SkipDir
		}
		if err != nil {
			return err
		}
		text := []byte(nil)
		if !d.IsDir() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&all, "%s %q\n", path, text)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all.String()
}

// A file that comes, changes or goes meanwhile is nobody's to overwrite or remove.
func TestHookFilesThatChangeMeanwhile(t *testing.T) {
	slow.Test(t)
	const file = ".codex/hooks.json"
	for _, tt := range []struct {
		name       string
		op         Op
		meanwhile  string // "" removes it
		start      string // "" is no file; "ours" is what wrap makes
		want, stay string
	}{
		{"comes", Wrap, `{"theirs":1}`, "", "changed by someone else meanwhile", `{"theirs":1}`},
		{"changes", Wrap, `{"theirs":1}`, `{}`, "changed by someone else meanwhile", `{"theirs":1}`},
		{"changes before it goes", Unwrap, `{"theirs":1}`, "ours", "changed by someone else meanwhile", `{"theirs":1}`},
		{"goes", Wrap, "", `{}`, "run the command again", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, pl := hookMachine(t)
			m.write(".codex/config.toml", "")
			if tt.start == "ours" {
				changes, _ := m.hooks(pl, Wrap, "codex")
				if err := errors.Join(ApplyChanges(context.Background(), changes, m.opts)...); err != nil {
					t.Fatal(err)
				}
			} else if tt.start != "" {
				m.write(file, tt.start)
			}
			changes, errs := m.hooks(pl, tt.op, "codex")
			if len(errs) > 0 || len(changes) != 1 {
				t.Fatal(changes, errs)
			}
			m.opts.at = func(point string) {
				if point != "locked" {
					return
				}
				if tt.meanwhile == "" {
					_ = os.Remove(m.path(file))
					return
				}
				m.write(file, tt.meanwhile)
			}
			err := errors.Join(ApplyChanges(context.Background(), changes, m.opts)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			got, readErr := os.ReadFile(m.path(file))
			if string(got) != tt.stay || (readErr != nil) != (tt.stay == "") {
				t.Errorf("%v, is\n%s", readErr, got)
			}
			if tt.name == "comes" && !errors.Is(err, atomicfile.ErrChanged) {
				t.Errorf("got %v", err)
			}
			m.nothingLeft()
		})
	}
}

// Where the journal cannot be kept, nothing is made and nothing goes.
func TestNoHookWithoutTheJournal(t *testing.T) {
	m, pl := hookMachine(t)
	m.write(".codex/config.toml", "")
	m.write(".local/state/clawai/wrap-journal.ndjson/x", "") // a folder in its place
	changes, _ := m.hooks(pl, Wrap, "codex")
	if err := errors.Join(ApplyChanges(context.Background(), changes, m.opts)...); err == nil || !strings.Contains(err.Error(), "the journal cannot be") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(m.path(".codex/hooks.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}

// A file that holds servers and hooks is edited once, and given back once; what somebody else
// writes meanwhile stays, and neither of the two edits is made.
func TestServersAndHooksOfOneFile(t *testing.T) {
	const file = ".gemini/settings.json"
	const before = "{\n  \"mcpServers\": {\"notes\": {\"command\": \"npx\", \"args\": [\"notes\"]}}\n}\n"
	m, pl := hookMachine(t)
	if err := os.Chmod(m.path("bin/clawai"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.write(file, before)
	plan := func(op Op) []Change {
		rows, err := client.LoadCatalogue()
		if err != nil {
			t.Fatal(err)
		}
		changes, errs := pl.PlanChanges(op, SelectTargets(FindConfigFiles(m.env(), rows), Selection{}))
		hooks, err := client.HookRows()
		if err != nil {
			t.Fatal(err)
		}
		more, failed := pl.PlanHooks(op, FindHooks(m.env(), hooks, pl.Program), changes)
		if err := errors.Join(append(errs, failed...)...); err != nil || len(changes) != 1 || len(more) != 1 || string(more[0].Before) != string(changes[0].After) {
			t.Fatalf("%v: %d and %d changes", err, len(changes), len(more))
		}
		return append(changes, more...)
	}
	writes := 0
	m.opts.at = func(point string) {
		if point == "written" {
			writes++
		}
	}
	if err := errors.Join(ApplyChanges(context.Background(), plan(Wrap), m.opts)...); err != nil {
		t.Fatal(err)
	}
	if got := m.read(file); !strings.Contains(got, "clawai-hook gemini-cli") || !strings.Contains(got, `"proxy"`) || writes != 1 {
		t.Errorf("written %d times:\n%s", writes, got)
	}
	journal, err := ReadJournal(m.opts.State)
	if err != nil || len(journal) != 4 {
		t.Errorf("the journal has %v, %v", journal, err)
	}
	if err := errors.Join(ApplyChanges(context.Background(), plan(Unwrap), m.opts)...); err != nil || m.read(file) != before || writes != 2 {
		t.Errorf("%v, written %d times, came back as\n%s", err, writes, m.read(file))
	}
	m.opts.at = func(point string) {
		if point == "journaled" {
			m.write(file, `{"theirs":1}`)
		}
	}
	for i, err := range ApplyChanges(context.Background(), plan(Wrap), m.opts) {
		if !errors.Is(err, atomicfile.ErrChanged) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if got := m.read(file); got != `{"theirs":1}` {
		t.Errorf("is\n%s", got)
	}
	m.opts.at = nil
	m.write(file, before)
	apart := plan(Wrap)
	apart[1].Before = []byte("{}")
	if err := errors.Join(ApplyChanges(context.Background(), apart, m.opts)...); err == nil || m.read(file) != before {
		t.Errorf("edits that were planned apart: %v", err)
	}
}
