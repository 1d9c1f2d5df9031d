//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// mcpdo is the Inspector's client that keeps its connections: it shows the form of
// a server in the output of one command, and another answers it.
type mcpdo struct {
	t *testing.T
	s site
}

const mcpdoProgram = "node_modules/@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js"

func newMcpdo(t *testing.T, s site, servers map[string][]string) mcpdo {
	t.Helper()
	entries := map[string]any{}
	for name, server := range servers {
		entries[name] = map[string]any{"command": server[0], "args": server[1:]}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	s.write("mcpdo.json", string(config))
	m := mcpdo{t, s}
	private, _ := m.run("private")
	exports := regexp.MustCompile(`export (\w+)='([^']*)'`).FindAllStringSubmatch(private, -1)
	if len(exports) == 0 {
		t.Fatalf("no daemon of our own: %s", private)
	}
	for _, e := range exports {
		m.s.env = append(m.s.env, e[1]+"="+e[2])
	}
	t.Cleanup(func() {
		stop := exec.Command("node", mcpdoProgram, "daemon", "stop")
		stop.Env = m.s.env
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("the daemon did not stop: %v\n%s", err, out)
		}
	})
	for name := range servers {
		if out, err := m.run("--config", filepath.Join(s.home, "mcpdo.json"), "connect", name, "--cwd", here(t)); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return m
}

func (m mcpdo) run(args ...string) (string, error) {
	m.t.Helper()
	return m.s.run(append([]string{"node", mcpdoProgram, "--plain", "--format", "json"}, args...)...)
}

// note calls the tool of a server and gives the id of the form that it is answered with.
func (m mcpdo) note(server, words string) (form string) {
	m.t.Helper()
	out, err := m.run("--connection", server, "tools/call", "note", "words:="+words)
	var pending struct {
		ElicitationPending struct{ ElicitationID, Message string }
	}
	if err != nil || json.Unmarshal([]byte(out), &pending) != nil || pending.ElicitationPending.ElicitationID == "" {
		m.t.Fatalf("no form: %v\n%s", err, out)
	}
	if !strings.Contains(pending.ElicitationPending.Message, `words = "`+words+`"`) {
		m.t.Errorf("the form says %s", pending.ElicitationPending.Message)
	}
	return pending.ElicitationPending.ElicitationID
}

// respond answers at a person's pace: what comes sooner counts as a program's.
func (m mcpdo) respond(server, form, answer string) string {
	m.t.Helper()
	time.Sleep(500 * time.Millisecond)
	out, _ := m.run("--connection", server, "elicitation/respond", form, answer)
	return out
}

// TestTheInspectorsForm has the Inspector show the question in a form of its own and
// give every kind of answer; and, where it shows no forms, not asked.
func TestTheInspectorsForm(t *testing.T) {
	t.Parallel()
	s := newSite(t, askAboutNotes)
	s.write(".config/clawai/config.toml", "[ask]\norder = [\"elicitation\"]\nnobody = \"deny\"\n")
	file := filepath.Join(s.home, "notes.txt")
	server := []string{clawai, "proxy", "--server", "notes", "--ask-timeout", "5m", "--", "node", "note-server.mjs", file}
	hurried := []string{clawai, "proxy", "--server", "hurried", "--ask-timeout", "20s", "--", "node", "note-server.mjs", file}
	m := newMcpdo(t, s, map[string][]string{"notes": server, "hurried": hurried})
	respond := func(words, answer string) string {
		t.Helper()
		return m.respond("notes", m.note("notes", words), answer)
	}
	done := func(want string) {
		t.Helper()
		if raw, err := os.ReadFile(file); string(raw) != want && (want != "" || !os.IsNotExist(err)) {
			t.Errorf("done %q, want %q", raw, want)
		}
	}

	if out := respond("declined", "--decline"); !strings.Contains(out, "denied_by_person") {
		t.Errorf("declined: %s", out)
	}
	if out := respond("cancelled", "--cancel"); !strings.Contains(out, "nobody_to_ask") {
		t.Errorf("cancelled: %s", out)
	}
	if out := respond("denied", "answer:=deny"); !strings.Contains(out, "denied_by_person") {
		t.Errorf("denied: %s", out)
	}
	done("")
	if out := respond("once", "answer:=once"); !strings.Contains(out, "noted once") {
		t.Errorf("allowed once: %s", out)
	}
	if out := respond("session", "answer:=session"); !strings.Contains(out, "noted session") {
		t.Errorf("allowed for the session: %s", out)
	}
	if out, err := m.run("--connection", "notes", "tools/call", "note", "words:=session"); err != nil || !strings.Contains(out, "noted session") {
		t.Errorf("the session answer does not hold: %v %s", err, out)
	}
	done("once\nsession\nsession\n")

	// Nobody answers the form; then somebody does, too late.
	late := m.note("hurried", "late")
	s.awaits("no answer within")
	if out := m.respond("hurried", late, "answer:=once"); strings.Contains(out, "noted") {
		t.Errorf("answered late: %s", out)
	}
	done("once\nsession\nsession\n")

	out, _ := s.inspector(server)("--method", "tools/call", "--tool-name", "note", "--tool-arg", "words=off")
	if !strings.Contains(out, "nobody_to_ask") {
		t.Errorf("without forms: %s", out)
	}
	done("once\nsession\nsession\n")
	s.must(clawai, "log", "verify")
}
