package client

import (
	"strings"
	"testing"
)

// A wrapped remote entry is taken back from what its client, or its owner, has
// made of it since; where it cannot be, it is refused and nothing is written.
func TestUnwrapRemote(t *testing.T) {
	in := func(entry string) string { return "{\n \"mcpServers\": {\n  \"r\": {" + entry + "}\n }\n}" }
	const front = `"command": "clawai", "args": ["proxy", "--server", "r", "--was", `
	for _, c := range []struct {
		name      string
		row       Row
		src, want string // want begins with "!" when it is an error
	}{
		{"printed anew", remoteRow(JSON),
			in("\n   \"type\": \"stdio\",\n   \"command\": \"clawai\",\n   \"args\": [\n    \"proxy\",\n    \"--was\",\n    \"url,type=http,headers\",\n    \"--\",\n    \"https://h\"\n   ],\n   \"env\": {\n    \"CLAWAI_HEADER_1\": \"A: b\"\n   },\n   \"timeout\": 3\n  "),
			in("\n   \"type\": \"http\",\n   \"url\": \"https://h\",\n   \"headers\": {\n    \"A\": \"b\"\n   },\n   \"timeout\": 3\n  ")},
		{"printed anew, the address in the environment", remoteRow(JSON),
			in("\n   \"command\": \"clawai\",\n   \"args\": [\n    \"proxy\",\n    \"--was\",\n    \"url\",\n    \"--\",\n    \"env:CLAWAI_URL\"\n   ],\n   \"env\": {\n    \"CLAWAI_URL\": \"https://h?x\"\n   }\n  "),
			in("\n   \"url\": \"https://h?x\"\n  ")},
		{"printed anew, in another order", remoteRow(JSON),
			in(`"env": {"CLAWAI_HEADER_1": "A: b", "CLAWAI_URL": "https://h?x"}, "args": ["proxy","--was","url,headers","--","env:CLAWAI_URL"], "command": "clawai"`),
			in(`"headers": {"A": "b"}, "url": "https://h?x"`)},
		{"printed anew by a writer of YAML", remoteRow(YAML),
			"mcpServers:\n  r:\n    args:\n    - proxy\n    - --was\n    - url,type=http\n    - --\n    - env:CLAWAI_URL\n    command: clawai\n    env:\n      CLAWAI_URL: https://h?x\n    type: stdio\n",
			"mcpServers:\n  r:\n    url: https://h?x\n    type: http\n"},
		{"YAML, ours last in the file", remoteRow(YAML),
			"mcpServers:\n  r:\n    command: clawai\n    env:\n      CLAWAI_URL: https://h?x\n    args:\n    - proxy\n    - --was\n    - url\n    - --\n    - env:CLAWAI_URL",
			"mcpServers:\n  r:\n    url: https://h?x\n"},
		{"YAML, a bare line that its writer has put in quotes", remoteRow(YAML),
			"mcpServers:\n  r:\n    command: clawai\n    args: [proxy, --was, 'url,headers', --, https://h]\n    env: {CLAWAI_HEADER_1: 'A:b'}\n",
			"mcpServers:\n  r:\n    url: https://h\n    headers: {A: 'b'}\n"},
		{"TOML printed anew", rowCodex,
			"[mcp_servers.r]\ncommand = \"clawai\"\nargs = [\n  \"proxy\",\n  \"--was\", \"url\",\n  \"--\", \"https://h\",\n]\nenabled = true\n",
			"[mcp_servers.r]\nurl = \"https://h\"\nenabled = true\n"},
		{"TOML, the environment printed as a table", rowCodex,
			"[mcp_servers.r]\ncommand = \"clawai\"\nargs = [\"proxy\",\"--was\",\"url\",\"--\",\"env:CLAWAI_URL\"]\n[mcp_servers.r.env]\nCLAWAI_URL = \"https://h?x\"\n",
			"!there is something among the words"},
		{"the owner's new token and new header stay", remoteRow(JSON),
			in(front + `"url,headers", "--", "https://h"], "env": {"CLAWAI_HEADER_1": "A: new", "CLAWAI_HEADER_7": "B: c"}`),
			in(`"url": "https://h", "headers": {"A": "new", "B": "c"}`)},
		{"the owner's new address stays", remoteRow(JSON),
			in(front + `"url", "--", "https://new"]`), in(`"url": "https://new"`)},
		{"a variable in the environment of an entry that had one", remoteRow(JSON),
			in(front + `"url,env", "--", "env:CLAWAI_URL"], "env": {"DEBUG": "1", "CLAWAI_URL": "https://h?x"}`),
			in(`"url": "https://h?x", "env": {"DEBUG": "1"}`)},
		{"a variable that was added", remoteRow(JSON),
			in(front + `"url,headers", "--", "https://h"], "env": {"DEBUG": "1"}`), `!"DEBUG" was added to the environment`},
		{"a variable that was added to our own", remoteRow(JSON),
			in(front + `"url", "--", "env:CLAWAI_URL"], "env": {"DEBUG": "1", "CLAWAI_URL": "https://h?x"}`), `!"DEBUG" was added to the environment`},
		{"a header that is none", remoteRow(JSON),
			in(front + `"url,headers", "--", "https://h"], "env": {"CLAWAI_HEADER_1": "no header"}`), "!CLAWAI_HEADER_1 of \"r\" is not a header"},
		{"a header with escapes where its name ends", remoteRow(JSON),
			in(front + `"url,headers", "--", "https://h"], "env": {"CLAWAI_HEADER_1": "A\u003a b"}`), "!CLAWAI_HEADER_1 cannot be taken apart"},
		{"a header twice", remoteRow(JSON),
			in(front + `"url,headers", "--", "https://h"], "env": {"CLAWAI_HEADER_1": "A: b", "CLAWAI_HEADER_2": "a: c"}`), "!cannot be edited exactly"},
		{"the address is gone", remoteRow(JSON), in(front + `"url", "--", "env:CLAWAI_URL"]`), "!has no CLAWAI_URL"},
		{"the type is gone", remoteRow(JSON), in(front + `"url,type=http", "--", "https://h"]`), "!the entry's type is gone"},
		{"more behind the address", remoteRow(JSON), in(front + `"url", "--", "https://h", "x"]`), "!is not followed by one address"},
		{"a word of another version", remoteRow(JSON), in(front + `"url,magic", "--", "https://h"]`), `!says "magic", which is not known`},
		{"another key than a url's", remoteRow(JSON), in(front + `"command", "--", "https://h"]`), `!says "command", which is not known`},
		{"a comment among our members", remoteRow(JSONC),
			in(`"command": "clawai", /* mine */ "args": ["proxy","--was","url","--","https://h"]`), "!there is something among the words"},
		{"written by hand", remoteRow(JSON), in(`"command": "clawai", "args": ["proxy", "--", "https://h"]`), "!clawai did not put this address there"},
		{"one list", func() Row { r := remoteRow(JSONC); r.CommandForm = ArrayCommand; return r }(),
			in("\"command\": [\n\"clawai\", \"proxy\", \"--was\", \"url\", \"--\", // mine\n \"https://h\"]"), in(`"url": "https://h"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entryOf(t, c.row, c.src, "r")
			if e.Wrapped == nil {
				t.Fatalf("not wrapped: %+v", e)
			}
			back, err := Unwrap(c.row, []byte(c.src), e)
			if want, refused := strings.CutPrefix(c.want, "!"); refused {
				if back != nil || !strings.Contains(editError(t, err).Error(), want) {
					t.Fatalf("got %v, want %q\n%s", err, want, back)
				}
			} else if err != nil || string(back) != c.want {
				t.Fatalf("%v\n%s\nwant\n%s", err, back, c.want)
			}
		})
	}
}
