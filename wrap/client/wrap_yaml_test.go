package client

import "testing"

var (
	rowYAML      = Row{Name: "yaml", Format: YAML, KeyPath: []string{"extensions"}, Command: "cmd", TypeField: "type", StdioTypes: []string{"stdio"}, URLFields: []string{"uri"}}
	rowYAMLArray = Row{Name: "yaml array", Format: YAML, KeyPath: []string{"extensions"}, Command: "cmd", CommandForm: ArrayCommand}
	rowList      = Row{Name: "list", Format: YAML, KeyPath: []string{"mcpServers"}, Container: List, NameField: "name", URLFields: []string{"url"}}
)

var yamlPairs = []pair{
	{"block list", rowYAML, "fs",
		"# hi\nextensions:\n  fs: # one\n    cmd: npx # run\n    args:\n    - -y # yes\n    - \"a b\"\n    envs: {A: b}\n",
		"# hi\nextensions:\n  fs: # one\n    cmd: \"/usr/local/bin/clawai\" # run\n    args:\n    - \"proxy\"\n    - \"--server\"\n    - \"fs\"\n    - \"--\"\n    - npx\n    - -y # yes\n    - \"a b\"\n    envs: {A: b}\n"},
	{"block list, CRLF, BOM, no final newline", rowYAML, "fs",
		"\ufeffextensions:\r\n  fs:\r\n    args:\r\n\r\n      # first\r\n      - 'é'\r\n    cmd: 'n px'",
		"\ufeffextensions:\r\n  fs:\r\n    args:\r\n\r\n      # first\r\n      - \"proxy\"\r\n      - \"--server\"\r\n      - \"fs\"\r\n      - \"--\"\r\n      - 'n px'\r\n      - 'é'\r\n    cmd: \"/usr/local/bin/clawai\""},
	{"no args", rowYAML, "fs",
		"extensions:\n  fs:\n    cmd: npx # run\n    type: stdio\n",
		"extensions:\n  fs:\n    cmd: \"/usr/local/bin/clawai\" # run\n    args: [\"proxy\",\"--server\",\"fs\",\"--\",npx]\n    type: stdio\n"},
	{"no args, the end of the file", rowYAML, "fs",
		"extensions:\r\n  fs:\r\n    cmd: npx",
		"extensions:\r\n  fs:\r\n    cmd: \"/usr/local/bin/clawai\"\r\n    args: [\"proxy\",\"--server\",\"fs\",\"--\",npx]"},
	{"empty args on the next line", rowYAML, "fs",
		"extensions:\n  fs:\n    cmd: npx\n    args: []\n",
		"extensions:\n  fs:\n    cmd: \"/usr/local/bin/clawai\"\n    args: [\"proxy\", \"--server\", \"fs\", \"--\", npx]\n"},
	{"flow", rowYAML, "fs",
		"extensions: {fs: {cmd: npx, args: [ -y, 'p q' ]}, web: {uri: x}}\n",
		"extensions: {fs: {cmd: \"/usr/local/bin/clawai\", args: [\"proxy\", \"--server\", \"fs\", \"--\", npx,  -y, 'p q' ]}, web: {uri: x}}\n"},
	{"flow, no args", rowYAML, "fs",
		"extensions: {fs: {cmd: npx, type: stdio}}\n",
		"extensions: {fs: {cmd: \"/usr/local/bin/clawai\",args: [\"proxy\",\"--server\",\"fs\",\"--\",npx], type: stdio}}\n"},
	{"a list of servers", rowList, "fs",
		"name: x\nmcpServers:\n  - name: web\n    url: http://x\n  - name: fs\n    command: npx\n    args:\n      - -y\n",
		"name: x\nmcpServers:\n  - name: web\n    url: http://x\n  - name: fs\n    command: \"/usr/local/bin/clawai\"\n    args:\n      - \"proxy\"\n      - \"--server\"\n      - \"fs\"\n      - \"--\"\n      - npx\n      - -y\n"},
	{"a command that is a list", rowYAMLArray, "fs",
		"extensions:\n  fs:\n    cmd:\n      - npx # run\n      - -y\n",
		"extensions:\n  fs:\n    cmd:\n      - \"/usr/local/bin/clawai\"\n      - \"proxy\"\n      - \"--server\"\n      - \"fs\"\n      - \"--\"\n      - npx # run\n      - -y\n"},
	{"a list of servers, the command first", rowList, "fs",
		"mcpServers:\n- command: npx\n  name: fs\n",
		"mcpServers:\n- command: \"/usr/local/bin/clawai\"\n  args: [\"proxy\",\"--server\",\"fs\",\"--\",npx]\n  name: fs\n"},
}

func TestWrapYAML(t *testing.T) {
	for _, p := range yamlPairs {
		t.Run(p.name, p.check)
	}
}
