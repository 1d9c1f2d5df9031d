package client

import (
	"strings"
	"testing"
)

// What is ambiguous is refused with its place, and no bytes are given.
func TestWrapRefuses(t *testing.T) {
	in := func(entry string) string { return `{"mcpServers": {` + entry + `}}` }
	expanding := rowJSON
	expanding.ExpandsArgs = true
	readOnly := rowJSON
	readOnly.ReadOnly = true
	dollar := rowJSON
	dollar.Interpolation = []string{`\$\w+`}
	for _, c := range []struct {
		name string
		row  Row
		src  string
		want string // "line:column what"; "" when it is not refused
	}{
		{"plain", rowJSON, in(`"fs": {"command": "x"}`), ""},
		{"not JSON", rowJSON, "{\n \"a\": tru}", `2:7 "t" cannot start a value`},
		{"two values", rowJSON, `{} {}`, `1:4 "{" comes after`},
		{"unfinished", rowJSON, `{"mcpServers": {"fs"`, `1:21 a : is missing`},
		{"a comment in strict JSON", rowJSON, "{} // x", `1:4 a comment, which`},
		{"a trailing comma in strict JSON", rowJSON, `{"a": [1,]}`, `1:9 a comma before`},
		{"not UTF-8", rowJSON, "{\"a\": \"\xff\"}", `1:8 the file is not UTF-8`},
		{"UTF-16", rowJSON, "\xff\xfe{\x00}\x00", `1:1 the file is not UTF-8`},
		{"too deep", rowJSON, strings.Repeat("[", 600), `1:513 values are nested deeper than 512`},
		{"the container twice", rowJSON, `{"mcpServers": {}, "mcpServers": {"fs": {"command": "x"}}}`, `1:20 the key "mcpServers" is there twice`},
		{"the container twice, escaped", rowJSON, `{"mcpServers": {}, "mcp\u0053ervers": {}}`, `1:20 the key "mcpServers" is there twice`},
		{"a project twice", rowLocal, `{"projects": {"a": {}, "a": {"mcpServers": {}}}}`, `1:24 the key "a" is there twice`},
		{"a key twice elsewhere", rowJSON, `{"x": {"a": 1, "a": 2}, "mcpServers": {"fs": {"command": "x"}}}`, ""},
		{"the server twice", rowJSON, in(`"fs": {"command": "x"}, "fs": {"command": "y"}`), `1:17 the server "fs" is defined twice`},
		{"another server twice", rowJSON, in(`"fs": {"command": "x"}, "a": {}, "a": {}`), ""},
		{"the command twice", rowJSON, in(`"fs": {"command": "x", "command": "y"}`), `1:40 the key "command" is there twice in the entry of "fs"`},
		{"deep in the entry twice", rowJSON, in(`"fs": {"command": "x", "env": {"A": "1", "\u0041": "2"}}`), `1:58 the key "A" is there twice in the entry`},
		{"a key with escapes", rowJSON, in(`"fs": {"\u0063ommand": "x"}`), `1:24 the key "command" in the entry of "fs" is written with escapes; write the key out`},
		{"a key with escapes, JSONC", rowJSONC, in(`"fs": {"command": "x", /* */ "ar\u0067s": []}`), `1:46 the key "args"`},
		{"a key with escapes, JSON5", rowJSON5, `{mcp: {servers: {fs: {c\u006fmmand: "x"}}}}`, `1:23 the key "command"`},
		{"a key with escapes of JSON5", rowJSON5, `{mcp: {servers: {fs: {'\x63ommand': "x"}}}}`, `1:23 the key "command"`},
		{"a variable with escapes", rowJSON, in(`"fs": {"command": "x", "env": {"HOM\u0045": "/"}}`), `1:48 the key "HOME"`},
		{"a name with escapes", rowJSON, in(`"\u0066s": {"command": "x"}`), ""},
		{"a key with escapes that it needs", rowJSON, in(`"fs": {"command": "x", "tools": {"a\"b": 1, "\u00e9": 2, "a\/b": 3}}`), ""},
		{"a key in another case", rowJSON, in(`"fs": {"command": "x", "Command": "y"}`), `1:40 the key "Command" in the entry of "fs" differs from "command" in its case alone`},
		{"a key in another case alone", rowJSON, in(`"fs": {"command": "x", "ENV": {}}`), `1:40 the key "ENV"`},
		{"the environment is a list", rowJSON, in(`"fs": {"command": "x", "env": ["A=b"]}`), `1:47 what the env of "fs" sets cannot be told`},
		{"the environment is empty", rowJSON, in(`"fs": {"command": "x", "env": []}`), ""},
		{"the container is a list", rowJSON, `{"mcpServers": []}`, `1:16 a list stands where an object of servers is expected`},
		{"the command is a number", rowJSON, in(`"fs": {"command": 1}`), `1:35 the command of "fs" is a number or boolean, not a string`},
		{"the command is empty", rowJSON, in(`"fs": {"command": ""}`), `1:35 the command of "fs" is empty`},
		{"the command is a list", rowJSON, in(`"fs": {"command": ["x"]}`), `1:35 the command of "fs" is a list`},
		{"args is null", rowJSON, in(`"fs": {"command": "x", "args": null}`), `1:48 the arguments of "fs" are null, not a list`},
		{"args is a string", rowJSON, in(`"fs": {"command": "x", "args": "-y"}`), `1:48 the arguments of "fs" are a string, not a list`},
		{"an argument is a number", rowJSON, in(`"fs": {"command": "x", "args": ["a", 1]}`), `1:54 an argument of "fs" is a number or boolean, not a string`},
		{"a variable", rowJSON, in(`"fs": {"command": "${HOME}/x"}`), `1:35 the command of "fs" holds a variable`},
		{"a variable that args know", expanding, in(`"fs": {"command": "${HOME}/x"}`), ""},
		{"a variable of the client's own kind", dollar, in(`"fs": {"command": "$HOME/x"}`), `1:35 the command of "fs" holds a variable`},
		{"a name that the client would fill in", expanding, in(`"${X:-fs}": {"command": "x"}`), `1:17 the name "${X:-fs}" would not reach the rules as it is written`},
		{"a file that is only listed", readOnly, in(`"fs": {"command": "x"}`), `1:1 files of json are not edited`},
		{"a list in the entry with a key twice", rowJSON, in(`"fs": {"command": "x", "y": [1, {"a": 1, "a": 2}]}`), `1:58 the key "a" is there twice in the entry`},
		{"an unknown format", Row{Format: "xml"}, `<a/>`, `1:1 "xml" is not a format`},
		{"a dollar", rowJSON, in(`"fs": {"command": "$HOME/x"}`), ""},
		{"a url and a command", rowJSON, in(`"fs": {"command": "x", "url": "y"}`), `1:40 the entry of "fs" has a command and a url`},
		{"a url, a command and a type", rowJSON, in(`"fs": {"type": "stdio", "command": "x", "url": "y"}`), `1:57 the entry of "fs" has a command and a url`},
		{"a url", rowJSON, in(`"fs": {"url": "https://x"}`), ""},
		{"a url and a command, of a remote type", rowJSON, in(`"fs": {"type": "http", "url": "https://x", "command": "z"}`), `1:60 the entry of "fs" has "command" and a url`},
		{"another type", rowJSON, in(`"fs": {"type": "builtin", "command": "z"}`), `1:17 "fs" cannot be covered: its type is "builtin"`},
		{"no command", rowJSON, in(`"fs": {}`), `1:17 "fs" cannot be covered: it has no command`},
		{"no object", rowJSON, in(`"fs": "x"`), `1:17 "fs" cannot be covered: the entry is a string`},
		{"nothing behind --", rowJSON, in(`"fs": {"command": "clawai", "args": ["proxy", "--"]}`), `1:63 nothing comes after the -- of "fs"`},
		{"an empty list", rowArray, `{"mcp": {"fs": {"command": []}}}`, `1:28 the command of "fs" is empty`},
		{"a string for a list", rowArray, `{"mcp": {"fs": {"command": "x"}}}`, `1:28 the command of "fs" is a string, not a list`},
		{"no path", rowObject, `{"context_servers": {"fs": {"command": {}}}}`, `1:40 the command of "fs" has no path`},
		{"two commands", rowNested, in(`"fs": {"command": "x", "transport": {"command": "y"}}`), `1:54 the entry of "fs" has a command of its own and one in "transport"`},
		{"json5 escape", rowJSON5, `{a: '\1'}`, `1:6 an escape that does not exist`},
		{"json5 hex escape", rowJSON5, `{a: '\xg1'}`, `1:6 an escape that does not exist`},
		{"json5 names", rowJSON5, `{$_é1\u0041: 1, "\v": '\
\0\v', x` + "\u200c" + `y: 2, 1a: 3}`, `2:16 a key is missing before "1"`},
		{"a string that ends in an escape", rowJSON, `{"a\`, `1:2 a string that does not end`},
		{"a comment that does not end", rowJSONC, `{} /* x`, `1:4 a comment that does not end`},
		{"a lone slash", rowJSONC, `{} / x`, `1:4 a lone /`},
		{"json5 line end in a string", rowJSON5, "{a: 'x\n'}", `1:7 a control character inside a string`},

		{"not TOML", rowTOML, "a = 1\nb = \n", `2:5 `},
		{"TOML: a table twice", rowTOML, "[mcp_servers.fs]\ncommand = 'x'\n[mcp_servers.fs]\n", `3:2 `},
		{"TOML: a server twice", rowTables, "[[mcp_servers]]\nname='fs'\ncommand='x'\n[[mcp_servers]]\nname='fs'\ncommand='y'\n", `2:6 the server "fs" is defined twice`},
		{"TOML: args", rowTOML, "[mcp_servers.fs]\ncommand = 'x'\nargs = ['a', 1]", `3:14 an argument of "fs" is a number or boolean`},
		{"TOML: no name", rowTables, "[[mcp_servers]]\ncommand='x'\n", `1:3 "" cannot be covered: the entry has no name`},

		{"YAML: a directive", rowYAML, "%YAML 1.2\n---\nextensions: {}\n", `1:1 the file holds a directive`},
		{"YAML: a key that is no name", rowYAML, "extensions:\n  fs:\n    cmd: x\n    *a : b\n", `3:5 the entry of "fs" uses a key that is not a plain name`},
		{"YAML: a list in a list", rowList, "mcpServers:\n- - command: x\n", `2:3 "" cannot be covered: the entry is a list`},
		{"YAML: words that begin inside a line", rowYAMLArray, "extensions:\n  fs:\n    cmd: [[x]]\n", `3:11 the command of "fs" is a list, not a string`},
		{"YAML: too deep", rowYAML, strings.Repeat("[", 600), `1:513 values are nested deeper than 512`},
		{"YAML: too deep in dashes", rowYAML, "a:\n" + strings.Repeat("- ", 600), `2:1025 values are nested deeper than 512`},
		{"YAML: too large", rowYAML, strings.Repeat("# xxxxx\n", 1<<18), `1:1 the file is larger than 1 MiB`},
		{"not YAML", rowYAML, "a: [1\nb: 2\n", `2:1 `},
		{"YAML: an anchor on the command", rowYAML, "extensions:\n  fs:\n    cmd: &c npx\n", `3:10 the entry of "fs" uses an anchor`},
		{"YAML: an alias as arguments", rowYAML, "x: &a [b]\nextensions:\n  fs:\n    cmd: npx\n    args: *a\n", `5:11 `},
		{"YAML: a merge key", rowYAML, "x: &a {b: c}\nextensions:\n  fs:\n    <<: *a\n    cmd: npx\n", `4:5 the entry of "fs" uses a merge key`},
		{"YAML: a merge key elsewhere", rowYAML, "x: &a {b: c}\ny:\n  <<: *a\nextensions:\n  fs:\n    cmd: npx\n", ""},
		{"YAML: a tag", rowYAML, "extensions:\n  fs:\n    cmd: !!str npx\n", `3:10 the entry of "fs" uses a tag`},
		{"YAML: an anchor on the entry", rowYAML, "extensions:\n  fs: &a\n    cmd: npx\n", `2:7 the entry of "fs" uses an anchor`},
		{"YAML: an anchor on the container", rowYAML, "extensions: &a\n  fs:\n    cmd: npx\n", `1:13 the way to the servers holds an anchor`},
		{"YAML: an alias as entry", rowYAML, "x: &a {cmd: y}\nextensions:\n  fs: *a\n", `3:3 "fs" cannot be covered`},
		{"YAML: a folded command", rowYAML, "extensions:\n  fs:\n    cmd: >-\n      npx\n", `3:10 the entry of "fs" uses a string over several lines`},
		{"YAML: a plain command on two lines", rowYAML, "extensions:\n  fs:\n    cmd: npx\n      y\n", `3:10 the entry of "fs" uses a string over several lines`},
		{"YAML: a key twice", rowYAML, "extensions:\n  fs:\n    cmd: npx\n    cmd: y\n", `4:5 `},
		{"YAML: empty args", rowYAML, "extensions:\n  fs:\n    cmd: npx\n    args:\n", `4:10 the arguments of "fs" are null`},
		{"TOML: a key with escapes", rowTOML, "[mcp_servers.fs]\n\"\\u0063ommand\" = 'x'\n", `2:1 the key "command"`},
		{"TOML: a key with escapes, dotted", rowTOML, "mcp_servers.fs.command = 'x'\nmcp_servers.fs.\"\\u0065nv\".A = 'x'\n", `2:16 the key "env"`},
		{"TOML: a key with a backslash", rowTOML, "[mcp_servers.fs]\ncommand = 'x'\n'a\\u0063' = 'x'\n", ""},
		{"YAML: a key with escapes", rowYAML, "extensions:\n  fs:\n    \"\\x63md\": x\n", `3:5 the key "cmd"`},
		{"YAML: a key with a backslash", rowYAML, "extensions:\n  fs:\n    cmd: x\n    'a\\u0063': x\n", ""},
		{"YAML: an alias as environment", rowYAML, "x: &a {b: c}\nextensions:\n  fs:\n    cmd: npx\n    env: *a\n", `5:10 what the env of "fs" sets`},
		{"YAML: two documents", rowYAML, "a: b\n---\nextensions: {}\n", `3:1 the file holds a directive or more than one document`},
		{"YAML: a command that brackets would change", rowYAML, "extensions:\n  fs:\n    cmd: a,b\n    args: [c]\n", `3:10 the command "a,b" would read otherwise inside a list`},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, err := wrapNamed(c.row, []byte(c.src), clawai)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || after != nil {
				t.Fatalf("not refused: %v %s", err, after)
			}
			e := editError(t, err)
			got := strings.Replace(strings.TrimPrefix(e.Error(), "line "), ", column ", ":", 1)
			got = strings.Replace(got, ": ", " ", 1)
			if !strings.HasPrefix(got, c.want) {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// wrapNamed wraps the first entry named fs, or the only one there is.
func wrapNamed(r Row, src []byte, w Wrapper) ([]byte, error) {
	entries, err := Read(r, src)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name == "fs" || len(entries) == 1 {
			return Wrap(r, src, e, w)
		}
	}
	return nil, nil
}

// A wrapper comes off an entry that must not be wrapped.
func TestUnwrapMixed(t *testing.T) {
	src := `{"mcpServers": {"fs": {"command": "clawai", "args": ["proxy", "--", "x"], "url": "y"}}}`
	back, err := Unwrap(rowJSON, []byte(src), entryOf(t, rowJSON, src, "fs"))
	if want := `{"mcpServers": {"fs": {"command": "x", "args": [], "url": "y"}}}`; err != nil || string(back) != want {
		t.Errorf("%v %s", err, back)
	}
}

// What is not wrapped is given back, in bytes of its own.
func TestUnwrapBare(t *testing.T) {
	src := []byte(`{"mcpServers": {"fs": {"command": "x"}}}`)
	back, err := Unwrap(rowJSON, src, entryOf(t, rowJSON, string(src), "fs"))
	if err != nil || string(back) != string(src) || &back[0] == &src[0] {
		t.Errorf("%v %s", err, back)
	}
	if _, err := Unwrap(rowJSON, src, Entry{Name: "gone", KeyPath: []string{"mcpServers", "gone"}}); err == nil {
		t.Error("unwrapped what is not there")
	}
}

func TestReadEmpty(t *testing.T) {
	for _, r := range []Row{rowJSON, rowJSONC, rowJSON5, rowTOML, rowYAML} {
		for _, src := range []string{"", "\ufeff", " \r\n\t", "\n"} {
			if r.Format == YAML && strings.Contains(src, "\t") {
				continue // a tab is no blank of YAML
			}
			if entries, err := Read(r, []byte(src)); err != nil || len(entries) != 0 {
				t.Errorf("%s %q: %v %v", r.Format, src, entries, err)
			}
		}
	}
}

func TestWrapRefusesWrappers(t *testing.T) {
	src := `{"mcpServers": {"fs": {"command": "x"}}}`
	for _, w := range []Wrapper{{}, {Path: "/usr/bin/other"}, {Path: "/x\x00/clawai"}, {Path: "clawai", Server: "a\x00"}} {
		if after, err := wrapNamed(rowJSON, []byte(src), w); err == nil || after != nil {
			t.Errorf("%+v: %s", w, after)
		}
	}
}
