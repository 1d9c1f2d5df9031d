package wrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

// machine is a home folder of its own with the catalogue's view of it.
type machine struct {
	t    *testing.T
	home string
	rows []client.Row
	opts Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := client.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, ".local", "state", "clawai")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return &machine{t: t, home: home, rows: rows, opts: Options{
		State: state, Version: "test", Home: home, RecheckAfter: 1,
		Running: func() ([]string, error) { return nil, nil },
	}}
}

func (m *machine) env() client.Env {
	return client.Env{
		OS: "linux", Home: m.home, Dir: filepath.Join(m.home, "project"),
		Getenv: func(string) string { return "" },
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
		Glob: func(pattern string) []string {
			found, _ := filepath.Glob(pattern)
			return found
		},
	}
}

func (m *machine) path(rel string) string { return filepath.Join(m.home, rel) }

func (m *machine) write(rel, text string) string {
	m.t.Helper()
	path := m.path(rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *machine) read(rel string) string {
	m.t.Helper()
	b, err := os.ReadFile(m.path(rel))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// judge knows a clawai at a lasting path.
func (m *machine) judge() Planner {
	m.t.Helper()
	j, err := ReadJournal(m.opts.State)
	if err != nil {
		m.t.Fatal(err)
	}
	path := m.write(".local/bin/clawai", "#!/bin/sh\n")
	if err := os.Chmod(path, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return Planner{Program: Program{Path: path}, Journal: j}
}

// plan is what op would do to everything on the machine.
func (m *machine) plan(op Op, s Selection) []Change {
	m.t.Helper()
	j := m.judge()
	var pending []Target
	for _, t := range SelectTargets(FindConfigFiles(m.env(), m.rows), s) {
		if j.ChangesTarget(op, t) {
			pending = append(pending, t)
		}
	}
	changes, errs := j.PlanChanges(op, pending)
	for _, err := range errs {
		m.t.Error(err)
	}
	return changes
}

func (m *machine) do(op Op, s Selection) error {
	m.t.Helper()
	changes := m.plan(op, s)
	if len(changes) == 0 {
		m.t.Fatalf("%s: nothing to do", op)
	}
	for _, err := range ApplyChanges(m.t.Context(), changes, m.opts) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) states() map[string]State {
	m.t.Helper()
	states, j := map[string]State{}, m.judge()
	for _, t := range SelectTargets(FindConfigFiles(m.env(), m.rows), Selection{}) {
		states[t.Entry.Name], _ = j.EntryState(t.File, t.Entry)
	}
	return states
}

const claudeFile = `{
  "numStartups": 7,
  "mcpServers": {
    "files": {
      "command": "npx",
      "env": { "TOKEN": "` + `s3` + `cret-value" },
      "args": ["-y", "server-filesystem", "/home/u"]
    },
    "far": { "type": "http", "url": "https://example.test/mcp" }
  },
  "projects": {
    "/p/one": { "mcpServers": { "files": { "command": "uvx", "args": ["f"] }, "git": { "command": "uvx-git" } } }
  }
}
`

func TestRoundTripOnDisk(t *testing.T) {
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	m.write(".cursor/mcp.json", `{"mcpServers":{"web":{"command":"npx","args":[]}}}`)
	codex := "# mine\r\n[mcp_servers.db]\r\ncommand = 'pg'\r\n"
	m.write(".codex/config.toml", codex)
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]State{"files": Wrapped, "far": Wrapped, "git": Wrapped, "web": Wrapped, "db": Wrapped} {
		if got := m.states()[name]; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if again := m.plan(Wrap, Selection{}); len(again) != 0 {
		t.Errorf("wrapping twice changes %d files", len(again))
	}
	if err := m.do(Unwrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	if got := m.read(".claude.json"); got != claudeFile {
		t.Errorf("came back as\n%s", got)
	}
	if got := m.read(".codex/config.toml"); got != codex {
		t.Errorf("came back as %q", got)
	}
}

func TestOneServerOfOneFile(t *testing.T) {
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	changes := m.plan(Wrap, Selection{Names: []string{"files"}, Client: "claude-code", Scope: client.User, File: m.path(".claude.json")})
	if len(changes) != 1 || len(changes[0].Edits) != 1 || changes[0].ServerNames()[0] != "files" {
		t.Fatalf("%+v", changes)
	}
	want := strings.NewReplacer(`"npx"`, `"`+m.path(".local/bin/clawai")+`"`,
		`["-y"`, `["proxy", "--server", "files", "--", "npx", "-y"`).Replace(claudeFile)
	if string(changes[0].After) != want {
		t.Errorf("got\n%s", changes[0].After)
	}
}

func TestJournalKeepsNoSecret(t *testing.T) {
	m := newMachine(t)
	secret := "s3" + "cret-value"
	m.write(".claude.json", strings.Replace(claudeFile, `"uvx-git"`, `"/opt/uvx git --key `+secret+`"`, 1))
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	journal := m.read(".local/state/clawai/wrap-journal.ndjson")
	if strings.Contains(journal, secret) || strings.Contains(journal, "server-filesystem") || strings.Contains(journal, "TOKEN") {
		t.Errorf("the journal keeps more than the words that moved:\n%s", journal)
	}
	for _, want := range []string{`"old":["\"npx\""]`, `"withheld":true`, `"op":"wrap"`, `"key":["mcpServers","files"]`, `"clawai":"test"`} {
		if !strings.Contains(journal, want) {
			t.Errorf("the journal lacks %s:\n%s", want, journal)
		}
	}
	info, err := os.Stat(journalPath(m.opts.State))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// A project's file may have a command of any length; what is said of it is read again.
func TestTheJournalIsReadWhateverStandsInIt(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	text := strings.Replace(claudeFile, `"npx"`, `"`+strings.Repeat("x", 2<<20)+`"`, 1)
	m.write(".claude.json", text)
	for _, op := range []Op{Wrap, Unwrap} {
		if err := m.do(op, Selection{}); err != nil {
			t.Fatal(err)
		}
	}
	if m.read(".claude.json") != text {
		t.Error("it is not what it was")
	}
}

func TestDriftIsSeen(t *testing.T) {
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	if err := m.do(Wrap, Selection{Names: []string{"files"}}); err != nil {
		t.Fatal(err)
	}
	m.write(".claude.json", claudeFile)
	if s := m.states(); s["files"] != Drifted || s["git"] != Bare {
		t.Errorf("a wrapper that was taken out: %v", s)
	}
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	m.write(".claude.json", strings.ReplaceAll(m.read(".claude.json"), m.home+"/.local/bin", m.home+"/old"))
	if s := m.states(); s["files"] != Drifted || s["git"] != Drifted {
		t.Errorf("a path that is gone: %v", s)
	}
	if err := m.do(Wrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	if s := m.states(); s["files"] != Wrapped || s["git"] != Wrapped {
		t.Errorf("updated in place: %v", s)
	}
	if err := m.do(Unwrap, Selection{}); err != nil {
		t.Fatal(err)
	}
	if got := m.read(".claude.json"); got != claudeFile {
		t.Errorf("came back as\n%s", got)
	}
	if s := m.states(); s["files"] != Bare {
		t.Errorf("unwrapped on purpose: %v", s)
	}
}

func TestDiffShowsWhatChangesAndNothingAround(t *testing.T) {
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	d := m.plan(Wrap, Selection{Names: []string{"files"}, Scope: client.User})[0].Diff("~/.claude.json")
	for _, want := range []string{
		"--- ~/.claude.json\n+++ ~/.claude.json\n@@ -5 +5 @@ files\n-      \"command\": \"npx\",\n+      \"command\": \"" + m.home,
		"@@ -7 +7 @@ files\n-      \"args\": [\"-y\"",
	} {
		if !strings.Contains(d, want) {
			t.Errorf("lacks %q:\n%s", want, d)
		}
	}
	if strings.Contains(d, "TOKEN") {
		t.Errorf("shows the environment:\n%s", d)
	}
}
