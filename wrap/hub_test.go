package wrap

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

const (
	claudeHub = `{
  "mcpServers": {
    "docs": { "command": "npx", "args": ["server-docs"], "env": { "TOKEN": "abc" } },
    "other": 1,
    "git": { "command": "uvx", "args": ["mcp-server-git"] }
  },
  "projects": { "/p": { "mcpServers": { "only-here": { "command": "x" } } } }
}
`
	codexHub  = "model = \"o\"\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"server-docs\"]\nenv = { TOKEN = \"abc\" }\n\n[mcp_servers.own]\ncommand = \"own\"\n"
	configHub = "[ask]\ntimeout = \"9s\"" // and no line end
)

func (m *machine) hub() *Hub {
	m.t.Helper()
	h, err := ReadHub(m.path(".config/clawai/config.toml"), m.opts.State)
	if err != nil {
		m.t.Fatal(err)
	}
	h.Check = func([]byte) error { return nil }
	return &h
}

// move does what clawai wrap --hub, or clawai unwrap, does with a client's files.
func (m *machine) move(op Op, clientName string) (errs []error) {
	m.t.Helper()
	files := FindConfigFiles(m.env(), m.rows)
	j := m.judge()
	j.Hub = m.hub()
	j.Hub.Into = op == Wrap
	var pending []Target
	for _, t := range SelectTargets(files, Selection{Client: clientName}) {
		if j.ChangesTarget(op, t) {
			pending = append(pending, t)
		}
	}
	if j.Hub.Into {
		j.Hub.ForgetUnsettled(files)
	}
	changes, errs := j.PlanChanges(op, pending)
	if j.Hub.Into && len(changes) > 0 {
		if err := j.Hub.BeginMoves(m.t.Context(), m.opts); err != nil {
			return append(errs, err)
		}
	}
	for _, err := range ApplyChanges(m.t.Context(), changes, m.opts) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := j.Hub.SettleMoves(m.t.Context(), FindConfigFiles(m.env(), m.rows), m.opts); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (m *machine) same(rel, want string) {
	m.t.Helper()
	if got := m.read(rel); got != want {
		m.t.Errorf("%s:\n%s\nnot\n%s", rel, got, want)
	}
}

func (m *machine) hubFiles() {
	m.write(".claude.json", claudeHub)
	m.write(".codex/config.toml", codexHub)
	m.write(".config/clawai/config.toml", configHub)
}

// Two clients share a server; each gets its own back, and the last takes it out of the hub.
func TestHubOfTwoClients(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	m.hubFiles()
	if errs := append(m.move(Wrap, "claude-code"), m.move(Wrap, "codex")...); len(errs) > 0 {
		t.Fatal(errs)
	}
	config := m.read(".config/clawai/config.toml")
	if strings.Count(config, "[upstream.docs]") != 1 || strings.Count(config, "[upstream.") != 4 {
		t.Errorf("%s", config)
	}
	if info, err := os.Stat(m.path(".config/clawai/config.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: a value of the environment stands there", info.Mode(), err)
	}
	for _, want := range []string{`"hub": {"type": "stdio", "command": "` + m.path(".local/bin/clawai") + `", "args": ["hub", "--only", "docs,git"]}`, `"other": 1`} {
		if text := m.read(".claude.json"); !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
	j := m.judge()
	j.Hub = m.hub()
	for _, target := range SelectTargets(FindConfigFiles(m.env(), m.rows), Selection{}) {
		if state, why := j.EntryState(target.File, target.Entry); target.Entry.Name == client.HubName && (state != Wrapped || !strings.HasPrefix(why, "the hub, with ")) {
			t.Errorf("%s: %s: %s", target.File.Path, state, why)
		}
	}
	if errs := m.move(Unwrap, "claude-code"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".claude.json", claudeHub)
	if config := m.read(".config/clawai/config.toml"); strings.Count(config, "[upstream.") != 2 || !strings.Contains(config, "[upstream.docs]") {
		t.Errorf("%s", config)
	}
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", codexHub)
	m.same(".config/clawai/config.toml", configHub)
	if _, err := os.Stat(movesPath(m.opts.State)); !os.IsNotExist(err) {
		t.Error("the state is still there:", err)
	}
	for name, state := range m.states() {
		if state == Drifted {
			t.Errorf("%s is %s", name, state)
		}
	}
}

// What clawai stood before comes back without it, and what cannot be moved stays.
func TestHubOfWrappedAndRefused(t *testing.T) {
	m := newMachine(t)
	m.hubFiles()
	m.write(".codex/config.toml", strings.Replace(codexHub, "server-docs", "another", 1)+"\n[mcp_servers.far]\nurl = \"https://h.example/mcp\"\nstrange = 1\n")
	if err := m.do(Wrap, Selection{Client: "codex", Names: []string{"own"}}); err != nil {
		t.Fatal(err)
	}
	if errs := m.move(Wrap, "claude-code"); len(errs) > 0 {
		t.Fatal(errs)
	}
	errs := m.move(Wrap, "codex")
	if len(errs) != 2 || !strings.Contains(errs[0].Error(), "docs: the hub has another server of this name, [upstream.docs] in ") || !strings.Contains(errs[1].Error(), `has "strange"`) {
		t.Fatal(errs)
	}
	text := m.read(".codex/config.toml")
	if !strings.Contains(text, `args = ["hub", "--only", "own"]`) || !strings.Contains(text, "another") {
		t.Errorf("%s", text)
	}
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", strings.Replace(codexHub, "server-docs", "another", 1)+"\n[mcp_servers.far]\nurl = \"https://h.example/mcp\"\nstrange = 1\n")
}

// A server that came to the client's file later joins those that are in the hub.
func TestHubTakesMoreLater(t *testing.T) {
	m := newMachine(t)
	m.hubFiles()
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	added := "\n[mcp_servers.later]\ncommand = \"later\"\n"
	m.write(".codex/config.toml", m.read(".codex/config.toml")+added)
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	if text := m.read(".codex/config.toml"); !strings.Contains(text, `"docs,own,later"`) || strings.Count(text, "[mcp_servers.") != 1 {
		t.Errorf("%s", text)
	}
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", codexHub+added)
	m.same(".config/clawai/config.toml", configHub)
}

// Cut off anywhere, a move has happened or has not, and unwrap gives everything back.
func TestHubCutOff(t *testing.T) {
	slow.Test(t)
	for _, op := range []Op{Wrap, Unwrap} {
		points := map[string]int{}
		for n := 0; ; n++ {
			m := newMachine(t)
			m.hubFiles()
			if op == Unwrap {
				if errs := m.move(Wrap, "claude-code"); len(errs) > 0 {
					t.Fatal(errs)
				}
			}
			reached := 0
			m.opts.at = func(point string) {
				if reached++; reached == n+1 {
					points[point]++
					panic("cut off at " + point)
				}
			}
			cut := func() (cut bool) {
				defer func() { cut = recover() != nil }()
				m.move(op, "claude-code")
				return false
			}()
			m.opts.at = nil
			if !cut {
				break
			}
			text := m.read(".claude.json")
			if moved := strings.Contains(text, `"only-here": {"type"`) || strings.Contains(text, `"hub"`); !moved && text != claudeHub {
				t.Errorf("%s %d: half of it was written:\n%s", op, n, text)
			} else if !moved && len(m.hub().moves) > 0 && !m.hub().HasUnsettled(FindConfigFiles(m.env(), m.rows)) {
				t.Errorf("%s %d: nobody is told of what is left", op, n)
			}
			if errs := m.move(Unwrap, "claude-code"); len(errs) > 0 {
				t.Errorf("%s %d: %v", op, n, errs)
			}
			m.same(".claude.json", claudeHub)
			m.same(".config/clawai/config.toml", configHub)
		}
		for _, point := range []string{"journaled", "written"} {
			if points[point] < 2 {
				t.Errorf("%s was never cut off between the files: %v", op, points)
			}
		}
	}
}

// What the owner has changed stays, and is told of; a lost hub is told of.
func TestHubOfAnOwnerWhoEdits(t *testing.T) {
	m := newMachine(t)
	m.hubFiles()
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	config := m.path(".config/clawai/config.toml")
	m.write(".config/clawai/config.toml", m.read(".config/clawai/config.toml")+"idle = \"1m\"\n"+"[upstream.mine]\ncommand = \"m\"\n")
	files := FindConfigFiles(m.env(), m.rows)
	i := slices.IndexFunc(files, func(p ConfigFile) bool { return p.Row.ID == "codex-user" })
	gone := files[i]
	gone.Entries = nil
	if lost := m.hub().FindLost([]ConfigFile{gone}); len(lost) != 1 || !strings.Contains(lost[0], "the hub's entry is gone, and with it docs, own") {
		t.Error(lost)
	}
	m.write(".config/clawai/config.toml", strings.Replace(m.read(".config/clawai/config.toml"), "[upstream.docs]\n", "[upstream.docs]\nalias = \"d\"\n", 1))
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", codexHub)
	after, err := os.ReadFile(config)
	if err != nil || !strings.Contains(string(after), "alias = \"d\"") || !strings.Contains(string(after), "[upstream.mine]") {
		t.Errorf("%v\n%s", err, after)
	}
}

// What stood in clients' files cannot be read: nothing goes on, and the file stays as it is.
func TestMovesThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "[{", `{"file":"x"}`, "\x00"} {
		state := t.TempDir()
		path := movesPath(state)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := ReadHub(filepath.Join(state, "config.toml"), state)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.HasSuffix(err.Error(), "put it back from a backup") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := h.SettleMoves(t.Context(), nil, Options{State: state}); err == nil {
			t.Errorf("%q is settled", text)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%q has become %q, %v", text, now, err)
		}
	}
}
