package client

import (
	"slices"
	"strings"
	"testing"
)

// rowVSCode is VS Code's mcp.json, as far as it matters for its sandbox.
var rowVSCode = Row{
	Name: "VS Code", Format: JSONC, KeyPath: []string{"servers"}, TypeField: "type", StdioTypes: []string{"stdio"}, URLFields: []string{"url"},
	Interpolation: []string{`\$\{[^}]+\}`}, ExpandsArgs: true, SandboxField: "sandboxEnabled", SandboxRules: "sandbox",
}

var sandboxPairs = []pair{
	{"switched on", rowVSCode, "s",
		`{"servers": {"s": {"command": "npx", "args": ["-y", "x"], "sandboxEnabled": true}}}`,
		`{"servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--client-sandbox", "sandboxEnabled", "--", "npx", "-y", "x"], "sandboxEnabled": false}}}`},
	{"before the command, no args", rowVSCode, "s",
		`{"servers":{"s":{"sandboxEnabled":true,"command":"npx"}}}`,
		`{"servers":{"s":{"sandboxEnabled":false,"command":"/usr/local/bin/clawai","args":["proxy","--server","s","--client-sandbox","sandboxEnabled","--","npx"]}}}`},
	{"rules, comments, a folder, trailing commas", rowVSCode, "s",
		"{\n  \"servers\": {\n    \"s\": {\n      \"sandboxEnabled\" /* ours */ : true, // on\n      \"command\": \"node\", \"args\": [\"x.js\",], \"cwd\": \"${workspaceFolder}\",\n      \"sandbox\": { // rules\n        \"filesystem\": {\"allowWrite\": [\"${workspaceFolder}\", /* and */ \"~/out\"], \"denyRead\": [\"${userHome}/.ssh\"], \"denyWrite\": [\"./.git\"]},\n        \"network\": {\"allowedDomains\": [\"api.example.com\", \"*.example.org:8443\"], \"deniedDomains\": [\"x.example.org\"],},\n      },\n    },\n  },\n}",
		"{\n  \"servers\": {\n    \"s\": {\n      \"sandboxEnabled\" /* ours */ : false, // on\n      \"command\": \"/usr/local/bin/clawai\", \"args\": [\"proxy\", \"--server\", \"s\", \"--client-sandbox\", \"sandboxEnabled\", \"--client-sandbox\", \"allowWrite=${workspaceFolder}\", \"--client-sandbox\", \"allowWrite=~/out\", \"--client-sandbox\", \"denyRead=${userHome}/.ssh\", \"--client-sandbox\", \"denyWrite=./.git\", \"--client-sandbox\", \"allowedDomains=api.example.com\", \"--client-sandbox\", \"allowedDomains=*.example.org:8443\", \"--client-sandbox\", \"deniedDomains=x.example.org\", \"--client-sandbox\", \"allowWrite=${workspaceFolder}\", \"--\", \"node\", \"x.js\",], \"cwd\": \"${workspaceFolder}\",\n      \"sandbox\": { // rules\n        \"filesystem\": {\"allowWrite\": [\"${workspaceFolder}\", /* and */ \"~/out\"], \"denyRead\": [\"${userHome}/.ssh\"], \"denyWrite\": [\"./.git\"]},\n        \"network\": {\"allowedDomains\": [\"api.example.com\", \"*.example.org:8443\"], \"deniedDomains\": [\"x.example.org\"],},\n      },\n    },\n  },\n}"},
	{"the rules beside the servers", rowVSCode, "s",
		`{"sandbox": {"filesystem": {"allowWrite": ["/w"]}}, "servers": {"s": {"command": "x", "args": [], "sandboxEnabled": true}, "t": {"command": "y"}}}`,
		`{"sandbox": {"filesystem": {"allowWrite": ["/w"]}}, "servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--client-sandbox", "sandboxEnabled", "--client-sandbox", "allowWrite=/w", "--", "x"], "sandboxEnabled": false}, "t": {"command": "y"}}}`},
	{"words like ours, quotes, an equals sign and a comma", rowVSCode, "s",
		`{"servers": {"s": {"command": "x", "args": ["--client-sandbox", "sandboxEnabled", "--"], "sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["/a,allowWrite=/\"b\" -- c\n", "--client-sandbox", "--", "denyRead=/"]}}}}}`,
		`{"servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--client-sandbox", "sandboxEnabled", "--client-sandbox", "allowWrite=/a,allowWrite=/\"b\" -- c\u000a", "--client-sandbox", "allowWrite=--client-sandbox", "--client-sandbox", "allowWrite=--", "--client-sandbox", "allowWrite=denyRead=/", "--", "x", "--client-sandbox", "sandboxEnabled", "--"], "sandboxEnabled": false, "sandbox": {"filesystem": {"allowWrite": ["/a,allowWrite=/\"b\" -- c\n", "--client-sandbox", "--", "denyRead=/"]}}}}}`},
	{"switched off, with rules", rowVSCode, "s",
		`{"servers": {"s": {"command": "x", "args": [], "sandboxEnabled": false, "sandbox": {"filesystem": {"allowWrite": 7}}}}}`,
		`{"servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--", "x"], "sandboxEnabled": false, "sandbox": {"filesystem": {"allowWrite": 7}}}}}`},
	{"rules that are null, empty lists", rowVSCode, "s",
		`{"sandbox": {}, "servers": {"s": {"command": "x", "args": [], "sandboxEnabled": true, "sandbox": {"filesystem": null, "network": {"allowedDomains": [], "deniedDomains": null}}}}}`,
		`{"sandbox": {}, "servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--client-sandbox", "sandboxEnabled", "--", "x"], "sandboxEnabled": false, "sandbox": {"filesystem": null, "network": {"allowedDomains": [], "deniedDomains": null}}}}}`},
}

