package client

import (
	"strings"
	"testing"
)

// remoteRow is a client with every member that a remote entry can have.
func remoteRow(f Format) Row {
	return Row{
		Name: string(f), Format: f, KeyPath: []string{"mcpServers"}, URLFields: []string{"url", "serverUrl"},
		TypeField: "type", StdioTypes: []string{"stdio"}, HeadersField: "headers", EnvExpands: true, Interpolation: []string{`\$\w+`},
	}
}

func strictRow() Row {
	r := remoteRow(JSONC)
	r.StrictKeys = true
	return r
}

var rowCodex = Row{
	Name: "codex", Format: TOML, KeyPath: []string{"mcp_servers"}, URLFields: []string{"url"}, HeadersField: "http_headers",
	EnvHeadersField: "env_http_headers", BearerField: "bearer_token_env_var", PassEnvField: "env_vars",
	ExclusiveFields: []string{"command", "args", "env", "env_vars"},
}

// remotePairs are remote entries before and after.
func remotePairs() []pair {
	in := func(entry string) string { return "{\n \"mcpServers\": {\n  \"r\": {" + entry + "}\n }\n}" }
	front := func(was string) string {
		return `"/usr/local/bin/clawai","args":["proxy","--server","r","--was","` + was + `","--",`
	}
	yaml, strict := remoteRow(YAML), strictRow()
	return []pair{
		{"a url", remoteRow(JSON), "r", in(`"url": "https://h/mcp"`), in(`"command": ` + front("url") + `"https://h/mcp"]`)},
		{"another key for it", remoteRow(JSON), "r", in(`"serverUrl":"https://h"`), in(`"command":` + front("serverUrl") + `"https://h"]`)},
		{"a type", remoteRow(JSON), "r", in(`"url": "https://h", "type": "sse"`), in(`"command": ` + front("url,type=sse") + `"https://h"], "type": "stdio"`)},
		{"a key in the query", remoteRow(JSON), "r", in(`"url": "https://h/?k=v"`),
			in(`"command": ` + front("url") + `"env:CLAWAI_URL"],"env":{"CLAWAI_URL":"https://h/?k=v"}`)},
		{"a key in the path", remoteRow(JSON), "r", in(`"url": "https://h/s/0123456789abcdefgh/mcp"`),
			in(`"command": ` + front("url") + `"env:CLAWAI_URL"],"env":{"CLAWAI_URL":"https://h/s/0123456789abcdefgh/mcp"}`)},
		{"a variable in the url", remoteRow(JSON), "r", in(`"url": "https://${input:host}/"`),
			in(`"command": ` + front("url") + `"env:CLAWAI_URL"],"env":{"CLAWAI_URL":"https://${input:host}/"}`)},
		{"headers", remoteRow(JSONC), "r", in(`"url": "https://h", "headers": { "Authorization" : "Bearer \u0024X", /* two */ "X-A":"" }`),
			in(`"command": ` + front("url,headers") + `"https://h"], "env": { "CLAWAI_HEADER_1" : "Authorization: Bearer \u0024X", /* two */ "CLAWAI_HEADER_2":"X-A: " }`)},
		{"headers and a query", remoteRow(JSON), "r", in("\"headers\": {\n    \"A\": \"b\"\n  }, \"url\": \"https://h?x\""),
			in("\"env\": {\n    \"CLAWAI_URL\":\"https://h?x\", \"CLAWAI_HEADER_1\": \"A: b\"\n  }, \"command\": " + front("url,headers") + `"env:CLAWAI_URL"]`)},
		{"no headers and a query", remoteRow(JSON), "r", in(`"headers": {}, "url": "https://h?x"`),
			in(`"env": {"CLAWAI_URL":"https://h?x"}, "command": ` + front("url,headers") + `"env:CLAWAI_URL"]`)},
		{"an environment of its own", remoteRow(JSON), "r", in(`"url": "https://h?x", "env": {"B": "1"}`),
			in(`"command": ` + front("url,env") + `"env:CLAWAI_URL"], "env": {"CLAWAI_URL":"https://h?x", "B": "1"}`)},
		{"an environment and headers change places", remoteRow(JSON), "r", in(`"url": "https://h", "env": {"B": "1"}, "headers": {"A": "b"}`),
			in(`"command": ` + front("url,headers,env") + `"https://h"], "headers": {"B": "1"}, "env": {"CLAWAI_HEADER_1": "A: b"}`)},
		{"a strict client gets no member that it does not know", strict, "r", in(`"oauth": false, "url": "https://h", "x": {}`),
			in(`"command": ` + front("url,cut=.Im9hdXRoIjogZmFsc2UsIA,cut=dXJs.LCAieCI6IHt9") + `"https://h"]`)},
		{"JSON5", remoteRow(JSON5), "r", in(`url: 'https://h?x', headers: {A: 'it\'s', 'X-B': "c"}, type: 'http'`),
			in(`command: ` + front("url,type=http,headers") + `"env:CLAWAI_URL"], env: {"CLAWAI_URL":'https://h?x', CLAWAI_HEADER_1: 'A: it\'s', 'CLAWAI_HEADER_2': "X-B: c"}, type: 'stdio'`)},
		{"YAML, bare words stay bare", yaml, "r",
			"mcpServers:\n  r:\n    type: http # t\n    url: https://h?x # u\n    headers:\n      Authorization: Bearer $X\n      'X-B': 'c'\n",
			"mcpServers:\n  r:\n    type: stdio # t\n    command: \"/usr/local/bin/clawai\" # u\n    args: [\"proxy\",\"--server\",\"r\",\"--was\",\"url,type=http,headers\",\"--\",\"env:CLAWAI_URL\"]\n    env:\n      CLAWAI_URL: https://h?x\n      CLAWAI_HEADER_1: Authorization:Bearer $X\n      'CLAWAI_HEADER_2': 'X-B: c'\n"},
		{"Codex, a bearer token and headers", rowCodex, "r",
			"[mcp_servers.r]\nurl = 'https://h'\nbearer_token_env_var = \"TOK\"\n\n[mcp_servers.r.http_headers]\nX-A = \"b\" # mine\n",
			"[mcp_servers.r]\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\",\"--server\",\"r\",\"--was\",\"url,http_headers,bearer_token_env_var\",\"--\",'https://h']\nenv_vars = [\"TOK\"]\n\n[mcp_servers.r.env]\nCLAWAI_HEADER_ENV_0 = \"Authorization: Bearer ${TOK}\"\nCLAWAI_HEADER_1 = \"X-A: b\" # mine\n"},
		{"Codex, headers from variables", rowCodex, "r",
			"[mcp_servers.r]\nurl = \"https://h\"\nenv_http_headers = { X-A = \"VAR\", 'X-B' = '''W''' }\n",
			"[mcp_servers.r]\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\",\"--server\",\"r\",\"--was\",\"url,env_http_headers\",\"--\",\"https://h\"]\nenv_vars = [\"VAR\",\"W\"]\nenv = { CLAWAI_HEADER_ENV_1 = \"X-A: ${VAR}\", 'CLAWAI_HEADER_ENV_2' = '''X-B: ${W}''' }\n"},
		{"TOML in dotted keys", rowCodex, "r",
			"mcp_servers.r.url = \"https://h\"\nmcp_servers.r.http_headers.A = \"b\"\nmcp_servers.r.http_headers.C = \"d\"\n",
			"mcp_servers.r.command = \"/usr/local/bin/clawai\"\nmcp_servers.r.args = [\"proxy\",\"--server\",\"r\",\"--was\",\"url,http_headers\",\"--\",\"https://h\"]\nmcp_servers.r.env.CLAWAI_HEADER_1 = \"A: b\"\nmcp_servers.r.env.CLAWAI_HEADER_2 = \"C: d\"\n"},
	}
}

