//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
)

// TestAgentHub: a real client whose two servers were moved into the hub uses both, is refused at
// one by a rule that names that server, and has them back as they were.
func TestAgentHub(t *testing.T) {
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			var told []string
			model := &models{after: func(_ int, answer string) { told = append(told, answer) }}
			if i := slices.Index(a.command, "mcp__web"); i >= 0 {
				a.command = slices.Clone(a.command)
				a.command[i] = "mcp__hub"
			}
			s := newAgentSite(t, a, serve(t, model), "[[rule]]\naction = \"deny\"\nserver = \"mail\"\ntool = \"note\"\nargs.words = \"secret*\"\ndescription = \"No secrets by mail\"\n"+allowAll)
			s.servers("web", "mail")
			file := map[string]string{"claude-code": ".claude.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"}[a.id]
			before := string(s.read(file))
			s.write(".config/clawai/config.toml", "[hub]\nlist_wait = \"1m\"\n") // a client need not ask again for what a busy machine lists late
			s.must(filepath.Join(s.bin, "clawai"), "wrap", "--hub", a.id, "--yes")
			note := func(server, words string) scripted.Turn {
				turn := s.note("hub", words)
				turn.Tool = strings.TrimSuffix(turn.Tool, "note") + server + "__note"
				return turn
			}
			model.begin(s.first(), note("web", "a"), note("mail", "b"), note("mail", "secret c"), note("web", "d"))
			s.play()
			s.told(told[1:], "noted a", "noted b", "No secrets by mail", "noted d")
			if got := string(s.read("noted")); got != "a\nb\nd\n" {
				t.Errorf("noted %q", got)
			}
			if log := s.must(clawai, "log", "--decision", "deny"); !strings.Contains(log, "mail") || strings.Contains(log, "mail__note") {
				t.Errorf("recorded: %s", log)
			}
			s.must(clawai, "log", "verify")
			if a.id == "claude-code" {
				return // which writes into its file while it runs
			}
			s.must(filepath.Join(s.bin, "clawai"), "unwrap", "hub", "--client", a.id, "--yes")
			if got := string(s.read(file)); got != before {
				t.Errorf("the file came back as %s", got)
			}
		})
	}
}
