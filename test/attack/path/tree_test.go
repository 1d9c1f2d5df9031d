//go:build attack

package path_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canary stands in every file that no policy here opens, and in the name of a file
// beside it, for listings; keys in those below .ssh, and secret in what policies may
// deny among the projects.
const (
	canary = "canary"
	keys   = "canary of keys"
	secret = "denied"
)

// tree is a scratch disk: a home with projects, keys beside them, and a system
// around it.
type tree struct{ root string }

func (tr tree) home() string { return tr.root + "/home/u" }

// closed are the files that hold canaries, below the root. The names that differ
// from those of projects by little are what a careless comparison takes for them.
var closed = []string{
	"home/u/.ssh/id", "home/u/projects-x/a", "home/u/projectsx/a", "home/u/Projects/a", "home/u/projects.bak/a", "home/u/proj\u00e9cts/a", "home/u/a",
	"home/u/ projects/a", "home/u/projects /a", "home/a", "etc/shadow", "etc/projects/a", "projects/a", "home/projects/a", "a", "tmp/a",
}

// open are the files of the projects. Those named .env and below .ssh hold a canary
// of their own, for policies that deny them.
var open = []string{"a", "app/a", "app/etc", "app/home/u/a", "app/...", "app/x y/a", "app/%2e%2e/a", "app/\u00e9/a", `app/\..\a`, "app/file:/a", "app/~/a", "app/C:/a"}

var denied = []string{".env", "app/.env", "app/.ssh/id", "app/.ssh/deep/id"}

func newTree(t *testing.T, links bool) tree {
	t.Helper()
	root, err := os.MkdirTemp("", "clawai-attack-path")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	tr := tree{root}
	for _, name := range closed {
		text := canary
		if strings.Contains(name, ".ssh") {
			text = keys
		}
		tr.write(t, name, text, true)
	}
	for _, name := range open {
		tr.write(t, "home/u/projects/"+name, "open", true)
	}
	for _, name := range denied {
		tr.write(t, "home/u/projects/"+name, secret, strings.Contains(name, ".ssh"))
	}
	if links {
		for name, to := range map[string]string{
			"up": "..", "out": tr.root + "/etc", "key": "../.ssh/id", "app/chain": "../out", "app/self": ".", "app/in": "x y", "nothing": "../new", "app/abs": tr.home() + "/projects/app",
		} {
			if err := os.Symlink(to, tr.home()+"/projects/"+name); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			return os.Chmod(path, 0o755) // the server runs as nobody
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// write makes a file that holds a text, in a folder whose listing may show it too.
func (tr tree) write(t *testing.T, name, text string, listed bool) {
	t.Helper()
	path := tr.root + "/" + name
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	files := []string{path}
	if listed {
		files = append(files, filepath.Dir(path)+"/"+text+".mark")
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
