package client

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/testing/slow"
)

type vars map[string]string

func (v vars) get(name string) string { return v[name] }

func rowOf(t testing.TB, id string) Row {
	t.Helper()
	for _, row := range catalogue(t) {
		if row.ID == id {
			return row
		}
	}
	t.Fatalf("no row %q", id)
	return Row{}
}

// The machines most people have.
var (
	linux = Env{OS: "linux", Getenv: vars{}.get, Home: "/home/al", Dir: "/home/al/src/app"}
	mac   = Env{OS: "darwin", Getenv: vars{}.get, Home: "/Users/al", Dir: "/Users/al/src/app"}
	pc    = Env{OS: "windows", Home: `C:\Users\al`, Dir: `D:\src\app`, Getenv: vars{
		"APPDATA": `C:\Users\al\AppData\Roaming`, "LOCALAPPDATA": `C:\Users\al\AppData\Local`, "ProgramData": `C:\ProgramData`,
	}.get}
)

func (e Env) with(v vars) Env {
	before := e.Getenv
	e.Getenv = func(name string) string {
		if value, ok := v[name]; ok {
			return value
		}
		return before(name)
	}
	return e
}

func (e Env) in(dir string) Env { e.Dir = dir; return e }

func TestCandidates(t *testing.T) {
	slow.Test(t)
	tests := []struct {
		name string
		env  Env
		row  string
		want []string
	}{
		{"home", linux, "claude-code-user", []string{"/home/al/.claude.json"}},
		{"home on a Mac", mac, "claude-code-user", []string{"/Users/al/.claude.json"}},
		{"home on a PC", pc, "claude-code-user", []string{`C:\Users\al\.claude.json`}},
		{"a folder of one's own", linux.with(vars{"CLAUDE_CONFIG_DIR": "/x/"}), "claude-code-local", []string{"/x/.claude.json"}},
		{"slashes on a PC", pc.with(vars{"CLAUDE_CONFIG_DIR": "E:/cl"}), "claude-code-user", []string{`E:\cl\.claude.json`}},
		{"a relative folder", linux.with(vars{"CODEX_HOME": "codex"}), "codex-user", nil},
		{"an unexpanded home", linux.with(vars{"CODEX_HOME": "~/codex"}), "codex-user", nil},
		{"a drive without its root", pc.with(vars{"CODEX_HOME": `D:codex`}), "codex-user", nil},
		{"a share", pc.with(vars{"CODEX_HOME": `\\srv\home\al`}), "codex-user", []string{`\\srv\home\al\config.toml`}},
		{"half a share", pc.with(vars{"CODEX_HOME": `\\srv`}), "codex-user", nil},
		{"CODEX_HOME", linux.with(vars{"CODEX_HOME": "/cx"}), "codex-profile", []string{"/cx/*.config.toml"}},
		{"COPILOT_HOME", mac.with(vars{"COPILOT_HOME": "/cp"}), "copilot-cli-user", []string{"/cp/mcp-config.json"}},
		{"KIRO_HOME", linux.with(vars{"KIRO_HOME": "/k"}), "kiro-agent", []string{"/k/agents/*.json"}},
		{"CONTINUE_GLOBAL_DIR", linux.with(vars{"CONTINUE_GLOBAL_DIR": "/c"}), "continue-user", []string{"/c/config.yaml"}},
		{"QWEN_HOME", linux.with(vars{"QWEN_HOME": "/q"}), "qwen-user", []string{"/q/settings.json"}},
		{"OPENCLAW_CONFIG_PATH", linux.with(vars{"OPENCLAW_CONFIG_PATH": "/o.json"}), "openclaw-user", []string{"/o.json"}},
		{"Cline", linux, "cline-user", []string{"/home/al/.cline/data/settings/cline_mcp_settings.json"}},
		{"CLINE_DIR", linux.with(vars{"CLINE_DIR": "/a"}), "cline-user", []string{"/a/data/settings/cline_mcp_settings.json"}},
		{"CLINE_DATA_DIR", linux.with(vars{"CLINE_DIR": "/a", "CLINE_DATA_DIR": "/b"}), "cline-user", []string{"/b/settings/cline_mcp_settings.json"}},
		{"CLINE_MCP_SETTINGS_PATH", pc.with(vars{"CLINE_DIR": `C:\a`, "CLINE_MCP_SETTINGS_PATH": `C:\c\m.json`}), "cline-user", []string{`C:\c\m.json`}},
		{"Cline on a PC", pc, "cline-user", []string{`C:\Users\al\.cline\data\settings\cline_mcp_settings.json`}},
		{"Claude Desktop", linux, "claude-desktop", []string{"/home/al/.config/Claude/claude_desktop_config.json"}},
		{"XDG", linux.with(vars{"XDG_CONFIG_HOME": "/cfg"}), "claude-desktop", []string{"/cfg/Claude/claude_desktop_config.json"}},
		{"a relative XDG", linux.with(vars{"XDG_CONFIG_HOME": "cfg"}), "claude-desktop", []string{"/home/al/.config/Claude/claude_desktop_config.json"}},
		{"XDG is not a Mac's", mac.with(vars{"XDG_CONFIG_HOME": "/cfg"}), "claude-desktop", []string{"/Users/al/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"Claude Desktop's own row on a PC", pc, "claude-desktop", nil},
		{"classic", pc, "claude-desktop-windows", []string{`C:\Users\al\AppData\Roaming\Claude\claude_desktop_config.json`}},
		{"no APPDATA", pc.with(vars{"APPDATA": ""}), "claude-desktop-windows", []string{`C:\Users\al\AppData\Roaming\Claude\claude_desktop_config.json`}},
		{"MSIX", pc, "claude-desktop-msix", []string{`C:\Users\al\AppData\Local\Packages\Claude_*\LocalCache\Roaming\Claude\claude_desktop_config.json`}},
		{"no MSIX", mac, "claude-desktop-msix", nil},
		{"VS Code", linux, "vscode-user", []string{"/home/al/.config/Code/User/mcp.json", "/home/al/.vscode-server/data/User/mcp.json"}},
		{"VS Code on a PC", pc, "vscode-user", []string{`C:\Users\al\AppData\Roaming\Code\User\mcp.json`}},
		{"portable", mac.with(vars{"VSCODE_PORTABLE": "/p"}), "vscode-user", []string{"/p/user-data/User/mcp.json", "/Users/al/Library/Application Support/Code/User/mcp.json"}},
		{"profiles", mac, "vscode-insiders-profile", []string{"/Users/al/Library/Application Support/Code - Insiders/User/profiles/*/mcp.json"}},
		{"Zed", linux.with(vars{"XDG_CONFIG_HOME": "/cfg"}), "zed-user", []string{"/cfg/zed/settings.json"}},
		{"Zed on a Mac", mac.with(vars{"XDG_CONFIG_HOME": "/cfg"}), "zed-user", []string{"/Users/al/.config/zed/settings.json"}},
		{"Zed on a PC", pc, "zed-user", []string{`C:\Users\al\AppData\Roaming\Zed\settings.json`}},
		{"Goose on a PC", pc, "goose-user", []string{`C:\Users\al\AppData\Roaming\Block\goose\config\config.yaml`}},
		{"Crush on a PC", pc, "crush-user", []string{`C:\Users\al\AppData\Local\crush\crush.json`}},
		{"opencode on a PC", pc.with(vars{"OPENCODE_CONFIG": `C:\o.json`}), "opencode-user-v1", []string{
			`C:\Users\al\.config\opencode\opencode.json`, `C:\Users\al\.config\opencode\opencode.jsonc`, `C:\Users\al\.config\opencode\config.json`, `C:\o.json`}},
		{"opencode's folder", linux.with(vars{"XDG_CONFIG_HOME": "/c", "OPENCODE_CONFIG_DIR": "/d"}), "opencode-user-v2", []string{
			"/c/opencode/opencode.json", "/c/opencode/opencode.jsonc", "/c/opencode/config.json", "/d/opencode.json", "/d/opencode.jsonc"}},
		{"managed", pc, "claude-code-managed", []string{`C:\Program Files\ClaudeCode\managed-mcp.json`}},
		{"managed by a variable", pc, "codex-managed", []string{`C:\ProgramData\OpenAI\Codex\config.toml`}},
		{"managed on a Mac", mac, "claude-code-managed", []string{"/Library/Application Support/ClaudeCode/managed-mcp.json"}},
		{"no ProgramData", pc.with(vars{"ProgramData": ""}), "codex-managed", nil},
		{"project", mac, "cursor-project", []string{"/Users/al/src/app/.cursor/mcp.json"}},
		{"project on a PC", pc, "gemini-project", []string{`D:\src\app\.gemini\settings.json`}},
		{"upward", linux.in("/home/al"), "claude-code-project", []string{"/home/al/.mcp.json", "/home/.mcp.json", "/.mcp.json"}},
		{"upward on a PC", pc, "claude-code-project", []string{`D:\src\app\.mcp.json`, `D:\src\.mcp.json`, `D:\.mcp.json`}},
		{"upward on a share", pc.in(`\\srv\team\app`), "factory-project", []string{`\\srv\team\app\.factory\mcp.json`, `\\srv\team\.factory\mcp.json`}},
		{"at the root", linux.in("/"), "claude-code-project", []string{"/.mcp.json"}},
		{"at a drive's root", pc.in(`D:\`), "claude-code-project", []string{`D:\.mcp.json`}},
		{"no project", linux.in(""), "claude-code-project", nil},
		{"a relative project", linux.in("app"), "cursor-project", nil},
		{"project glob", linux, "junie-project", []string{"/home/al/src/app/.junie/mcp/*.json"}},
		{"Visual Studio", pc, "visual-studio-user", []string{`C:\Users\al\.mcp.json`}},
		{"no Visual Studio", linux, "visual-studio-user", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, places(rowOf(t, tt.row), tt.env)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// places are where the row's files would be if they existed; a glob stays one.
func places(r Row, e Env) (paths []string) {
	for _, c := range e.candidatePaths(r.Paths, r.Ancestors) {
		if !slices.Contains(paths, c.path) {
			paths = append(paths, c.path)
		}
	}
	return paths
}

// Nothing is looked for below a home that is not known.
func TestCandidatesNeedHome(t *testing.T) {
	e := Env{OS: "linux", Getenv: vars{}.get}
	for _, row := range catalogue(t) {
		for _, path := range places(row, e) {
			if row.Scope != Managed {
				t.Errorf("row %s: %s", row.ID, path)
			}
		}
	}
}

// Every candidate is absolute, in its system's own writing, and made of the
// catalogue's text alone: no sign of a pattern is left in it.
func TestCandidatesAreAbsolute(t *testing.T) {
	for _, e := range []Env{linux, mac, pc} {
		e = e.with(vars{"VSCODE_PORTABLE": e.Home, "OPENCODE_CONFIG": e.Home, "OPENCODE_CONFIG_DIR": e.Home, "AMP_SETTINGS_FILE": e.Home})
		for _, row := range catalogue(t) {
			for _, path := range places(row, e) {
				if !e.isAbsolute(path) || strings.ContainsAny(path, "${}~%") {
					t.Errorf("row %s on %s: %q", row.ID, e.OS, path)
				}
				if e.OS == "windows" && strings.Contains(path, "/") || e.OS != "windows" && strings.Contains(path, `\`) {
					t.Errorf("row %s on %s: %q has the other system's separators", row.ID, e.OS, path)
				}
			}
		}
	}
}

// Every row is for some system, and names at least one place there when every
// variable it may ask for is set.
func TestCandidatesExistSomewhere(t *testing.T) {
	for _, row := range catalogue(t) {
		found := 0
		for _, e := range []Env{linux, mac, pc} {
			found += len(places(row, e))
		}
		if found == 0 {
			t.Errorf("row %s is nowhere", row.ID)
		}
	}
}

func TestFiles(t *testing.T) {
	disk := map[string]bool{"/c/.cursor/mcp.json": true}
	e := Env{OS: "linux", Getenv: vars{"TWICE": "/c"}.get, Home: "/c", Exists: func(path string) bool { return disk[path] }}
	row := Row{Paths: Paths{All: []string{"~/.cursor/mcp.json", "$TWICE/.cursor/mcp.json", "~/none"}}}
	if got := row.FindFiles(e); !slices.Equal(got, []string{"/c/.cursor/mcp.json"}) {
		t.Errorf("got %q", got)
	}
}

// A home may be called anything; only the pattern's own stars are stars.
func TestFilesGlob(t *testing.T) {
	for _, home := range []string{"/h/plain", "/h/[x]*?", "/h/a[b]"} {
		files := []string{home + "/profiles/one/mcp.json", home + "/profiles/two/mcp.json", "/h/other/profiles/one/mcp.json"}
		e := Env{OS: "linux", Getenv: vars{}.get, Home: home, Glob: func(pattern string) (hits []string) {
			for _, file := range files {
				ok, err := filepath.Match(pattern, file)
				if err != nil {
					t.Errorf("pattern %q: %v", pattern, err)
				}
				if ok {
					hits = append(hits, file)
				}
			}
			return hits
		}}
		row := Row{Paths: Paths{All: []string{"~/profiles/*/mcp.json"}}}
		if got := row.FindFiles(e); !slices.Equal(got, files[:2]) {
			t.Errorf("home %q: got %q", home, got)
		}
		if got := places(row, e); !slices.Equal(got, []string{home + "/profiles/*/mcp.json"}) {
			t.Errorf("home %q: got %q", home, got)
		}
	}
}

func TestUncoverableFound(t *testing.T) {
	all, err := LoadUncoverables()
	if err != nil {
		t.Fatal(err)
	}
	e := mac
	e.Exists = func(path string) bool { return strings.HasPrefix(path, "/Users/al/.claude/") }
	e.Glob = func(pattern string) []string {
		if strings.Contains(pattern, "Claude Extensions") {
			return []string{"/Users/al/Library/Application Support/Claude/Claude Extensions/a/manifest.json"}
		}
		return nil
	}
	var got []string
	for _, u := range all {
		if len(u.FindPaths(e)) > 0 {
			got = append(got, u.ID)
		}
	}
	if want := []string{"claude-code-plugins", "claude-desktop-extensions"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Patterns come from users too: whatever they write is refused or resolves to
// absolute paths, and nothing panics.
func FuzzPattern(f *testing.F) {
	for _, row := range catalogue(f) {
		for _, path := range row.Paths.allPaths() {
			f.Add(path, "/x")
		}
	}
	f.Add("${A:-${B:-~/c}/d}/e", `C:\x`)
	f.Add("${A", "")
	f.Add("c:/x", `\\a\b`)
	f.Fuzz(func(t *testing.T, pattern, value string) {
		if checkPattern(pattern) != nil {
			return
		}
		for _, e := range []Env{linux, mac, pc} {
			e.Getenv = func(string) string { return value }
			for _, c := range e.candidatePaths(Paths{All: []string{pattern}}, true) {
				if !e.isAbsolute(c.path) {
					t.Errorf("%q on %s is %q", pattern, e.OS, c.path)
				}
			}
		}
	})
}