// The sandbox of a client moves inside, and unwrap gives the bytes back.
func TestWrapMovesTheClientsSandboxInside(t *testing.T) {
	for _, p := range sandboxPairs {
		t.Run(p.name, func(t *testing.T) {
			after, err := Wrap(p.row, []byte(p.before), entryOf(t, p.row, p.before, p.server), clawai)
			if err != nil || string(after) != p.after {
				t.Fatalf("wrap: %v\n%s\nwant\n%s", err, after, p.after)
			}
			e := entryOf(t, p.row, p.after, p.server)
			if again, err := Wrap(p.row, after, e, clawai); err != nil || string(again) != p.after {
				t.Errorf("wrapped twice: %v\n%s", err, again)
			}
			if len(e.Wrapped.Differs) > 0 {
				t.Errorf("what wrap wrote counts as drifted: %q", e.Wrapped.Differs)
			}
			if back, err := Unwrap(p.row, after, e); err != nil || string(back) != p.before {
				t.Errorf("unwrap: %v\n%s", err, back)
			}
		})
	}
}

// A sandbox that clawai would carry out otherwise than its client is refused, and the file stays.
func TestWrapRefusesAClientsSandbox(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"a string", `"sandboxEnabled": "false"`, "neither true nor false"},
		{"a number", `"sandboxEnabled": 1`, "neither true nor false"},
		{"an object", `"sandboxEnabled": {"x": 1}`, "neither true nor false"},
		{"another case", `"sandboxenabled": true`, "differs from"},
		{"twice", `"sandboxEnabled": false, "sandboxEnabled": true`, "is there twice"},
		{"with escapes", `"sandbox\u0045nabled": true`, "written with escapes"},
		{"a further rule", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowRead": []}}`, `does not know "filesystem.allowRead"`},
		{"a further part", `"sandboxEnabled": true, "sandbox": {"enableWeakerNestedSandbox": true}`, `does not know "enableWeakerNestedSandbox"`},
		{"not an object", `"sandboxEnabled": true, "sandbox": ["x"]`, "is a list, not an object"},
		{"a part that is none", `"sandboxEnabled": true, "sandbox": {"network": true}`, "not an object"},
		{"not a list", `"sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": "x.org"}}`, "is a string, not a list"},
		{"a rule that is none", `"sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": [7]}}`, "not a string"},
		{"a rule twice", `"sandboxEnabled": true, "sandbox": {"network": {"deniedDomains": ["a.org"], "deniedDomains": []}}`, "is there twice"},
		{"an empty path", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": [""]}}`, "the path is empty"},
		{"a glob", `"sandboxEnabled": true, "sandbox": {"filesystem": {"denyRead": ["~/**/*.pem"]}}`, "cannot carry out"},
		{"a way up", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["../x"]}}`, "leads out of its folder"},
		{"the whole home", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["~"]}}`, "name the folders in it"},
		{"the whole disk", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["/"]}}`, "name the folders in it"},
		{"every host", `"sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": ["*"]}}`, "is not a host"},
		{"an address with a path", `"sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": ["https://x.org/"]}}`, "is not a host"},
		{"a NUL in a host", `"sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": ["evil.org\u0000.x.org"]}}`, "NUL"},
		{"a NUL in a variable's path", `"sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["${x}\u0000"]}}`, "NUL"},
		{"a folder that is none", `"sandboxEnabled": true, "cwd": 7`, "not a string"},
		{"rules in two places", `"sandboxEnabled": true, "sandbox": {"network": {}}`, "which one counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := `{"servers": {"s": {"command": "npx", ` + c.members + `}}}`
			if c.name == "rules in two places" {
				src = `{"sandbox": {"network": {}}, ` + src[1:]
			}
			e := entryOf(t, rowVSCode, src, "s")
			after, err := Wrap(rowVSCode, []byte(src), e, clawai)
			if err == nil || after != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\n%s\nwant %q", err, after, c.want)
			}
			editError(t, err)
			if e.Problem == nil {
				t.Errorf("status does not know: %+v", e)
			}
		})
	}
}

