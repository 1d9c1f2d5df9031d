package wrap

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

const laterHub = "\n[mcp_servers.later]\ncommand = \"later\"\n"

// What an owner has put behind a table belongs to it, and keeps it in config.toml.
func TestHubTableThatItsOwnerHasContinued(t *testing.T) {
	slow.Test(t)
	for _, added := range []string{"idle = \"1m\"\n", "# mine\ndisabled = true\n", "\ndisabled = true\n", "[upstream.own.env]\nA = \"b\"\n"} {
		m := newMachine(t)
		m.hubFiles()
		if errs := m.move(Wrap, "codex"); len(errs) > 0 {
			t.Fatal(errs)
		}
		m.write(".config/clawai/config.toml", m.read(".config/clawai/config.toml")+added)
		if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
			t.Fatal(errs)
		}
		m.same(".codex/config.toml", codexHub)
		m.same(".config/clawai/config.toml", configHub+"\n[upstream.own]\ncommand = \"own\"\n"+added)
	}
}

// A configuration that is broken for the moment keeps nothing for ever.
func TestHubOfABrokenConfiguration(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	m.hubFiles()
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	whole := m.read(".config/clawai/config.toml")
	m.write(".config/clawai/config.toml", whole+"x = = \n")
	if errs := m.move(Unwrap, "codex"); len(errs) != 1 || !strings.Contains(errs[0].Error(), "config.toml: line 11") {
		t.Error(errs)
	}
	m.same(".codex/config.toml", codexHub)
	if !m.hub().HasUnsettled(FindConfigFiles(m.env(), m.rows)) {
		t.Error("nobody is told of what is left")
	}
	m.write(".config/clawai/config.toml", whole)
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".config/clawai/config.toml", configHub)
}

// A server that the hub has as its owner made it stays there when more come.
func TestHubTakesMoreBesideWhatItsOwnerEdits(t *testing.T) {
	m := newMachine(t)
	m.hubFiles()
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.write(".config/clawai/config.toml", strings.Replace(m.read(".config/clawai/config.toml"), "[upstream.docs]\n", "[upstream.docs]\nidle = \"1m\"\n", 1))
	m.write(".codex/config.toml", m.read(".codex/config.toml")+laterHub)
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Error(errs)
	}
	if text := m.read(".codex/config.toml"); !strings.Contains(text, `"docs,own,later"`) || strings.Count(text, "[mcp_servers.") != 1 {
		t.Errorf("a server is outside of the hub:\n%s", text)
	}
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", codexHub+laterHub)
	if text := m.read(".config/clawai/config.toml"); !strings.Contains(text, "idle = ") || strings.Count(text, "[upstream.") != 1 {
		t.Errorf("%s", text)
	}
}

// Cut off while more servers are moved, what was moved earlier comes back all the same.
func TestHubCutOffWhenItTakesMore(t *testing.T) {
	slow.Test(t)
	for n := 0; ; n++ {
		m := newMachine(t)
		m.hubFiles()
		if errs := m.move(Wrap, "codex"); len(errs) > 0 {
			t.Fatal(errs)
		}
		m.write(".codex/config.toml", m.read(".codex/config.toml")+laterHub)
		reached, where := 0, ""
		m.opts.at = func(point string) {
			if reached++; reached == n+1 {
				where = point
				panic("cut off at " + point)
			}
		}
		cut := func() (cut bool) {
			defer func() { cut = recover() != nil }()
			m.move(Wrap, "codex")
			return false
		}()
		if m.opts.at = nil; !cut {
			break
		}
		if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
			t.Errorf("%d, %s: %v", n, where, errs)
		}
		m.same(".codex/config.toml", codexHub+laterHub)
		m.same(".config/clawai/config.toml", configHub)
		if len(m.hub().moves) > 0 {
			t.Errorf("%d, %s: the state is still there", n, where)
		}
	}
}

// Of two runs that have read the same, the second to write has what the first took out before it.
func TestHubOfTwoRuns(t *testing.T) {
	m := newMachine(t)
	m.hubFiles()
	late := m.hub()
	late.moves = []move{{File: m.path(".claude.json")}}
	if errs := m.move(Wrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	unlock, err := m.hub().LockRuns(t.Context(), m.opts)
	if err != nil {
		t.Fatal(err)
	}
	short := m.opts
	short.LockWait = time.Millisecond
	if _, err := late.LockRuns(t.Context(), short); err == nil || !strings.Contains(err.Error(), "another clawai is editing it") {
		t.Error(err)
	}
	unlock()
	if err := late.BeginMoves(t.Context(), m.opts); !errors.Is(err, atomicfile.ErrChanged) {
		t.Error(err)
	}
	if errs := m.move(Unwrap, "codex"); len(errs) > 0 {
		t.Fatal(errs)
	}
	m.same(".codex/config.toml", codexHub)
}

// A hub that enforces nothing, or another policy, is told of as one.
func TestHubThatIsToldOtherwise(t *testing.T) {
	slow.Test(t)
	for args, want := range map[string]State{
		`"hub", "--observe"`: Observed, `"hub", "-observe=true", "--only", "a"`: Observed,
		`"hub", "--observe=false"`: Wrapped, `"hub"`: Wrapped, `"hub", "--only=a", "--ask", "popup"`: Wrapped, `"hub", "--observe=1"`: Observed,
		`"hub", "--policy", "p.toml"`: Drifted, `"hub", "--only", "a", "-state=d"`: Drifted, `"hub", "--nonsense"`: Drifted,
	} {
		m := newMachine(t)
		m.write(".claude.json", `{"mcpServers": {"hub": {"command": "`+m.path(".local/bin/clawai")+`", "args": [`+args+`]}}}`)
		m.write(".config/clawai/config.toml", "[upstream.a]\ncommand = \"a\"\n")
		j := m.judge()
		j.Hub = m.hub()
		for _, target := range SelectTargets(FindConfigFiles(m.env(), m.rows), Selection{Names: []string{client.HubName}}) {
			if state, why := j.EntryState(target.File, target.Entry); state != want {
				t.Errorf("%s: %s: %s", args, state, why)
			}
		}
	}
}
