package client

import "testing"

var (
	rowTOML   = Row{Name: "toml", Format: TOML, KeyPath: []string{"mcp_servers"}, URLFields: []string{"url"}}
	rowTables = Row{Name: "tables", Format: TOML, KeyPath: []string{"mcp_servers"}, Container: Tables, NameField: "name", URLFields: []string{"url"}, TypeField: "transport", StdioTypes: []string{"stdio"}}
)

var tomlPairs = []pair{
	{"a table", rowTOML, "fs",
		"model = 'x'\n[mcp_servers.fs]\ncommand = \"npx\" # run\nargs = [\n  '-y', # yes\n  \"x\",\n]\n[mcp_servers.fs.env]\nA = 'b'\n",
		"model = 'x'\n[mcp_servers.fs]\ncommand = \"/usr/local/bin/clawai\" # run\nargs = [\"proxy\", \"--server\", \"fs\", \"--\", \"npx\", \n  '-y', # yes\n  \"x\",\n]\n[mcp_servers.fs.env]\nA = 'b'\n"},
	{"no args, CRLF, BOM", rowTOML, "f.s",
		"\ufeff[mcp_servers.\"f.s\"]\r\n  command = 'n\\px' # run\r\n  enabled = true\r\n",
		"\ufeff[mcp_servers.\"f.s\"]\r\n  command = \"/usr/local/bin/clawai\" # run\r\n  args = [\"proxy\",\"--server\",\"f.s\",\"--\",'n\\px']\r\n  enabled = true\r\n"},
	{"no args, no final newline", rowTOML, "fs",
		"[mcp_servers.fs]\ncommand = \"npx\"",
		"[mcp_servers.fs]\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\",\"--server\",\"fs\",\"--\",\"npx\"]"},
	{"empty args on the next line", rowTOML, "fs",
		"[mcp_servers.fs]\ncommand = \"npx\"\nargs = []\n",
		"[mcp_servers.fs]\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\", \"--server\", \"fs\", \"--\", \"npx\"]\n"},
	{"inline", rowTOML, "fs",
		"[mcp_servers]\nfs = { command = \"npx\", args = [ \"-y\" ] }\n",
		"[mcp_servers]\nfs = { command = \"/usr/local/bin/clawai\", args = [\"proxy\", \"--server\", \"fs\", \"--\", \"npx\",  \"-y\" ] }\n"},
	{"inline, no args", rowTOML, "fs",
		"mcp_servers = { fs = { command = \"npx\" } }\n",
		"mcp_servers = { fs = { command = \"/usr/local/bin/clawai\",args=[\"proxy\",\"--server\",\"fs\",\"--\",\"npx\"] } }\n"},
	{"dotted keys", rowTOML, "fs",
		"[mcp_servers]\n\tfs . command = '''npx'''\n\tfs.startup_timeout_sec = 3\n",
		"[mcp_servers]\n\tfs . command = \"/usr/local/bin/clawai\"\n\tfs . args = [\"proxy\",\"--server\",\"fs\",\"--\",'''npx''']\n\tfs.startup_timeout_sec = 3\n"},
	{"an array of tables", rowTables, "fs",
		"[[mcp_servers]]\nname = \"web\"\nurl = \"http://x\"\n[[mcp_servers]]\nname = \"fs\"\ntransport = \"stdio\"\ncommand = \"npx\"\nargs = [\"-y\"]\n",
		"[[mcp_servers]]\nname = \"web\"\nurl = \"http://x\"\n[[mcp_servers]]\nname = \"fs\"\ntransport = \"stdio\"\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\", \"--server\", \"fs\", \"--\", \"npx\", \"-y\"]\n"},
	{"a key to quote", Row{Name: "quoted", Format: TOML, KeyPath: []string{"s"}, Args: "the args"}, "fs",
		"[s.fs]\ncommand = \"npx\"\n",
		"[s.fs]\ncommand = \"/usr/local/bin/clawai\"\n\"the args\" = [\"proxy\",\"--server\",\"fs\",\"--\",\"npx\"]\n"},
	{"tables below an element", rowTables, "fs",
		"[[mcp_servers]]\nname = \"fs\"\ncommand = \"npx\"\n[mcp_servers.env]\nA = \"b\"\n",
		"[[mcp_servers]]\nname = \"fs\"\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\",\"--server\",\"fs\",\"--\",\"npx\"]\n[mcp_servers.env]\nA = \"b\"\n"},
	{"inline elements", rowTables, "fs",
		"mcp_servers = [\n  {name = \"fs\", command = \"npx\"},\n]\n",
		"mcp_servers = [\n  {name = \"fs\", command = \"/usr/local/bin/clawai\",args=[\"proxy\",\"--server\",\"fs\",\"--\",\"npx\"]},\n]\n"},
}

func TestWrapTOML(t *testing.T) {
	for _, p := range tomlPairs {
		t.Run(p.name, p.check)
	}
}
