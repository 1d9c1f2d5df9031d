package wrap

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

func TestTheProgramIsNamedByALastingPath(t *testing.T) {
	for _, c := range []struct {
		name, exe, arg0 string
		path            []string
		links           []string // further paths of the same file
		want, refused   string
	}{
		{name: "plain", exe: "/usr/local/bin/clawai", arg0: "clawai", path: []string{"/usr/local/bin"}, want: "/usr/local/bin/clawai"},
		{name: "no PATH", exe: "/opt/clawai", arg0: "/opt/clawai", want: "/opt/clawai"},
		{name: "brew by name", exe: "/opt/homebrew/Cellar/clawai/1.2/bin/clawai", arg0: "clawai",
			path: []string{"/usr/bin", "/opt/homebrew/bin"}, links: []string{"/opt/homebrew/bin/clawai"}, want: "/opt/homebrew/bin/clawai"},
		{name: "brew by link", exe: "/home/linuxbrew/.linuxbrew/Cellar/clawai/1.2/bin/clawai", arg0: "/home/linuxbrew/.linuxbrew/bin/clawai",
			links: []string{"/home/linuxbrew/.linuxbrew/bin/clawai"}, want: "/home/linuxbrew/.linuxbrew/bin/clawai"},
		{name: "nix profile", exe: "/nix/store/abc-clawai-1.2/bin/clawai", arg0: "clawai",
			path: []string{"/home/u/.nix-profile/bin"}, links: []string{"/home/u/.nix-profile/bin/clawai"}, want: "/home/u/.nix-profile/bin/clawai"},
		{name: "nix run", exe: "/nix/store/abc-clawai-1.2/bin/clawai", arg0: "/nix/store/abc-clawai-1.2/bin/clawai", refused: "next upgrade"},
		{name: "mise", exe: "/home/u/.local/share/mise/installs/clawai/1.2/clawai", arg0: "clawai",
			path: []string{"/home/u/.local/share/mise/installs/clawai/1.2"}, refused: "next upgrade"},
		{name: "another clawai comes first on PATH", exe: "/opt/clawai", arg0: "/opt/clawai", path: []string{"/usr/bin"}, want: "/opt/clawai"},
		{name: "a relative PATH entry", exe: "/opt/clawai", arg0: "clawai", path: []string{"."}, links: []string{"clawai"}, want: "/opt/clawai"},
		{name: "go run", exe: "/tmp/go-build12/b001/exe/clawai", arg0: "/tmp/go-build12/b001/exe/clawai", refused: "temporary binary"},
		{name: "go run, cached", exe: "/home/u/.cache/go-build/ab/ab-d/clawai", arg0: "clawai", refused: "temporary binary"},
		{name: "below the temporary folder", exe: "/tmp/x/clawai", arg0: "clawai", refused: "temporary binary"},
		{name: "a link to a temporary binary", exe: "/tmp/x/clawai", arg0: "/opt/clawai", links: []string{"/opt/clawai"}, refused: "temporary binary"},
		{name: "beside the temporary folder", exe: "/tmpfiles/clawai", arg0: "clawai", want: "/tmpfiles/clawai"},
		{name: "another name", exe: "/opt/clawai-dev", arg0: "/opt/clawai-dev", refused: "must be called clawai"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := search{exe: c.exe, arg0: c.arg0, path: c.path, temp: []string{"/tmp"}, same: func(a, _ string) bool {
				return a == c.exe || strings.Contains(" "+strings.Join(c.links, " ")+" ", " "+a+" ")
			}}.findProgram()
			if p.Path != c.want || (p.Err != nil) != (c.refused != "") {
				t.Fatalf("got %q, %v", p.Path, p.Err)
			}
			if p.Err != nil && !strings.Contains(p.Err.Error(), c.refused) {
				t.Errorf("got %v", p.Err)
			}
		})
	}
}

// What a Windows machine's paths look like is matched wherever the test runs.
func TestVersionedFoldersOfWindows(t *testing.T) {
	for path, want := range map[string]bool{
		`C:/Users/u/scoop/apps/clawai/1.2.3/clawai.exe`:                        true,
		`C:/Users/u/scoop/apps/clawai/current/clawai.exe`:                      false,
		`C:/Users/u/AppData/Local/Microsoft/WinGet/Links/clawai.exe`:           false,
		`C:/Users/u/AppData/Local/npm-cache/_npx/ab/node_modules/x/clawai.exe`: true,
		`C:/Program Files/clawai/clawai.exe`:                                   false,
	} {
		if versioned().MatchString(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
		if !isClawai(path) {
			t.Errorf("%s is not recognised", path)
		}
	}
}

func TestAClientThatSplitsAtSpacesGetsNoPathWithOne(t *testing.T) {
	p := Program{Path: "/Users/a b/bin/clawai"}
	if _, err := p.StartCommand(&ConfigFile{Row: client.Row{Name: "Trae"}}); err == nil || !strings.Contains(err.Error(), "space") {
		t.Errorf("got %v", err)
	}
	if got, err := p.StartCommand(&ConfigFile{Row: client.Row{SpaceInCommandOK: true}}); got != p.Path || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := p.StartCommand(&ConfigFile{Tracked: true}); got != "clawai" || err != nil {
		t.Errorf("tracked: got %q, %v", got, err)
	}
}

// The files of another system are found and edited by its rules.
func TestMacOSPlaces(t *testing.T) {
	m := newMachine(t)
	e := m.env()
	e.OS = "darwin"
	path := m.write("Library/Application Support/Claude/claude_desktop_config.json", `{"mcpServers":{"s":{"command":"npx"}}}`)
	places := FindConfigFiles(e, m.rows)
	if len(places) != 1 || places[0].Row.ID != "claude-desktop" || places[0].Path != path || places[0].Real != path {
		t.Errorf("%+v", places)
	}
}

func TestWindowsPlaces(t *testing.T) {
	m := newMachine(t)
	file := m.write("stand-in.json", `{"mcpServers":{"s":{"command":"cmd","args":["/c","npx","x"]}}}`)
	e := m.env()
	e.OS, e.Home, e.Dir = "windows", `C:\Users\u`, ""
	looked := e.Home + `\AppData\Roaming\Claude\claude_desktop_config.json`
	e.Exists = func(path string) bool { return path == looked }
	i := slices.IndexFunc(m.rows, func(r client.Row) bool { return slices.Contains(r.FindFiles(e), looked) })
	if i < 0 {
		t.Fatal("Claude Desktop's file is not found")
	}
	p := ReadConfigFile(m.rows[i], file)
	changes, errs := Planner{Program: Program{Path: `C:\tools\clawai.exe`}}.PlanChanges(Wrap, []Target{{&p, p.Entries[0]}})
	want := `{"mcpServers":{"s":{"command":"C:\\tools\\clawai.exe","args":["proxy", "--server", "s", "--", "cmd", "/c","npx","x"]}}}`
	if len(errs) > 0 || string(changes[0].After) != want {
		t.Errorf("%v\n%s", errs, changes[0].After)
	}
}
