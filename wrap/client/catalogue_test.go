package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// catalogue is the built-in rows.
func catalogue(t testing.TB) []Row {
	t.Helper()
	rows, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A row with no pair of golden files has never been edited by anybody.
func TestCatalogueRowsHaveGoldenPairs(t *testing.T) {
	var ids []string
	for _, row := range catalogue(t) {
		ids = append(ids, row.ID)
		files := []string{"before", "after"}
		if row.ReadOnly {
			files = files[:1]
		}
		for _, name := range files {
			path := filepath.Join("testdata", "golden", row.ID, name+"."+string(row.Format))
			if _, err := os.Stat(path); err != nil {
				t.Errorf("row %s: %v", row.ID, err)
			}
		}
	}
	dirs, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if dir.IsDir() && !slices.Contains(ids, dir.Name()) {
			t.Errorf("testdata/golden/%s belongs to no row", dir.Name())
		}
	}
}

func TestCatalogueUncoverables(t *testing.T) {
	all, err := LoadUncoverables()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, u := range all {
		if seen[u.ID] {
			t.Errorf("id %q is used twice", u.ID)
		}
		seen[u.ID] = true
		for _, err := range u.check() {
			t.Errorf("uncoverable %q: %v", u.ID, err)
		}
	}
	if len(all) == 0 {
		t.Error("no uncoverable place is known")
	}
}

// Claude Desktop loses edits made while it runs; Cline takes a lock; some
// clients may only be listed. These are promises of the commands, kept here.
func TestCatalogueTraits(t *testing.T) {
	for _, row := range catalogue(t) {
		if desktop := row.Client == "claude-desktop"; desktop != (len(row.Processes) > 0) {
			t.Errorf("row %s: processes %q", row.ID, row.Processes)
		}
		if cline := row.Client == "cline"; cline != (row.Lock != "") {
			t.Errorf("row %s: lock %q", row.ID, row.Lock)
		}
		if listed := row.Scope == Managed || row.Client == "roo"; listed != row.ReadOnly {
			t.Errorf("row %s: read_only %t", row.ID, row.ReadOnly)
		}
	}
}

// check tells what is wrong with one uncoverable place.
func (u Uncoverable) check() []error {
	var f findings
	f.addIfBad(!word().MatchString(u.ID), "id must be lower-case words joined by -")
	f.addIfBad(!word().MatchString(u.Client), "client must be lower-case words joined by -")
	f.addIfBad(u.Name == "", "name is missing")
	f.addIfBad(u.Why == "", "why is missing")
	f.addIfBad(u.Source == "", "source is missing: say where these facts come from")
	for _, path := range u.Paths.allPaths() {
		if err := checkPattern(path); err != nil {
			f = append(f, err)
		}
	}
	return f
}

