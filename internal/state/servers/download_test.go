package servers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/servers"
)

func TestParseDownload(t *testing.T) {
	for _, tc := range []struct {
		command string // its words, by blanks
		want    string // launcher, package, version, program and arguments; "" for what is not understood
	}{
		{"npx -y @a/b@1.2.3 /x --y", "npx|@a/b|1.2.3||/x --y"},
		{"npx b", "npx|b|||"},
		{"/usr/bin/npx --yes b@latest", "npx|b|latest||"},
		{"npx -p b@^1 prog arg", "npx|b|^1|prog|arg"},
		{"npx --package=b prog", "npx|b||prog|"},
		{"npx -- b@1.0.0", "npx|b|1.0.0||"},
		{"npm exec -- b c", "npx|b|||c"},
		{"npm x b", "npx|b|||"},
		{"npm exec -y b c d", "npx|b|||c d"},
		{"npm exec -- b --x y", "npx|b|||--x y"},
		{"npm exec b -- --x y", "npx|b|||--x y"},
		{"npm exec b --", "npx|b|||"},
		{"npm exec -p b prog -- -c x", "npx|b||prog|-c x"},
		{"uvx b@1.0 x", "uvx|b|1.0|b|x"},
		{"uvx --from b==1.0 prog", "uvx|b|1.0|prog|"},
		{"pipx run b", "pipx|b||b|"},
		{"pipx run --spec b==2 prog", "pipx|b|2|prog|"},
		{"docker run -i --rm a/b:1 x", "docker|a/b|||"},
		// What changes the source, runs other code, or names no package of the registry.
		{"npx", ""},
		{"npx --registry=https://evil.example b", ""},
		{"npx -c b", ""},
		{"npx --node-options=--import=x b", ""},
		{"npx -p a -p b prog", ""},
		{"npx -p b", ""},
		{"npx ./b", ""},
		{"npx ../b", ""},
		{"npx /b", ""},
		{"npx github:a/b", ""},
		{"npx https://x.example/b.tgz", ""},
		{"npx b@npm:c", ""},
		{"npx b@file:../c", ""},
		{"npx b@git+ssh://x/y", ""},
		{"npx b@$(id)", ""},
		{"npx b@;id", ""},
		{"npx @a/../b", ""},
		{"npx @a/.b", ""},
		{"npx .b", ""},
		{"npx B", ""},
		{"npx -p b ../prog", ""},
		{"npx -p b --prog", ""},
		{"npx -p b /bin/sh", ""},
		{"npm install b", ""},
		{"npm exec b --registry=https://evil.example", ""},
		{"npm exec b -c id", ""},
		{"npm x b c --package=evil", ""},
		{"npm exec b c -- x", ""},
		{"npm exec b c --call=id -- x", ""},
		{"npm exec b --call=id -- x", ""},
		{"npm exec -p b prog -c id", ""},
		{"npm exec -- b -- x", ""},
		{"npm exec b -- x --", ""},
		{"npm exec b -", ""},
		{"uvx --index-url https://evil.example b", ""},
		{"uvx --with x b", ""},
		{"uvx git+https://github.com/a/b", ""},
		{"uvx --from b ../prog", ""},
		{"pipx install b", ""},
		{"node x.js", ""},
		{"sh -c npx", ""},
	} {
		d, ok := servers.ParseDownload(strings.Fields(tc.command))
		got := strings.Join([]string{d.Launcher, d.Package, d.Version, d.Program, strings.Join(d.Args, " ")}, "|")
		if !ok {
			got = ""
		}
		if got != tc.want {
			t.Errorf("%s: %q, not %q", tc.command, got, tc.want)
		}
	}
	for _, command := range [][]string{nil, {"npx", "b@1 --ignore-scripts=false"}, {"npx", "b@1 || 2"}, {"npx", "b@\n1"}, {"npx", "b\x00"}, {"npx", ""}, {"npx", "-p", "", "x"}} {
		if d, ok := servers.ParseDownload(command); ok {
			t.Errorf("%q: %+v", command, d)
		}
	}
}

