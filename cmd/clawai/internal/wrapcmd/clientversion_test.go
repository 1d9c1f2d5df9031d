package wrapcmd

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// A client's version is read where its installer left it, and compared with the one that was tried.
func TestClientsThatAreNewer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are links")
	}
	qwen := wrap.Hooks{Row: client.HookRow{Client: "qwen", Word: "qwen-code", Name: "Qwen Code", Probe: []string{"qwen", "--version"}}}
	tried := TriedVersion(qwen)
	for _, tt := range []struct {
		name, program, described string
		version                  string
		newer                    bool
	}{
		{"npm", "lib/node_modules/@qwen-code/qwen-code/cli-entry.js", `{"name":"@qwen-code/qwen-code","version":"99.1.2"}`, "99.1.2", true},
		{"npm, as tried", "lib/node_modules/@qwen-code/qwen-code/cli-entry.js", `{"version":"` + tried + `"}`, tried, false},
		{"npm, older", "lib/node_modules/@qwen-code/qwen-code/dist/cli.js", `{"version":"0.0.9"}`, "0.0.9", false},
		{"a program by its version", "lib/node_modules/x/versions/99.0.1", "", "99.0.1", true},
		{"no words about it", "lib/node_modules/x/qwen", "", "", false},
		{"damaged", "lib/node_modules/@qwen-code/qwen-code/cli-entry.js", `{"version":`, "", false},
	} {
		top := t.TempDir()
		program := filepath.Join(top, filepath.FromSlash(tt.program))
		err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755), os.Symlink(program, filepath.Join(top, "qwen")))
		if tt.described != "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(top, "lib/node_modules/@qwen-code/qwen-code/package.json"), []byte(tt.described), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", top)
		got := InstalledVersion(qwen)
		says := NewerClient(qwen, got)
		if got != tt.version || (says != "") != tt.newer || tt.newer && !strings.HasPrefix(says, "Qwen Code "+tt.version+" is newer than "+tried+", with which clawai was tried") {
			t.Errorf("%s: %q, %q", tt.name, got, says)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got := InstalledVersion(qwen); got != "" {
		t.Errorf("of no program: %q", got)
	}
}
