//go:build e2e

package e2e

// realClient is a client from npm that starts the servers of its file without an
// account.
type realClient struct {
	name   string
	id     string   // the client whose form the file has, as clawai status names it
	file   string   // in the home folder
	config string   // the vendor's documented form; SERVER and FOLDER are put in
	check  []string // the command; FILE is put in
	stdin  []string // lines the client waits for, each until it has answered
	env    []string
	want   string // what it prints of a server that answered
	lists  bool   // it asks for the tools as well
	gaveUp string // what it prints when it did not wait for a busy machine, where its time is fixed
}

var realClients = []realClient{
	{
		name: "Claude Code", id: "claude-code", file: ".claude.json",
		config: `{
  "mcpServers": {
    "filesystem": {
      "type": "stdio",
      "command": "node",
      "args": ["SERVER", "FOLDER"],
      "env": {}
    }
  }
}
`,
		check: []string{claudeProgram, "mcp", "list"},
		env:   []string{"MCP_TIMEOUT=170000"},
		want:  `filesystem: .*Connected`,
	},
	{
		name: "Codex", id: "codex", file: ".codex/config.toml",
		config: `# The servers of my projects
[mcp_servers.filesystem]
command = "node"
args = ["SERVER", "FOLDER"] # read and write

[mcp_servers.filesystem.env]
LANG = "C"
`,
		check: []string{codexProgram, "app-server"},
		stdin: []string{
			`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"e2e","title":"e2e","version":"1"}}}`,
			`{"method":"initialized"}` + "\n" + `{"id":2,"method":"mcpServerStatus/list","params":{}}`,
		},
		want:  `"id":2,"result":.*"name":"list_allowed_directories"`,
		lists: true,
	},
	{
		name: "Gemini CLI", id: "gemini", file: ".gemini/settings.json",
		config: `{
  // The servers of my projects
  "mcpServers": {
    "filesystem": {
      "command": "node",
      "args": ["SERVER", "FOLDER"],
      "timeout": 170000
    }
  }
}
`,
		check: []string{"node_modules/.bin/gemini", "mcp", "list"},
		env:   []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
		want:  `filesystem: .*Connected`,
	},
	{
		name: "Qwen Code", id: "qwen", file: ".qwen/settings.json",
		config: `{
  // The servers of my projects
  "mcpServers": {
    "filesystem": {
      "command": "node",
      "args": ["SERVER", "FOLDER"]
    }
  }
}
`,
		check:  []string{"node_modules/.bin/qwen", "mcp", "list"},
		want:   `filesystem: .*Connected`,
		gaveUp: "timed out after 10000ms",
	},
	{
		name: "opencode", id: "opencode", file: ".config/opencode/opencode.json",
		config: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // The servers of my projects
    "filesystem": {
      "type": "local",
      "command": ["node", "SERVER", "FOLDER"],
      "enabled": true,
    },
  },
}
`,
		// Its main package links this program by a script, and scripts do not run.
		check: []string{"node_modules/opencode-linux-x64-baseline/bin/opencode", "mcp", "list"},
		want:  `✓ filesystem .*connected`,
		lists: true,
	},
	{
		name: "Inspector", id: "cursor", file: "inspector.json",
		config: `{ "mcpServers": { "filesystem": { "command": "node", "args": [ "SERVER", "FOLDER" ] } } }`,
		check:  []string{"node_modules/.bin/mcp-inspector", "--cli", "-q", "--config", "FILE", "--server", "filesystem", "--method", "tools/list"},
		want:   `list_allowed_directories`,
		lists:  true,
	},
}