// The command for npx is run by the scripts of clawai sandbox. The others were not tried: they are
// printed for the owner to read.
func TestInstallCommand(t *testing.T) {
	for _, tc := range []struct{ command, version, want, program string }{
		{"npx -y @a/b x", "1.2.3", "npm install --prefix /f --cache /f/.cache --ignore-scripts --global=false --save-exact --no-audit --no-fund --no-update-notifier --package-lock=true --logs-max=0 --loglevel=error -- @a/b@1.2.3", "/f/node_modules/@a/b"},
		{"npx b", "", "npm install --prefix /f --cache /f/.cache --ignore-scripts --global=false --save-exact --no-audit --no-fund --no-update-notifier --package-lock=true --logs-max=0 --loglevel=error -- b@latest", "/f/node_modules/b"},
		{"uvx --from b prog", "1.0", "env UV_TOOL_DIR=/f UV_TOOL_BIN_DIR=/f/bin uv tool install --no-build -- b==1.0", "/f/bin/prog"},
		{"uvx b", "", "env UV_TOOL_DIR=/f UV_TOOL_BIN_DIR=/f/bin uv tool install --no-build -- b", "/f/bin/b"},
		{"pipx run b", "1.0", "env PIPX_HOME=/f PIPX_BIN_DIR=/f/bin pipx install --pip-args=--only-binary=:all: -- b==1.0", "/f/bin/b"},
		{"docker run a/b", "", "", ""},
	} {
		d, ok := servers.ParseDownload(strings.Fields(tc.command))
		if !ok {
			t.Fatal(tc.command)
		}
		command, program := d.InstallCommand("/f", tc.version)
		if got := strings.Join(command, " "); got != tc.want || program != tc.program {
			t.Errorf("%s:\n%s\n%s", tc.command, got, program)
		}
	}
}

func TestPinVersion(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @a/b x":        "npx -y @a/b@9.9.9 x",
		"npx b@latest b":       "npx b@9.9.9 b",
		"npx -p b@^1 prog":     "npx -p b@9.9.9 prog",
		"npx --package=b prog": "npx --package=b@9.9.9 prog",
		"uvx b":                "uvx b",
		"node x.js":            "node x.js",
	} {
		if got := strings.Join(servers.PinVersion(strings.Fields(command), "9.9.9"), " "); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

func TestFindProgram(t *testing.T) {
	for _, tc := range []struct {
		bin        servers.Bin
		named      string
		want       string
		understood bool
	}{
		{servers.Bin{"x": "a.js"}, "", "a.js", true},
		{servers.Bin{"x": "a.js", "y": "a.js"}, "", "a.js", true},
		{servers.Bin{"b": "b.js", "y": "a.js"}, "", "b.js", true},
		{servers.Bin{"x": "b.js", "y": "a.js"}, "", "", false},
		{servers.Bin{"x": "b.js", "y": "a.js"}, "y", "a.js", true},
		{servers.Bin{"x": "b.js"}, "y", "", false},
	} {
		if got, ok := tc.bin.FindProgram("@a/b", tc.named); got != tc.want || ok != tc.understood {
			t.Errorf("%v, %q: %q %v", tc.bin, tc.named, got, ok)
		}
	}
}

func TestExactVersions(t *testing.T) {
	for text, want := range map[string]bool{
		"1.2.3": true, "2026.8.31": true, "1.0.0-rc.1+x": true, "1.2": false, "": false, "latest": false, "^1.0.0": false, "1.0.0 ": false,
		"1.0.0;id": false, "1.0.0-$(id)": false, "1.0.0/../..": false, "--1.0.0": false, "1.0.0\n": false,
	} {
		if servers.IsExactVersion(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Whatever stands in a client's file, no word of it becomes an option, a path or another source for npm.
func FuzzParseDownload(f *testing.F) {
	for _, line := range []string{"npx\n-y\n@a/b@1.2.3\nx", "npx\n-p\nb@^1\nprog", "uvx\n--from\nb==1\nprog", "npm\nexec\n--\nb@--global", "pipx\nrun\nb", "docker\nrun\na/b"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\n")
		d, ok := servers.ParseDownload(words)
		if !ok {
			return
		}
		command, program := d.InstallCommand("/f", d.Version)
		if d.Launcher != "docker" {
			dashes := slices.Index(command, "--")
			if dashes != len(command)-2 || strings.HasPrefix(command[dashes+1], "-") || !strings.HasPrefix(command[dashes+1], d.Package) {
				t.Errorf("%q", command)
			}
			if strings.Contains(program, "..") && strings.Contains(program, "/../") || !strings.HasPrefix(program, "/f/") {
				t.Errorf("%q", program)
			}
			if strings.ContainsAny(command[dashes+1], " \t\n;&|$`'\"\\:()") {
				t.Errorf("%q", command[dashes+1])
			}
		}
		if len(d.Args) > len(words) {
			t.Errorf("%q of %q", d.Args, words)
		}
		pinned := servers.PinVersion(words, "9.9.9")
		if again, ok := servers.ParseDownload(pinned); !ok || again.Package != d.Package || d.Launcher == "npx" && again.Version != "9.9.9" {
			t.Errorf("%q becomes %q", words, pinned)
		}
	})
}
