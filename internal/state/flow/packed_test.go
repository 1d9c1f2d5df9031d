package flow

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// composed are the servers that put a word before what their package calls a tool.
var composed = map[string]string{"notion": "API-"}

// The tools of each row stand in the npm package of the version that it names, or in what that one
// needs, and so do the arguments that decide. It needs a network, and no script of a package is run.
func TestPacked(t *testing.T) {
	if os.Getenv("CLAWAI_PACKED") == "" {
		t.Skip("CLAWAI_PACKED=1 fetches some seventy packages from the registry")
	}
	rows, of := rowsOf(t)
	for i, r := range rows {
		if r.Version == "docs" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			words := map[string]bool{}
			for _, one := range r.joinTools(of[i]).ListTools() {
				words[strings.TrimPrefix(one.Name, composed[r.ID])] = true
				for _, arg := range one.Decides {
					words[arg] = true
				}
			}
			if len(words) == 0 {
				t.Error("it has no tools")
			}
			dir, spec := t.TempDir(), of[i].NPM[0]+"@"+r.Version
			npm(t, dir, "pack", spec)
			archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
			if err != nil || len(archives) != 1 {
				t.Fatal(archives, err)
			}
			if out, err := exec.Command("tar", "-xzf", archives[0], "-C", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if strike(t, dir, words); len(words) > 0 {
				npm(t, dir, "install", "--prefix", dir, "--no-audit", "--no-fund", spec)
				strike(t, dir, words)
			}
			for word := range words {
				t.Errorf("there is no %s in %s", word, spec)
			}
		})
	}
}

func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("npm", append(args, "--ignore-scripts")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm %v: %v\n%s", args, err, out)
	}
}

// strike takes those words out that stand in a script or a list below a folder.
func strike(t *testing.T, dir string, words map[string]bool) {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(".js .mjs .cjs .json", filepath.Ext(path)) {
			return err
		}
		src, err := os.ReadFile(path)
		all.Write(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for word := range words {
		if regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(word) + `($|[^A-Za-z0-9_])`).Match(all.Bytes()) {
			delete(words, word)
		}
	}
}
