//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
)

// TestAgentSession holds docs/hooks.md to the session that it shows: one rule of the
// starter keeps a key from each of an agent's ways to it. CLAWAI_UPDATE=1 writes the
// page anew.
func TestAgentSession(t *testing.T) {
	const secret = "SECRET-KEY"
	var s agentSite
	key := func() string { return s.path(".ssh/id_ed25519") }
	var told strings.Builder
	model := &scripted.Model{}
	model.After = func(n int, answer string) {
		var result struct{ Content json.RawMessage }
		if err := json.NewDecoder(strings.NewReader("{" + answer)).Decode(&result); err != nil { // what follows is of no interest
			t.Errorf("%v: %s", err, answer)
		}
		if strings.Contains(answer, secret) {
			t.Errorf("the key was read: %s", answer)
		}
		input := model.Turns[n].ArgumentsJSON()
		told.WriteString(model.Turns[n].Tool + " " + input + "\n  " + words(result.Content) + "\n")
	}
	url := serve(t, model)
	policy, err := site{t: t, env: os.Environ()}.run(clawai, "policy", "init", "--profile", "coding-agent", "--output", "-")
	if err != nil {
		t.Fatal(err)
	}
	a := claude
	a.files = map[string]string{".ssh/id_ed25519": secret}
	s = newAgentSite(t, a, url, policy)
	server, err := filepath.Abs("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(object{"mcpServers": object{"filesystem": object{"type": "stdio", "command": "node", "args": []string{server, s.home}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(".claude.json", string(config))
	s.must(filepath.Join(s.bin, "clawai"), "wrap", "filesystem", "--yes")
	model.Turns = []scripted.Turn{
		{Tool: "Read", Args: object{"file_path": key()}},
		{Tool: "Bash", Args: object{"command": "cat ~/.ssh/id_ed25519"}},
		{Tool: "mcp__filesystem__read_text_file", Args: object{"path": key()}},
	}
	s.play()
	s.must(clawai, "log", "verify")
	shown := told.String() + "\n$ clawai log --decision deny\n" + s.must(clawai, "log", "--decision", "deny")
	golden(t, "../../docs/hooks.md", "## A session", strings.ReplaceAll(shown, s.home, "/home/you"))
}

// ofOneRun are the time, the record and the session, by which no two runs are alike.
var ofOneRun = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}|\b[0-9a-z]{10}-\d+\b|session [0-9a-f-]{36}`)

// golden compares the first block of text below a heading of a page.
func golden(t *testing.T, page, heading, text string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), "\n"+heading+"\n")
	lead, rest, opened := strings.Cut(rest, "```text\n")
	block, rest, closed := strings.Cut(rest, "```\n")
	if !found || !opened || !closed {
		t.Fatalf("%s has no text below %s", page, heading)
	}
	if ofOneRun.ReplaceAllString(block, "") == ofOneRun.ReplaceAllString(text, "") {
		return
	}
	if os.Getenv("CLAWAI_UPDATE") == "" {
		t.Errorf("%s is not what is seen (CLAWAI_UPDATE=1 writes it anew):\n%s", page, text)
		return
	}
	whole := before + "\n" + heading + "\n" + lead + "```text\n" + text + "```\n" + rest
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words are the text of a tool's result.
func words(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts) // nothing is then shown, which the page is not
	for _, p := range parts {
		text += p.Text
	}
	return text
}
