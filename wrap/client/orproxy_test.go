package client

import (
	"slices"
	"strings"
	"testing"
)

// What no process has a place for is refused with the form that would do, and that
// form does: nothing but the url changes, and every byte comes back.
func TestRefusalsNameTheOtherForm(t *testing.T) {
	rows, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	built := func(id string) Row {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
		if i < 0 {
			t.Fatalf("no row %s", id)
		}
		return rows[i]
	}
	in := func(entry string) string { return `{"mcpServers":{"r":{` + entry + `}}}` }
	fixed := remoteRow(JSON)
	fixed.EnvExpands = false
	for _, c := range []struct {
		name  string
		row   Row
		src   string
		proxy bool
	}{
		{"Continue's headers", built("continue-user"), "mcpServers:\n  - name: r # mine\n    type: streamable-http\n    url: https://h/mcp # there\n    requestOptions:\n      headers:\n        Authorization: Bearer ${{ secrets.TOKEN }}\n      verifySsl: true\n", true},
		{"Continue's headers, JSON", built("continue-user-json"), in(`"url": "https://h/mcp", "requestOptions": {"headers": {"X-Key": "k"}}`), true},
		{"Codex, both kinds of headers", built("codex-user"), "[mcp_servers.r]\nurl = 'https://h/mcp' # there\n\n[mcp_servers.r.http_headers]\nX-A = \"b\"\n\n[mcp_servers.r.env_http_headers]\nX-B = \"VAR\"\n", true},
		{"Codex, in dotted keys", built("codex-user"), "mcp_servers.r.url = \"https://h?x\"\nmcp_servers.r.http_headers.A = \"b\"\n", true},
		{"a client that signs in", remoteRow(JSON), in(`"url":"https://h","oauth":{"clientId":"x"}`), true},
		{"a variable in a header", fixed, in(`"url":"https://h","headers":{"A":"$X"}`), true},
		{"headers and an environment", strictRow(), in(`"url":"https://h","env":{},"headers":{"A":"b"}`), true},
		{"a key with escapes", remoteRow(JSON), in(`"\u0075rl":"https://h"`), false},
		{"a bare word with brackets", remoteRow(YAML), "mcpServers:\n  r:\n    url: https://h/{x}\n", true},

		{"a name that is none in an address", remoteRow(JSON), `{"mcpServers":{"r r":{"url":"https://h","oauth":{"clientId":"x"}}}}`, false},
		{"a url that the client fills in", remoteRow(JSON), in(`"url":"https://${input:h}","oauth":{"clientId":"x"}`), false},
		{"another transport", remoteRow(JSON), in(`"url":"https://h","type":"ws","oauth":{"clientId":"x"}`), false},
		{"a header of the transport", remoteRow(JSON), in(`"url":"https://h","oauth":{"clientId":"x"},"headers":{"Host":"x"}`), false},
		{"a header twice", remoteRow(JSON), in(`"url":"https://h","headers":{"A":"1","a":"2"}`), false},
		{"two urls", remoteRow(JSON), in(`"url":"https://h","serverUrl":"https://i"`), false},
		{"a password", remoteRow(JSON), in(`"url":"https://u:p@h"`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Read(c.row, []byte(c.src))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			e := found[0]
			after, err := Wrap(c.row, []byte(c.src), e, clawai)
			if err == nil || after != nil || strings.Contains(err.Error(), "--remote=proxy") != c.proxy {
				t.Fatalf("%v\n%s", err, after)
			}
			if e.Problem != nil && strings.Contains(e.Problem.Error(), "--remote=proxy") != c.proxy {
				t.Errorf("shown: %v", e.Problem)
			}
			if !c.proxy {
				return
			}
			led, err := RedirectEntry(c.row, []byte(c.src), e, front)
			if err != nil || !strings.Contains(string(led), front) {
				t.Fatalf("%v\n%s", err, led)
			}
			if back, err := Unwrap(c.row, led, e); err != nil || string(back) != c.src {
				t.Errorf("%v\n%s", err, back)
			}
		})
	}
	if after, err := RedirectEntry(remoteRow(JSON), []byte(in(`"url":"https://h","serverUrl":"https://i"`)), Entry{Name: "r", KeyPath: []string{"mcpServers", "r"}}, front); err == nil {
		t.Errorf("one of two urls leads elsewhere: %s", after)
	}
}
