package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/testing/slow"
)

// TestAProxyStartsWithoutOtherCommandsLuggage: what is linked is initialised before main,
// at every start of every proxy (bench/README.md).
func TestAProxyStartsWithoutOtherCommandsLuggage(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		of     string
		banned []string
	}{
		// As a release is built.
		{".", []string{"encoding/gob", "github.com/google/jsonschema-go/", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/russross/blackfriday/", "html/template", "testing"}},
		{"./internal/proxycmd", []string{"github.com/clawai/clawai/internal/check", "github.com/clawai/clawai/policy/prove", "github.com/clawai/clawai/cmd/clawai/internal/demo",
			"github.com/clawai/clawai/internal/ask/choose", "github.com/clawai/clawai/internal/ask/console", "github.com/clawai/clawai/internal/ask/web", "github.com/clawai/clawai/internal/state/export"}},
	} {
		out, err := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs", c.of).Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := strings.Fields(string(out))
		if len(linked) < 100 {
			t.Fatalf("%s links %d packages only", c.of, len(linked))
		}
		for _, pkg := range linked {
			for _, b := range c.banned {
				if pkg == b || strings.HasPrefix(pkg, strings.TrimSuffix(b, "/")+"/") {
					t.Errorf("%s links %s", c.of, pkg)
				}
			}
		}
	}
}

// TestCommandsThatClientsWaitFor: for these, the table of all commands is not made; they are the same as in it.
func TestCommandsThatClientsWaitFor(t *testing.T) {
	whole := map[string]*cli.Command{}
	for _, c := range listCommands() {
		whole[c.Name] = c
	}
	for _, name := range []string{"proxy", "hub", "hook"} {
		alone := commandsFor([]string{"clawai", name})
		if len(alone) != 1 || alone[0].Name != name || alone[0].UsageText != whole[name].UsageText || len(alone[0].Flags) != len(whole[name].Flags) {
			t.Errorf("%s: %d commands", name, len(alone))
		}
	}
	for _, args := range [][]string{nil, {"clawai"}, {"clawai", "help", "proxy"}, {"clawai", "--color", "never", "proxy"}, {"clawai", "prox"}} {
		if all := commandsFor(args); len(all) != len(whole) {
			t.Errorf("%q: %d commands of %d", args, len(all), len(whole))
		}
	}
}

// heavy are the packages whose initialisation makes more than most, and how much it may:
// what is bought with it stands in bench/README.md.
var heavy = map[string]struct{ allocs, bytes int }{
	"github.com/dustin/go-humanize":           {150, most.bytes},
	"mvdan.cc/sh/v3/fileutil":                 {130, most.bytes},
	"github.com/clawai/clawai/policy/reading": {most.allocs, 45_000},
	"github.com/charmbracelet/ultraviolet":    {most.allocs, 35_000},
	"encoding/xml":                            {most.allocs, 25_000},
}

var most = struct{ allocs, bytes int }{100, 17_000}

// initTrace is a line of GODEBUG=inittrace=1.
var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, (\d+) allocs$`)

// TestInitialisationIsLight: no package makes at each start what only some command needs; it
// makes it at the first use (sync.OnceValue). Nothing is timed.
func TestInitialisationIsLight(t *testing.T) {
	slow.Test(t)
	program := filepath.Join(t.TempDir(), "clawai.exe")
	if out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	found := initTrace.FindAllStringSubmatch(string(out), -1)
	if err != nil || len(found) < 100 {
		t.Fatalf("%d packages, %v\n%s", len(found), err, out)
	}
	seen := map[string]bool{}
	for _, f := range found {
		limit, known := heavy[f[1]]
		if !known {
			limit = most
		}
		seen[f[1]] = true
		bytes, _ := strconv.Atoi(f[2])
		allocs, _ := strconv.Atoi(f[3])
		if bytes > limit.bytes || allocs > limit.allocs {
			t.Errorf("%s makes %d allocations of %d bytes before main, at most %d of %d", f[1], allocs, bytes, limit.allocs, limit.bytes)
		}
	}
	for name := range heavy {
		if !seen[name] {
			t.Errorf("%s is not initialised; delete its row", name)
		}
	}
}