// What a remote entry becomes, and that it comes back.
func TestWrapRemote(t *testing.T) {
	for _, c := range remotePairs() {
		t.Run(c.name, func(t *testing.T) {
			e := entryOf(t, c.row, c.before, "r")
			after, err := Wrap(c.row, []byte(c.before), e, clawai)
			if err != nil || string(after) != c.after {
				t.Fatalf("wrapped: %v\n%s\nwant\n%s", err, after, c.after)
			}
			now := entryOf(t, c.row, c.after, "r")
			if now.Kind != Remote || now.URL != e.URL || now.Wrapped == nil || now.Wrapped.Differs != nil || now.SignsIn != e.SignsIn {
				t.Errorf("read back %+v", now)
			}
			if back, err := Unwrap(c.row, after, e); err != nil || string(back) != c.before {
				t.Errorf("unwrapped: %v\n%s\nwant\n%s", err, back, c.before)
			}
		})
	}
}

// What would be lost, or would not work, is refused, and no bytes are given.
func TestRemoteRefuses(t *testing.T) {
	in := func(entry string) string { return `{"mcpServers":{"r":{` + entry + `}}}` }
	fixed := remoteRow(JSON)
	fixed.EnvExpands = false
	strict := remoteRow(JSON)
	strict.StrictKeys = true
	for _, c := range []struct {
		row       Row
		src, want string
	}{
		{remoteRow(JSON), in(`"url":"ftp://h"`), "not one that clawai can reach"},
		{remoteRow(JSON), in(`"url":"unix:/x"`), "not one that clawai can reach"},
		{remoteRow(JSON), in(`"url":"https://"`), "not one that clawai can reach"},
		{remoteRow(JSON), in(`"url":"https://h\n/"`), "not one that clawai can reach"},
		{remoteRow(JSON), in(`"url":"https://u:p@h"`), "holds a name or a password"},
		{remoteRow(JSON), in(`"url":"https://h#x"`), "holds a #fragment"},
		{remoteRow(JSON), in(`"url":1`), "is a number or boolean, not a string"},
		{fixed, in(`"url":"https://${H}"`), "the url of \"r\" holds a variable"},
		{fixed, in(`"url":"https://h","headers":{"A":"$X"}`), "the header \"A\" of \"r\" holds a variable"},
		{remoteRow(JSON), in(`"url":"https://h","type":"ws"`), `has the type "ws", which clawai does not speak`},
		{remoteRow(JSON), in(`"url":"https://h","type":["http"]`), "which clawai does not speak"},
		{remoteRow(JSON), in(`"url":"https://h","serverUrl":"https://i"`), `has "url" and "serverUrl"`},
		{remoteRow(JSON), in(`"url":"https://h","oauth":{"clientId":"x"}`), `has "oauth", which would say nothing`},
		{remoteRow(JSON), in(`"url":"https://h","headersHelper":"x"`), `has "headersHelper"`},
		{remoteRow(JSON), in(`"url":"https://h","oauth":{}`), ""},
		{strict, in(`"url":"https://h","oauth":{}`), ""},
		{strict, in(`"url":"https://h","oauth":true`), `has "oauth"`},
		{strict, in(`"url":"https://h","oauth":{"scope":"x"}`), `has "oauth"`},
		{strict, in(`"url":"https://h","env":{},"headers":{"A":"b"}`), `has headers and "env"`},
		{remoteRow(JSON), in(`"url":"https://h","args":[]`), `has "args" and a url`},
		{remoteRow(JSON), in(`"url":"https://h","headers":[]`), "the headers of \"r\" are a list"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"A":1}`), "is a number or boolean, not a string"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"A":"1","a":"2"}`), "is there twice"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"A b":"1"}`), "not one that clawai can send"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"":"1"}`), "not one that clawai can send"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"Host":"1"}`), "not one that clawai can send"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"MCP-Session-Id":"1"}`), "not one that clawai can send"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"A":"x\r\nB: y"}`), "holds a control character"},
		{remoteRow(JSON), in(`"url":"https://h","headers":{"\u0041":"x"}`), "is written with escapes"},
		{remoteRow(JSON), in(`"\u0075rl":"https://h"`), "is written with escapes"},
		{remoteRow(JSON), in(`"url":"https://h","type":"ht\u0074p"`), "cannot be edited exactly"},
		{remoteRow(JSON), in(`"url":"https://h?x","env":null`), "the env is null"},
		{remoteRow(YAML), "mcpServers:\n  r:\n    url: https://h/{x}\n", "would read otherwise inside a list"},
		{remoteRow(YAML), "mcpServers:\n  r:\n    url: https://h\n    headers: &a\n      A: b\n", "an anchor"},
		{remoteRow(YAML), "mcpServers:\n  r:\n    url: https://h\n    headers:\n      A: >\n        b\n", "over several lines"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h'\nhttp_headers={A='b'}\nenv_http_headers={B='C'}\n", `has "http_headers" and "env_http_headers"`},
		{rowCodex, "[mcp_servers.r]\nurl='https://h'\nbearer_token_env_var='A B'\n", "does not name a variable"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h'\nenv_http_headers={B='C D'}\n", "does not name a variable"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h'\nbearer_token_env_var='A'\nhttp_headers={authorization='x'}\n", "an Authorization header and"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h?x'\nhttp_headers.A='b'\n", "is written in dotted keys"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h?x'\n[mcp_servers.r.http_headers]\n", "has no place for the address"},
		{rowCodex, "[mcp_servers.r]\nurl='https://h'\nscopes=['a']\n", `has "scopes"`},
	} {
		e := entryOf(t, c.row, c.src, "r")
		after, err := Wrap(c.row, []byte(c.src), e, clawai)
		switch {
		case c.want == "" && err == nil:
		case c.want == "" || err == nil:
			t.Errorf("%s\ngot %v, want %q\n%s", c.src, err, c.want, after)
		case after != nil || !strings.Contains(editError(t, err).Error(), c.want):
			t.Errorf("%s\ngot %v, want %q", c.src, err, c.want)
		}
	}
}
