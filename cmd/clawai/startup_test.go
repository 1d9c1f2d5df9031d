package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAProxyStartsWithoutOtherCommandsLuggage: what is linked is initialised before main,
// at every start of every proxy (docs/benchmarks.md).
func TestAProxyStartsWithoutOtherCommandsLuggage(t *testing.T) {
	for _, c := range []struct {
		of     string
		banned []string
	}{
		// As a release is built.
		{".", []string{"encoding/gob", "github.com/google/jsonschema-go/", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/russross/blackfriday/",
			"charm.land/huh/", "charm.land/bubbles/", "github.com/atotto/clipboard", "html/template", "testing"}},
		{"./internal/proxycmd", []string{"github.com/clawai/clawai/policy/check", "github.com/clawai/clawai/policy/prove", "github.com/clawai/clawai/internal/demo",
			"github.com/clawai/clawai/internal/choose", "github.com/clawai/clawai/internal/approve/console", "github.com/clawai/clawai/internal/approve/web"}},
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
