package client

import (
	"slices"
	"testing"
)

// A wrapper is known by its shape, brought up to date where it stands, and
// taken away from every form it can be found in.
func TestUpdateAndUnwrap(t *testing.T) {
	in := func(entry string) string { return "{\n  \"mcpServers\": {\n    \"fs\": {" + entry + "}\n  }\n}\n" }
	now := `"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]`
	bare := `"command": "npx", "args": ["-y"]`
	for _, c := range []struct {
		name                    string
		row                     Row
		src, updated, unwrapped string
	}{
		{"as it is", rowJSON, in(now), in(now), in(bare)},
		{"another path", rowJSON,
			in(`"command": "/old/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]`), in(now), in(bare)},
		{"a path of Windows", rowJSON,
			in(`"command": "C:\\Tools\\Clawai.EXE", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]`), in(now), in(bare)},
		{"without --server", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--", "npx", "-y"]`), in(now), in(bare)},
		{"the name in one word", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--server=fs", "--", "npx", "-y"]`), in(now), in(bare)},
		{"renamed since", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--server", "old", "--", "npx", "-y"]`), in(now), in(bare)},
		{"observing", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--observe", "--server", "fs", "--", "npx", "-y"]`), in(now), in(bare)},
		{"flags of the owner", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--policy", "/p q", "--server", "fs", "--", "npx", "-y"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]`), in(bare)},
		{"a flag of another version", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--frob", "x", "--observe=true", "--", "npx", "-y"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]`), in(bare)},
		{"another command of clawai", rowJSON,
			in(`"command": "clawai", "args": ["demo", "--", "npx"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "clawai", "demo", "--", "npx"]`),
			in(`"command": "clawai", "args": ["demo", "--", "npx"]`)},
		{"no --", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "npx"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "clawai", "proxy", "npx"]`),
			in(`"command": "clawai", "args": ["proxy", "npx"]`)},
		{"clawai twice", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--", "clawai", "proxy", "--", "npx"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "clawai", "proxy", "--", "npx"]`),
			in(`"command": "clawai", "args": ["proxy", "--", "npx"]`)},
		{"another -- among the arguments", rowJSON,
			in(`"command": "clawai", "args": ["proxy", "--", "npx", "--", "-y"]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "--", "-y"]`),
			in(`"command": "npx", "args": ["--", "-y"]`)},
		{"printed anew", rowJSON,
			in("\n\"command\": \"clawai\",\n\"args\": [\n  \"proxy\",\n  \"--server\",\n  \"fs\",\n  \"--\",\n  \"npx\",\n  \"-y\"\n]\n"),
			in("\n\"command\": \"/usr/local/bin/clawai\",\n\"args\": [\n  \"proxy\",\n  \"--server\",\n  \"fs\",\n  \"--\",\n  \"npx\",\n  \"-y\"\n]\n"),
			in("\n\"command\": \"npx\",\n\"args\": [\n  \"-y\"\n]\n")},
		{"printed anew, nothing left", rowJSON,
			in("\n\"command\": \"clawai\",\n\"args\": [\n  \"proxy\",\n  \"--\",\n  \"npx\"\n]\n"),
			in("\n\"command\": \"/usr/local/bin/clawai\",\n\"args\": [\n  \"proxy\",\n  \"--server\",\n  \"fs\",\n  \"--\",\n  \"npx\"\n]\n"),
			in("\n\"command\": \"npx\",\n\"args\": []\n")},
		{"printed anew without blanks", rowJSON,
			in(`"command":"clawai","args":["proxy","--server","fs","--","npx","-y"]`),
			in(`"command":"/usr/local/bin/clawai","args":["proxy","--server","fs","--","npx","-y"]`),
			in(`"command":"npx","args":["-y"]`)},
		{"an argument added to a list of our own", rowJSON,
			in(`"command": "clawai","args":["proxy","--server","fs","--","npx","-y"]`),
			in(`"command": "/usr/local/bin/clawai","args":["proxy","--server","fs","--","npx","-y"]`),
			in(`"command": "npx","args":["-y"]`)},
		{"an old list of our own", rowJSON,
			in(`"command": "clawai","args":["proxy","--","npx"]`),
			in(`"command": "/usr/local/bin/clawai","args":["proxy","--server","fs","--","npx"]`),
			in(`"command": "npx"`)},
		{"the last argument taken out", rowJSONC,
			in(`"command": "clawai", "args": ["proxy", "--server", "fs", "--", "npx", ]`),
			in(`"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", ]`),
			in(`"command": "npx", "args": []`)},
		{"a comment of the owner before the first argument", rowJSONC,
			in("\"command\": \"clawai\", \"args\": [\n  \"proxy\",\n  \"--server\", \"fs\", \"--\", \"npx\", // mine\n  \"-y\"]"),
			in("\"command\": \"/usr/local/bin/clawai\", \"args\": [\n  \"proxy\",\n  \"--server\", \"fs\", \"--\", \"npx\", // mine\n  \"-y\"]"),
			in("\"command\": \"npx\", \"args\": [\n  // mine\n  \"-y\"]")},
		{"YAML in the block style, nothing left", rowYAML,
			"extensions:\n  fs:\n    cmd: clawai\n    args: # mine\n    - proxy\n    - --server\n    - fs\n    - --\n    - npx\n    enabled: true\n",
			"extensions:\n  fs:\n    cmd: \"/usr/local/bin/clawai\"\n    args: # mine\n    - proxy\n    - --server\n    - fs\n    - --\n    - npx\n    enabled: true\n",
			"extensions:\n  fs:\n    cmd: npx\n    args: [] # mine\n    enabled: true\n"},
		{"YAML in the block style, without --server", rowYAML,
			"extensions:\n  fs:\n    cmd: clawai\n    args:\n    - proxy\n    - --\n    - npx\n    # mine\n    - -y\n",
			"extensions:\n  fs:\n    cmd: \"/usr/local/bin/clawai\"\n    args:\n    - \"proxy\"\n    - \"--server\"\n    - \"fs\"\n    - \"--\"\n    - npx\n    # mine\n    - -y\n",
			"extensions:\n  fs:\n    cmd: npx\n    args:\n    # mine\n    - -y\n"},
		{"TOML, another path", rowTOML,
			"[mcp_servers.fs]\ncommand = \"clawai\"\nargs = [\"proxy\",\"--\",'npx']\n",
			"[mcp_servers.fs]\ncommand = \"/usr/local/bin/clawai\"\nargs = [\"proxy\",\"--server\",\"fs\",\"--\",'npx']\n",
			"[mcp_servers.fs]\ncommand = 'npx'\n"},
		{"a list", rowArray,
			`{"mcp": {"fs": {"command": ["clawai", "proxy", "--", "npx"]}}}`,
			`{"mcp": {"fs": {"command": ["/usr/local/bin/clawai", "proxy", "--server", "fs", "--", "npx"]}}}`,
			`{"mcp": {"fs": {"command": ["npx"]}}}`},
		{"a list printed anew", rowArray,
			"{\"mcp\": {\"fs\": {\"command\": [\n  \"clawai\",\n  \"proxy\",\n  \"--\",\n  \"npx\"\n]}}}",
			"{\"mcp\": {\"fs\": {\"command\": [\n  \"/usr/local/bin/clawai\",\n  \"proxy\",\n  \"--server\",\n  \"fs\",\n  \"--\",\n  \"npx\"\n]}}}",
			"{\"mcp\": {\"fs\": {\"command\": [\n  \"npx\"\n]}}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entryOf(t, c.row, c.src, "fs")
			updated, err := Wrap(c.row, []byte(c.src), e, clawai)
			if err != nil || string(updated) != c.updated {
				t.Errorf("updated: %v\n%s\nwant\n%s", err, updated, c.updated)
			}
			back, err := Unwrap(c.row, []byte(c.src), e)
			if err != nil || string(back) != c.unwrapped {
				t.Errorf("unwrapped: %v\n%s\nwant\n%s", err, back, c.unwrapped)
			}
			if back, err = Unwrap(c.row, updated, e); err != nil || string(back) != c.unwrapped {
				t.Errorf("updated and unwrapped: %v\n%s\nwant\n%s", err, back, c.unwrapped)
			}
		})
	}
}

func TestReadWrapper(t *testing.T) {
	src := `{"mcpServers": {
  "a": {"command": "x"},
  "é": {"command": "/b/clawai", "args": ["proxy", "--observe", "--server", "n", "--policy", "p", "--", "npx", "-y"]},
  "c": {"url": "https://x"}
}}`
	entries, err := Read(rowJSON, []byte(src))
	if err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	e := entries[1]
	if e.Line != 3 || e.Column != 3 || e.Kind != Stdio || e.Command != "npx" || !slices.Equal(e.Args, []string{"-y"}) ||
		!slices.Equal(e.KeyPath, []string{"mcpServers", "é"}) {
		t.Errorf("%+v", e)
	}
	w := e.Wrapped
	if w == nil || w.Path != "/b/clawai" || w.Server != "n" || !w.Observe || len(w.Differs) != 3 {
		t.Errorf("%+v", w)
	}
	if entries[2].Kind != Remote || entries[2].URL != "https://x" || entries[0].Wrapped != nil {
		t.Errorf("%+v", entries)
	}
}

func TestObserve(t *testing.T) {
	src := `{"mcpServers": {"fs": {"command": "x", "args": []}}}`
	w := clawai
	w.Observe = true
	watched, err := wrapNamed(rowJSON, []byte(src), w)
	if err != nil {
		t.Fatal(err)
	}
	if e := entryOf(t, rowJSON, string(watched), "fs"); e.Wrapped.Differs != nil || !e.Wrapped.Observe {
		t.Errorf("%+v", e.Wrapped)
	}
	enforced, err := wrapNamed(rowJSON, watched, clawai)
	if err != nil {
		t.Fatal(err)
	}
	if e := entryOf(t, rowJSON, string(enforced), "fs"); e.Wrapped.Observe {
		t.Errorf("%+v", e.Wrapped)
	}
	if back, err := Unwrap(rowJSON, enforced, Entry{Name: "fs", KeyPath: []string{"mcpServers", "fs"}}); err != nil || string(back) != src {
		t.Errorf("%v %s", err, back)
	}
}

func TestUnwrapRefusesCommentsAmongItsWords(t *testing.T) {
	src := `{"mcpServers": {"fs": {"command": "clawai", "args": ["proxy", /* mine */ "--", "npx"]}}}`
	after, err := Unwrap(rowJSONC, []byte(src), entryOf(t, rowJSONC, src, "fs"))
	if e := editError(t, err); after != nil || e.Column != 61 {
		t.Errorf("%v %s", err, after)
	}
}