// What was changed since is told, put right, or refused; unwrap keeps it.
func TestTheClientsSandboxDrifts(t *testing.T) {
	const wrapped = `{"servers": {"s": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "s", "--client-sandbox", "sandboxEnabled", "--client-sandbox", "allowWrite=/a", "--", "x"], "sandboxEnabled": false, "sandbox": {"filesystem": {"allowWrite": ["/a"]}}}}}`
	const bare = `{"servers": {"s": {"command": "x", "args": [], "sandboxEnabled": true, "sandbox": {"filesystem": {"allowWrite": ["/a"]}}}}}`
	for _, c := range []struct{ name, from, to, differs, wraps, unwraps string }{
		{"a rule added", `["/a"]`, `["/a", "/b"]`, "+allowWrite=/b", `"allowWrite=/a", "--client-sandbox", "allowWrite=/b", "--"`, `"sandboxEnabled": true`},
		{"a rule gone", `["/a"]`, `[]`, "-allowWrite=/a", `"--client-sandbox", "sandboxEnabled", "--"`, `"sandboxEnabled": true`},
		{"a carried rule taken out", `"--client-sandbox", "allowWrite=/a", `, ``, "+allowWrite=/a", `"allowWrite=/a"`, `"sandboxEnabled": true`},
		{"the mark taken out", `"--client-sandbox", "sandboxEnabled", `, ``, "+sandboxEnabled", `"--client-sandbox", "sandboxEnabled"`, `"sandboxEnabled": true`},
		{"switched on again", `"sandboxEnabled": false`, `"sandboxEnabled": true`, "starts the proxy in a sandbox of its own", `"sandboxEnabled": false`, `"sandboxEnabled": true`},
		{"a rule that cannot be carried", `["/a"]`, `["/a", "~"]`, "cannot carry out", "", `"sandboxEnabled": true`},
		{"the member gone", `"sandboxEnabled": false, `, ``, "no longer has the member", "", `"args": [], "sandbox"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(wrapped, c.from, c.to, 1)
			e := entryOf(t, rowVSCode, src, "s")
			if !strings.Contains(strings.Join(e.Wrapped.Differs, "; "), c.differs) {
				t.Errorf("differs %q, want %q", e.Wrapped.Differs, c.differs)
			}
			after, err := Wrap(rowVSCode, []byte(src), e, clawai)
			if (err != nil) != (c.wraps == "") || err == nil && !strings.Contains(string(after), c.wraps) {
				t.Errorf("wrap: %v\n%s", err, after)
			}
			if err == nil {
				if e := entryOf(t, rowVSCode, string(after), "s"); len(e.Wrapped.Differs) > 0 {
					t.Errorf("still differs: %q", e.Wrapped.Differs)
				}
			}
			if back, err := Unwrap(rowVSCode, []byte(src), e); err != nil || !strings.Contains(string(back), c.unwraps) {
				t.Errorf("unwrap: %v\n%s", err, back)
			}
		})
	}
	if back, err := Unwrap(rowVSCode, []byte(wrapped), entryOf(t, rowVSCode, wrapped, "s")); err != nil || string(back) != bare {
		t.Errorf("%v\n%s", err, back)
	}
	odd := strings.Replace(wrapped, `"--server"`, `"--no-such-option", "--server"`, 1)
	if back, err := Unwrap(rowVSCode, []byte(odd), entryOf(t, rowVSCode, odd, "s")); err != nil || string(back) != bare {
		t.Errorf("beside an option of another version: %v\n%s", err, back)
	}
}

// The hub keeps no sandbox of a client, so it does not take such a server.
func TestTheHubLeavesAServerInItsClientsSandbox(t *testing.T) {
	for _, p := range sandboxPairs {
		_, err := ForHub(p.row, []byte(p.before), entryOf(t, p.row, p.before, p.server))
		if on := strings.Contains(p.before, `true`); on != (err != nil && strings.Contains(err.Error(), "in a sandbox of its own")) {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// Rows of clients without such a member leave it alone.
func TestOtherClientsHaveNoSandbox(t *testing.T) {
	src := `{"mcpServers": {"s": {"command": "x", "sandboxEnabled": true}}}`
	e := entryOf(t, rowJSONC, src, "s")
	after, err := Wrap(rowJSONC, []byte(src), e, clawai)
	if err != nil || len(e.Sandbox) > 0 || !strings.Contains(string(after), `"sandboxEnabled": true`) || slices.Contains(e.Args, sandboxFlag) {
		t.Errorf("%v\n%s", err, after)
	}
}
