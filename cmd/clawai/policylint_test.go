package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// TestLintReadsTheRecord: names are compared with those that servers declared,
// and denials tried under the argument names that tools were called with.
func TestLintReadsTheRecord(t *testing.T) {
	recorded(t,
		&event.Event{Kind: event.Listed, Server: "files", Method: "tools/list", Declared: []string{"read_file", "write_file"}},
		&event.Event{Kind: event.Listed, Server: "files", Method: "resources/list", Declared: []string{"raed_file"}},
		call("read_file", `{"path":"/a","Path":"/b"}`, "allow"),
		call("read_file", `{"fileName":"/a"}`, "allow"),
		call("read_file", `{"filename":"/a"}`, "deny"),
		call("read_file", `{"fileName":"/a"}`, "allow"),
	)
	file := filepath.Join(t.TempDir(), "policy.toml")
	src := "[[rule]]\naction = \"deny\"\ntool = \"raed_file\"\n" +
		"[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"**/.env\"\n" +
		"[[rule]]\naction = \"allow\"\ntool = \"read_file\"\n"
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := clawai(t, "policy", "lint", file); code != 0 || errs != "" {
		t.Errorf("without the record: exit %d\n%s%s", code, out, errs)
	}
	code, out, errs := clawai(t, "policy", "lint", "--record", file)
	if code != 1 || errs != "" {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, want := range []string{
		`no tool of "files" is called "raed_file" [unknown-tool]`,
		`write "read_file", if that is meant`,
		`this rule refuses a value in args.path that is allowed in args.fileName [other-argument-name]`,
		`tool read_file {"fileName":"/x/.env"}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
