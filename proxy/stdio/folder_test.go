package stdio_test

import (
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/stdio"
)

// A server that is started elsewhere reads relative paths elsewhere: then no folder is
// known, and no relative path is allowed by an absolute glob.
func TestMovesAway(t *testing.T) {
	for command, want := range map[string]bool{
		"npx -y @modelcontextprotocol/server-filesystem /home/u/projects": false,
		"node dist/index.js":                      false,
		"python -m mcp_server_git --repository .": false,
		"uvx mcp-server-git":                      false,
		"sh -c|npx -y server":                     false,
		"uv --directory /srv run server.py":       true,
		"uv run --directory=/srv server.py":       true,
		"pnpm -C /srv start":                      true,
		"make -C/srv serve":                       true,
		"docker run -i --rm mcp/filesystem /data": true,
		"/usr/bin/podman run x":                   true,
		`C:\\bin\\docker.exe run x`:               true,
		"env -C /srv server":                      true,
		"env A=1 docker run x":                    true,
		"timeout 60 nice docker run x":            true,
		"op run -- podman run x":                  true,
		"ssh host server":                         true,
		"sh -c|cd /srv && node server.js":         true,
		"/bin/bash -lc|(cd /srv; ./server)":       true,
		"bash -c|docker run x":                    true,
		"cmd /c|cd C:\\srv && node x":             true,
	} {
		words := strings.Fields(strings.ReplaceAll(command, "|", " | "))
		if before, text, found := strings.Cut(command, "|"); found {
			words = append(strings.Fields(before), text)
		}
		if got := stdio.MovesAway(words); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}

// A server that is given a folder may start relative paths there.
func TestNamesFolder(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"data", "x=y"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("index.js", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for words, want := range map[string]bool{
		"npx -y server-filesystem":                 false,
		"npx -y server-filesystem .":               false,
		"npx -y server-filesystem " + here:         false,
		"npx -y server-filesystem " + here + "/":   false,
		"node index.js missing":                    false,
		"npx -y server-filesystem " + other:        true,
		"npx -y server-filesystem . data":          true,
		"npx -y server-filesystem ..":              true,
		"npx -y server-filesystem ~/projects":      true,
		"uvx mcp-server-git --repository=" + other: true,
		"uvx mcp-server-git --repository=.":        false,
		"node x=y":                                 true,
		"":                                         false,
		other:                                      false, // the program itself
	} {
		if got := stdio.NamesFolder(strings.Fields(words)); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

// What runs in a container, on another machine or in another system sees no paths of ours.
func TestRunsElsewhere(t *testing.T) {
	for command, want := range map[string]bool{
		`npx -y server C:\Users\me`: false, "node dist/index.js": false, "cmd /c npx -y server": false, "uv --directory C:/x run y": false,
		`C:\Windows\System32\wsl.exe node x`: true, "docker run x": true, "bash -c x": true, `C:\Windows\System32\bash.exe -c x`: true, "cmd|/c ssh host x": true,
	} {
		words := strings.Fields(command)
		if before, text, found := strings.Cut(command, "|"); found {
			words = []string{before, text}
		}
		if got := stdio.RunsElsewhere(words); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
