package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// listedFiles are the files that docs/files.md lists for one folder, by their pattern.
type listedFiles struct {
	mu   sync.Mutex
	seen map[string]bool // whether a script has left a file of the pattern
}

// readListedFiles reads the tables of a section of docs/files.md.
func readListedFiles(section string) (*listedFiles, error) {
	page, err := os.ReadFile(filepath.Join(top, "docs", "files.md"))
	if err != nil {
		return nil, err
	}
	_, text, found := strings.Cut(string(page), "\n## "+section)
	if !found {
		return nil, fmt.Errorf("docs/files.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	l := &listedFiles{seen: map[string]bool{}}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, " | "); len(cells) == 5 && strings.Contains(cells[0], "`") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
				l.seen[m[1]] = false
			}
		}
	}
	if len(l.seen) == 0 {
		return nil, fmt.Errorf("docs/files.md lists nothing in %q", section)
	}
	return l, nil
}

// checkFolder returns an error for each file that is not listed.
func (l *listedFiles) checkFolder(folder string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var unlisted []error
	err := filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
			return err
		}
		name, err := filepath.Rel(folder, at)
		if err != nil {
			return err
		}
		name, known := filepath.ToSlash(name), false
		for pattern := range l.seen {
			if is, _ := path.Match(pattern, name); is {
				l.seen[pattern], known = true, true
			}
		}
		if !known {
			unlisted = append(unlisted, fmt.Errorf("docs/files.md does not list %s", name))
		}
		return nil
	})
	return errors.Join(append(unlisted, err)...)
}

// checkWrittenFiles holds the state folders below dir to docs/files.md. A script may have several
// homes.
func (l *listedFiles) checkWrittenFiles(dir string) error {
	var all []error
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.HasSuffix(filepath.ToSlash(at), "/state/clawai") {
			all = append(all, l.checkFolder(at))
			return fs.SkipDir
		}
		return err
	})
	return errors.Join(append(all, err)...)
}

// unscripted are the listed files that no script leaves behind: it takes back what made them, or
// they need a terminal, a browser or a keychain.
var unscripted = []string{
	"listen.secret", "listen.token", "wrapped-hub.json", "wrapped-upstreams.json", "wrapped-upstreams.json.lock", "wrapped-doors.json",
	"oauth/*.json", "oauth/*.lock", "oauth.lock", "vault/keychain.json", "terminal.lock",
	"queue/queue.db-wal", "queue/queue.db-shm", "queue/proxies/*", "queue/attending/*", "releases/*.json",
	"servers/*.json", "servers/*/new-*/*",
	"enrolment/enrolment.json", "enrolment/active.bundle", "enrolment/rules/*.toml", "enrolment/progress.json", "enrolment/shipped.json", "enrolment/checkpoint.note", "enrolment/wanted", "enrolment/*.lock",
}

// TestScripts runs all scripts. What they leave in the state folder must be what docs/files.md
// lists, all of it.
func TestScripts(t *testing.T) {
	listed, err := readListedFiles("The state folder")
	if err != nil {
		t.Fatal(err)
	}
	p := scriptsIn("testdata/script")
	setup := p.Setup
	all, err := filepath.Glob(p.Dir + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	left := len(all)
	p.Setup = func(env *testscript.Env) error {
		env.Defer(func() {
			if err := listed.checkWrittenFiles(env.WorkDir); err != nil {
				t.Errorf("%s: %v", env.WorkDir, err)
			}
			listed.mu.Lock()
			left--
			listed.mu.Unlock()
		})
		return setup(env)
	}
	t.Cleanup(func() { // after the scripts, which run in parallel
		if left > 0 || testing.Short() || runtime.GOOS != "linux" {
			return
		}
		for pattern, seen := range listed.seen {
			if !seen && !slices.Contains(unscripted, pattern) {
				t.Errorf("docs/files.md lists %s, which no script leaves", pattern)
			}
		}
	})
	testscript.Run(t, p)
}
