//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// A remoteClient is a realClient whose file holds a remote entry; URL is put in.
// The key comes from the client's own environment where the client fills in
// variables there.
type remoteClient struct {
	client string // the realClient's name
	config string
	want   string
}

const remoteKey = "e2e-key"

var remoteClients = []remoteClient{
	{
		client: "Claude Code",
		config: `{
  "mcpServers": {
    "everything": {
      "type": "http",
      "url": "URL",
      "headers": {
        "X-Key": "${E2E_KEY}"
      }
    }
  }
}
`,
		want: `everything: .*Connected`,
	},
	{
		client: "Codex",
		config: `# Servers elsewhere
[mcp_servers.everything]
url = "URL" # everything
bearer_token_env_var = "E2E_KEY"
enabled = true

[mcp_servers.everything.http_headers]
X-Other = 'one'
`,
		want: `"id":2,"result":.*"name":"echo"`,
	},
	{
		client: "Gemini CLI",
		config: `{
  // Servers elsewhere
  "mcpServers": {
    "everything": { "url": "URL", "type": "http", "headers": { "X-Key": "$E2E_KEY" }, "timeout": 170000 }
  }
}
`,
		want: `everything: .*Connected`,
	},
	{
		client: "Qwen Code",
		config: `{
  "mcpServers": {
    "everything": { "httpUrl": "URL", "headers": { "X-Key": "${E2E_KEY}" } }
  }
}
`,
		want: `everything: .*Connected`,
	},
	{
		client: "opencode",
		config: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "everything": {
      "type": "remote",
      "url": "URL?tenant=mine",
      "headers": { "X-Key": "{env:E2E_KEY}" },
      "oauth": {},
    },
  },
}
`,
		want: `✓ everything .*connected`,
	},
	{
		client: "Inspector",
		config: `{ "mcpServers": { "everything": { "type": "streamable-http", "url": "URL", "headers": { "X-Key": "e2e-key" } } } }`,
		want:   `"echo"`,
	},
}

// TestRealClientsRemote holds for each client that a remote entry with a key in
// a header still reaches its server once it is wrapped, through the proxy, and
// that unwrap gives back the file as it was.
func TestRealClientsRemote(t *testing.T) {
	t.Parallel()
	back := everything(t)
	for _, r := range remoteClients {
		t.Run(r.client, func(t *testing.T) {
			c := realClients[slices.IndexFunc(realClients, func(c realClient) bool { return c.name == r.client })]
			c.config, c.want = strings.ReplaceAll(r.config, "URL", back), r.want
			c.check = slices.Clone(c.check)
			for i, word := range c.check {
				c.check[i] = strings.Replace(word, "filesystem", "everything", 1)
			}
			s := clientSite(t, c)
			s.env = append(s.env, "E2E_KEY="+remoteKey, "CLAWAI_KEYCHAIN=off")
			c.start(s)
			path := filepath.Join(s.home, c.file)
			bare := s.read(c.file)

			out := s.must(clawai, "wrap", "everything", "--client", c.id, "--file", path, "--yes")
			if c.name == "Inspector" && strings.Contains(out, remoteKey) {
				t.Errorf("the key was shown:\n%s", out)
			}
			s.must(clawai, "status", "--check")
			c.start(s)
			record := s.must(clawai, "log", "--server", "everything", "--json")
			for _, what := range []string{"server " + back, `"method":"initialize"`} {
				if !strings.Contains(record, what) {
					t.Errorf("no %q on record:\n%s", what, record)
				}
			}
			s.must(clawai, "log", "verify")

			s.must(clawai, "unwrap", "everything", "--client", c.id, "--file", path, "--yes")
			if now := s.read(c.file); !bytes.Equal(now, bare) {
				t.Errorf("unwrap left another file.\nbefore:\n%s\nafter:\n%s", bare, now)
			}
			c.start(s)
		})
	}
}

// everything is the reference server behind a door that asks for the key.
func everything(t *testing.T) string {
	t.Helper()
	port := exectest.ReservePort(t)
	server, err := filepath.Abs("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", server, "streamableHttp")
	cmd.Env = append(cmd.Environ(), "PORT="+port)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, listens := bufio.NewScanner(stderr), false
	for !listens {
		if !lines.Scan() {
			t.Fatal("the reference server ended before it listened")
		}
		listens = strings.Contains(lines.Text(), "listening")
	}
	go func() {
		for lines.Scan() { // or its writes would block
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + port})
	pass.FlushInterval = -1
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != remoteKey && r.Header.Get("Authorization") != "Bearer "+remoteKey {
			http.Error(w, "no key", http.StatusForbidden)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	return door.URL + "/mcp"
}
