package wrap

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"

	"github.com/clawai/clawai/wrap/client"
)

// memory is a vault that keeps everything it is asked about.
type memory map[string]string

func (m memory) key(t Target, member string) string {
	return strings.Join(t.Entry.KeyPath, "/") + " " + member
}

func (m memory) TakeSecret(t Target, s client.Secret) (string, bool, error) {
	m[m.key(t, s.Member)] = s.Token
	return s.Before + client.ReferencePrefix + "x", true, nil
}

func (m memory) ReturnToken(t Target, s client.Secret) (string, bool, error) {
	token, ok := m[m.key(t, s.Member)]
	return token, ok, nil
}

// thereAndBack wraps every server of a file and moves its secrets, and takes all of it back.
func thereAndBack(t *testing.T, row client.Row, src string) (moved int, wrapped string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	vault := memory{}
	pl := Planner{Program: Program{Path: "/usr/local/bin/clawai"}, Secrets: vault}
	plan := func(op Op, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file := []ConfigFile{ReadConfigFile(row, path)}
		if file[0].Err != nil {
			t.Fatal(file[0].Err)
		}
		var pending []Target
		for _, one := range SelectTargets(file, Selection{}) {
			if pl.ChangesTarget(op, one) {
				pending = append(pending, one)
			}
		}
		changes, _ := pl.PlanChanges(op, pending) // what cannot be wrapped stays
		if len(changes) != 1 {
			return text
		}
		return string(changes[0].After)
	}
	wrapped = plan(Wrap, src)
	if again := plan(Wrap, wrapped); again != wrapped {
		t.Errorf("%s: wrapped again it is\n%s", row.ID, again)
	}
	if back := plan(Unwrap, wrapped); back != src {
		t.Errorf("%s: from\n%s\nover\n%s\ncame\n%s", row.ID, src, wrapped, back)
	}
	return len(vault), wrapped
}

var catalogue = sync.OnceValues(func() ([]client.Row, error) { return client.LoadCatalogue() })

func rowOf(t *testing.T, id string) client.Row {
	t.Helper()
	rows, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no row %s", id)
	return client.Row{}
}

// Every file of the corpus comes back byte for byte.
func TestSecretsOfTheCorpus(t *testing.T) {
	slow.Test(t)
	files, err := filepath.Glob("client/testdata/*/*/before.*")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	moved := 0
	for _, path := range files {
		if strings.Contains(path, "hooks") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		row := rowOf(t, filepath.Base(filepath.Dir(path)))
		if row.ReadOnly {
			continue
		}
		n, _ := thereAndBack(t, row, string(src))
		moved += n
	}
	if moved < 10 {
		t.Errorf("%d secrets moved: the corpus is no test of it", moved)
	}
}

// However a secret is written, it is moved, and comes back so.
func TestSecretsAsTheyAreWritten(t *testing.T) {
	for _, tt := range []struct{ row, text string }{
		{"claude-code-user", `{"mcpServers":{"s":{"command":"npx","env":{"API_TOKEN":"SECRET","B":"plain"}}}}`},
		{"claude-code-user", `{"mcpServers":{"s":{"command":"npx","env":{"API_TOKEN" : "SECR\u0045T\/\"\\"}}}}`},
		{"claude-code-user", `{"mcpServers":{"s":{"type":"http","url":"https://h.example/mcp","headers":{"Authorization":"Bearer SECRET", "X-Other":"plain"}}}}`},
		{"claude-code-user", `{"mcpServers":{"s":{"type":"http","url":"https://h.example/mcp","headers":{"X-Api-Key": "SECR\u0045T"}}}}`},
		{"codex-user", "[mcp_servers.s]\ncommand = \"npx\"\nenv = { API_TOKEN = 'SECRET\\' } # mine\n"},
		{"codex-user", "[mcp_servers.s]\ncommand = \"npx\"\n[mcp_servers.s.env]\nAPI_TOKEN = \"\"\"\nSECRET\nmore\"\"\"\n"},
		{"codex-user", "[mcp_servers.s]\r\ncommand = \"npx\"\r\nenv.API_TOKEN = \"SECR\\u0045T\"\r\n"},
		{"goose-user", "extensions:\n  s:\n    type: stdio\n    cmd: npx\n    args: [x]\n    envs:\n      API_TOKEN: SECRET # mine\n      OTHER: 'plain'\n"},
		{"goose-user", "extensions:\n  s:\n    type: stdio\n    cmd: npx\n    args: [x]\n    envs: {API_TOKEN: 'SECRET''s'}\n"},
	} {
		src := strings.ReplaceAll(tt.text, "SECRET", "hunter2hunter2")
		src = strings.ReplaceAll(src, `SECR\u0045T`, `hunt\u0065r2`)
		moved, wrapped := thereAndBack(t, rowOf(t, tt.row), src)
		if moved != 1 || strings.Contains(wrapped, "hunt") || !strings.Contains(wrapped, client.ReferencePrefix+"x") {
			t.Errorf("%d moved: %s", moved, wrapped)
		}
	}
}

// What the client fills in, and what is no secret, stays where it is.
func TestNoSecrets(t *testing.T) {
	moved, wrapped := thereAndBack(t, rowOf(t, "claude-code-user"),
		`{"mcpServers":{"s":{"command":"npx","env":{"API_TOKEN":"${TOKEN}","REGION":"eu","DEBUG":"1","EMPTY_TOKEN":"","T2_TOKEN":"clawai-vault:mine"}}}}`)
	if moved != 0 {
		t.Errorf("%d moved: %s", moved, wrapped)
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ row, token, want string }{
		{"claude-code-user", `"a\u0062"`, "ab"}, {"codex-user", "'a\\b'", `a\b`}, {"goose-user", "plain", "plain"}, {"goose-user", "'it''s'", "it's"},
	} {
		if got, ok := client.DecodeToken(rowOf(t, tt.row), tt.token); !ok || got != tt.want {
			t.Errorf("%s: %q %v", tt.token, got, ok)
		}
	}
	for _, bad := range []string{"1", `"a"}`, `"a","v":"b"`, ""} {
		if got, ok := client.DecodeToken(rowOf(t, "claude-code-user"), bad); ok {
			t.Errorf("%s: %q", bad, got)
		}
	}
}