func TestCheckUncoverable(t *testing.T) {
	var got []string
	for _, err := range (Uncoverable{ID: "A", Paths: Paths{All: []string{"x"}}}).check() {
		got = append(got, err.Error())
	}
	want := []string{
		"id must be lower-case words joined by -", "client must be lower-case words joined by -", "name is missing", "why is missing",
		"source is missing: say where these facts come from",
		`path "x" must start with ~, {config}, {xdg}, $NAME, ${NAME:-default}, /, a drive, or ./ for the project`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

const goodUser = `
[[file]]
id = "mine"
client = "mine"
name = "Mine"
scope = "user"
paths.all = ["~/.mine/mcp.json"]
format = "json"
key_path = ["mcpServers"]
restart = "start it again"
source = "its manual"
`

func TestCatalogueUserRows(t *testing.T) {
	rows, err := LoadCatalogue([]byte(goodUser))
	if err != nil {
		t.Fatal(err)
	}
	built := len(catalogue(t))
	if len(rows) != built+1 {
		t.Fatalf("%d rows, want %d", len(rows), built+1)
	}
	mine := rows[built]
	if mine.ID != "mine" || mine.Confidence != Experimental || mine.Container != Map || mine.CommandForm != StringCommand {
		t.Errorf("got %+v", mine)
	}
	for _, path := range []string{"$X/a", "${X}/a", "${X:-${Y:-/z}}/a", "C:/a/[bc]?.json", "/a", "{config}/a", "$X"} {
		if _, err := LoadCatalogue([]byte(strings.Replace(goodUser, "~/.mine/mcp.json", path, 1))); err != nil {
			t.Errorf("path %q: %v", path, err)
		}
	}
	if _, err := LoadCatalogue([]byte("\xef\xbb\xbf"+goodUser), nil); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
	if len(catalogue(t)) != built {
		t.Error("a user's row stayed in the built-in ones")
	}
	_, err = LoadCatalogue([]byte(goodUser), []byte(goodUser))
	if err == nil || !strings.Contains(err.Error(), `[[file]] 1 (id "mine")`) {
		t.Errorf("the same row in two texts: %v", err)
	}
}

func TestCatalogueRefuses(t *testing.T) {
	slow.Test(t)
	with := func(old, new string) string {
		if !strings.Contains(goodUser, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(goodUser, old, new, 1)
	}
	plus := func(line string) string { return goodUser + line + "\n" }
	label := `[[file]] 1 (id "mine"): `
	tests := []struct{ name, src, want string }{
		{"not TOML", "[[file]\n", "line 1, column 7: toml: "},
		{"unknown key", plus(`colour = "red"`), `line 12, column 1: unknown key "colour"`},
		{"unknown system", plus(`paths.beos = ["~/x"]`), `line 12, column 1: unknown key "beos"`},
		{"wrong type", with(`"json"`, `7`), "line 8, column 10: "},
		{"uncoverable", plus("[[uncoverable]]\nid = \"x\""), "[[uncoverable]], [[hook]] and [[model]] are the built-in catalogue's; write [[file]] only"},
		{"shadows", strings.ReplaceAll(with(`id = "mine"`, `id = "cursor-user"`), `client = "mine"`, `client = "cursor"`),
			`[[file]] 1 (id "cursor-user"): id "cursor-user" is a built-in row's; choose another`},
		{"twice", goodUser + goodUser, `[[file]] 2 (id "mine"): id "mine" is used twice`},
		{"same place", with("~/.mine/mcp.json", "~/.cursor/mcp.json"), label + `path "~/.cursor/mcp.json" with this key_path is row "cursor-user" already`},
		{"id", with(`id = "mine"`, `id = "Mine!"`), `[[file]] 1 (id "Mine!"): id must be lower-case words joined by -`},
		{"client", with(`client = "mine"`, `client = "m m"`), label + "client must be lower-case words joined by -"},
		{"id of another", with(`client = "mine"`, `client = "min"`), label + `id must be the client "min", or start with it and -`},
		{"no name", with("name = \"Mine\"\n", ""), label + "name is missing"},
		{"no source", with("source = \"its manual\"\n", ""), label + "source is missing: say where these facts come from"},
		{"no restart", with("restart = \"start it again\"\n", ""), label + "restart is missing: say what a person does for an edit to take effect"},
		{"no scope", with("scope = \"user\"\n", ""), label + "scope is missing: one of user, local, project, profile, workspace, plugin, managed"},
		{"no format", with("format = \"json\"\n", ""), label + "format is missing: one of json, jsonc, json5, toml, yaml"},
		{"format", with(`"json"`, `"xml"`), label + `format is "xml"; it must be one of json, jsonc, json5, toml, yaml`},
		{"container", plus(`container = "heap"`), label + `container is "heap"; it must be one of map, list, tables`},
		{"command form", plus(`command_form = "url"`), label + `command_form is "url"; it must be one of string, array, object`},
		{"confidence", plus(`confidence = "high"`), label + `confidence is "high"; it must be one of first, experimental`},
		{"no paths", with("paths.all = [\"~/.mine/mcp.json\"]\n", ""), label + "paths is missing: give paths.all, or linux, macos or windows"},
		{"project path", with("~/.mine", "./.mine"), label + `path "./.mine/mcp.json" is a project's, but the scope is "user"`},
		{"project scope", with(`"user"`, `"project"`), label + `path "~/.mine/mcp.json" must start with ./, as the scope is "project"`},
		{"ancestors", plus("ancestors = true"), label + `ancestors needs the scope "project" or "workspace"`},
		{"backslash", with("~/.mine/mcp.json", `%APPDATA%\\mine`), label + `path "%APPDATA%\\mine" has a backslash; write slashes, on Windows too`},
		{"stars", with("/mcp.json", "/**/mcp.json"), label + `path "~/.mine/**/mcp.json" has **; only * ? and [...] are known`},
		{"dots", with("~/.mine", "~/../x"), label + `path "~/../x/mcp.json" has ..; write the path out`},
		{"late variable", with("~/.mine", "~/$X"), label + `path "~/$X/mcp.json": a variable may only be its first part`},
		{"relative", with("~/.mine", "mine"), label + `path "mine/mcp.json" must start with ~, {config}, {xdg}, $NAME, ${NAME:-default}, /, a drive, or ./ for the project`},
		{"no variable's name", with("~/.mine", "$/x"), label + `path "$/x/mcp.json" must start with`},
		{"a variable left open", with("~/.mine/mcp.json", "${X"), label + `path "${X" must start with`},
		{"no default", with("~/.mine", "${X:-}"), label + `path "${X:-}/mcp.json" must start with`},
		{"a default that is relative", with("~/.mine", "${X:-x}"), label + `path "x" must start with`},
		{"a default with a star", with("~/.mine", "${X:-~/*}"), label + `path "${X:-~/*}/mcp.json" must start with`},
		{"a default below the project", with("~/.mine", "${X:-./x}"), label + `path "${X:-./x}/mcp.json" must start with`},
		{"the project itself", with("~/.mine/mcp.json", "./"), label + `path "./" must start with`},
		{"empty key", with(`["mcpServers"]`, `["a", ""]`), label + "key_path has an empty key"},
		{"star last", with(`["mcpServers"]`, `["a", "*"]`), label + `key_path must not end with "*"`},
		{"list at the root", with(`key_path = ["mcpServers"]`, "container = \"list\"\nname_field = \"name\""), label + `container "list" needs a key_path`},
		{"list unnamed", plus(`container = "list"`), label + `container "list" needs name_field`},
		{"map named", plus(`name_field = "name"`), label + `name_field needs the container "list" or "tables"`},
		{"tables in JSON", plus("container = \"tables\"\nname_field = \"name\""), label + `container "tables" needs the format "toml"`},
		{"list ignores", plus("container = \"list\"\nname_field = \"name\"\nignore = [\"x\"]"), label + `ignore needs the container "map"`},
		{"array with args", plus("command_form = \"array\"\nargs = \"args\""), label + `args cannot stand beside the command_form "array"`},
		{"array nested", plus("command_form = \"array\"\nnested = \"transport\""), label + `nested needs the command_form "string"`},
		{"lock", plus(`lock = "file"`), label + `lock is "file"; only "directory" is known`},
		{"read only", plus("read_only = true\nlock = \"directory\""), label + "read_only cannot stand beside lock or processes"},
		{"types alone", plus(`stdio_types = ["stdio"]`), label + "stdio_types needs type_field"},
		{"remote types alone", plus(`remote_types = ["http"]`), label + "remote_types needs type_field"},
		{"type of both", plus("type_field = \"type\"\nstdio_types = [\"x\"]\nremote_types = [\"x\"]"), label + `type "x" is both stdio and remote`},
		{"exclusive alone", plus(`exclusive_fields = ["command"]`), label + "exclusive_fields needs url_fields"},
		{"headers alone", plus(`headers_field = "headers"`), label + "headers_field needs url_fields"},
		{"env headers alone", plus(`env_headers_field = "e"`), label + "env_headers_field and bearer_field need headers_field"},
		{"a bearer that nobody hands on", plus("url_fields = [\"url\"]\nheaders_field = \"h\"\nbearer_field = \"b\""), label + "env_headers_field and bearer_field need pass_env_field"},
		{"expands nothing in the environment", plus("env_expands = true"), label + "env_expands needs interpolation"},
		{"command is url", plus(`url_fields = ["command"]`), label + `"command" is both the command and a url field`},
		{"expands nothing", plus("expands_args = true"), label + "expands_args needs interpolation"},
		{"interpolation", plus(`interpolation = ["("]`), label + `interpolation "(": error parsing regexp`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := LoadCatalogue([]byte(tt.src))
			if err == nil {
				t.Fatal("accepted")
			}
			if rows != nil {
				t.Error("rows beside an error")
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// A person mends a file once, not once for each mistake.
func TestCatalogueTellsEveryFinding(t *testing.T) {
	_, err := LoadCatalogue([]byte("[[file]]\nid = \"a\"\n[[file]]\nid = \"b\"\nformat = \"json\"\n"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`[[file]] 1 (id "a"): format is missing`, `[[file]] 2 (id "b"): paths is missing`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}
