//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestReportsAreRead: a reader that we did not write makes of the report what we
// meant, also where a policy's text and a fixture's name try to break it.
func TestReportsAreRead(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("policy.toml", "[[rule]]\naction = \"deny\"\ntool = \"*\"\ndescription = \"]]> </failure> \\n  ...\\nok 9 \\u001b[2J\\u0000 # SKIP\"\n")
	call := func(expected string) string {
		return `{"method": "tools/call", "params": {"name": "x"}` + expected + `}`
	}
	put("fx/a.json", call(`, "expected": "deny"`))
	put("fx/b # TODO \\ <&>'\".json", call(`, "expected": "allow"`))
	put("fx/c.json", call(""))
	put("fx/d.json", "{")
	cmd := exec.Command(clawai, "policy", "test", "--policy", "policy.toml", "--fixture-dir", "fx", "--format", "junit", "--output", "report.xml")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
		t.Fatalf("%v, %s", err, out)
	}
	out, err := exec.Command("node", "reports.mjs", filepath.Join(dir, "report.xml"),
		"../../internal/check/testdata/jenkins-junit.xsd").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		XML struct {
			Valid  bool
			Errors []string
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !got.XML.Valid || len(got.XML.Errors) > 0 {
		t.Errorf("JUnit XML: %v", got.XML.Errors)
	}
}
