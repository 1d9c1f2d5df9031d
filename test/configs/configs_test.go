// Package configs plays clients' files of others, which are not ours to keep, through each
// way in which clawai edits such a file, and back.
package configs

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

// filesAt names a folder with a folder for each repository, whose files lie in it as they do there.
const filesAt = "CLAWAI_TEST_CONFIGS"

// ways are what edits a client's file, and what takes it back.
var ways = []struct {
	name     string
	there    []string
	back     []string
	settings bool // the file has hooks; else it has servers
}{
	{"wrap", []string{"wrap", "--all", "--yes"}, []string{"unwrap", "--all", "--yes"}, false},
	{"hub", []string{"wrap", "--hub", "CLIENT", "--yes"}, []string{"unwrap", "hub", "--client", "CLIENT", "--yes"}, false},
	{"vault", []string{"wrap", "--all", "--vault", "--yes"}, []string{"unwrap", "--all", "--yes"}, false},
	{"hooks", []string{"wrap", "--hooks", "CLIENT", "--yes"}, []string{"unwrap", "--hooks", "CLIENT", "--yes"}, true},
	{"init", []string{"init", "--yes", "--hooks", "--client", "all"}, []string{"unwrap", "--all", "--yes"}, false},
}

// place is where a client looks for a file, in a home whose folder project is worked in.
type place struct {
	client string
	file   string
	hooks  bool
}

// TestFilesOfOthers: each way gives a file back byte for byte, or says why it leaves it alone.
func TestFilesOfOthers(t *testing.T) {
	dir := os.Getenv(filesAt)
	if dir == "" {
		t.Skip(filesAt + " names no folder of clients' files")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../cmd/clawai", "../../cmd/clawai-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	places := places(t)
	var files []string
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s := &sums{counts: map[string]int{}, repositories: map[string]bool{}}
	t.Run("files", func(t *testing.T) {
		for _, name := range files {
			at := find(places, name)
			if len(at) == 0 {
				s.note(name, "no client that clawai knows reads a file of this name")
				continue
			}
			repository, _, _ := strings.Cut(name, "/")
			s.repositories[repository] = true
			s.files++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				play(t, s, bin, name, at, text)
			})
		}
	})
	t.Log(s.report())
}

// play takes a file each way and back.
func play(t *testing.T, s *sums, bin, name string, at []place, text []byte) {
	for _, way := range ways {
		i := slices.IndexFunc(at, func(p place) bool { return p.hooks == way.settings })
		if i < 0 {
			if way.name != "init" {
				continue
			}
			i = 0
		}
		h := newHome(t, bin, at[i], text)
		before := h.files()
		told, ended := h.run(way.there...)
		between := h.files()
		if way.name == "hub" || way.name == "init" || ended == nil || between != before {
			back, err := h.run(way.back...)
			if after := h.files(); after != before {
				s.count(way.name, "changed")
				t.Errorf("%s: %v, %v; the files were\n%s\nand are\n%s\n%s\n%s", way.name, ended, err, before, after, told, back)
				continue
			}
		}
		switch {
		case between != before:
			s.count(way.name, "exact")
		case ended != nil || strings.Contains(told, at[i].file):
			s.count(way.name, "refused")
			s.note(name, way.name+": "+reason(told, h.dir))
		default:
			s.count(way.name, "nothing to edit")
		}
	}
}

// home is one person's, with one client's file.
type home struct {
	t   *testing.T
	dir string
	bin string
	at  place
}

func newHome(t *testing.T, bin string, at place, text []byte) home {
	t.Helper()
	h := home{t: t, dir: t.TempDir(), bin: bin, at: at}
	for name, text := range map[string][]byte{
		".config/clawai/policy.toml": []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n"),
		"project/.keep":              nil, "tmp/.keep": nil,
		at.file: text,
	} {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := h.run("vault", "set", "--store", "file", "other"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func (h home) run(words ...string) (string, error) {
	words = slices.Clone(words)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "CLIENT", h.at.client)
	}
	cmd := exec.CommandContext(h.t.Context(), filepath.Join(h.bin, "clawai"), words...)
	cmd.Dir = filepath.Join(h.dir, "project")
	cmd.Env = []string{"HOME=" + h.dir, "PATH=" + h.bin + ":" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(h.dir, "tmp"), "CLAWAI_KEYCHAIN=off", "NO_COLOR=1"}
	cmd.Stdin = strings.NewReader("value")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files are all that is in the home but clawai's own, with mode and content.
func (h home) files() string {
	var all strings.Builder
	err := filepath.WalkDir(h.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, _ := filepath.Rel(h.dir, name)
		if base := filepath.ToSlash(rest); base == ".config/clawai" || base == ".local" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte(nil)
		if d.Type().IsRegular() {
			if text, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		fmt.Fprintf(&all, "%s %s %d %x\n", info.Mode(), rest, len(text), sha256.Sum256(text))
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
	return all.String()
}

// places are those of the catalogue on Linux.
func places(t *testing.T) (all []place) {
	t.Helper()
	rows, err := client.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := client.HookRows()
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string, p client.Paths, hooks bool) {
		for _, pattern := range slices.Concat(p.All, p.Linux) {
			if file := below(pattern); file != "" {
				all = append(all, place{id, file, hooks})
			}
		}
	}
	for _, r := range rows {
		if !r.ReadOnly {
			add(r.Client, r.Paths, false)
		}
	}
	for _, r := range hooks {
		add(r.Client, r.Paths, true)
	}
	return all
}

var preset = regexp.MustCompile(`\$\{[A-Z_]+:-([^{}]*)\}`)

// below is a pattern's file, from the home; "" where it lies elsewhere.
func below(pattern string) string {
	for preset.MatchString(pattern) {
		pattern = preset.ReplaceAllString(pattern, "$1")
	}
	pattern = strings.NewReplacer("{config}", "~/.config", "{xdg}", "~/.config", "*", "one").Replace(pattern)
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		return "project/" + strings.TrimPrefix(rest, "one.") // a name that may be any
	}
	rest, ok := strings.CutPrefix(pattern, "~/")
	if !ok || strings.Contains(rest, "<") {
		return ""
	}
	return rest
}

// find has the places of a client that a file was made for, by its folder and name; by its name
// alone where no other client's file has that.
func find(places []place, name string) (at []place) {
	same := func(parts int) (found []place) {
		for _, p := range places {
			if tail(p.file, parts) == tail(name, parts) && !slices.ContainsFunc(found, func(f place) bool { return f.hooks == p.hooks }) {
				found = append(found, p)
			}
		}
		return found
	}
	if at = same(2); len(at) > 0 {
		return at
	}
	if slices.Contains([]string{"config.json", "config.toml", "config.yaml", "settings.json", "hooks.json", "plugin.json"}, path.Base(name)) {
		return nil
	}
	return same(1)
}

// tail is the end of a path, without the dots of hidden files and the endings of examples.
func tail(name string, parts int) string {
	words := strings.Split(strings.ToLower(name), "/")
	words = words[max(0, len(words)-parts):]
	for i, word := range words {
		words[i] = strings.NewReplacer(".example", "", "-windows", "", ".template", "").Replace(strings.TrimLeft(word, "."))
	}
	return strings.Join(words, "/")
}

// sums are what came of all files.
type sums struct {
	sync.Mutex
	files        int
	repositories map[string]bool
	counts       map[string]int
	notes        []string
}

func (s *sums) count(way, what string) {
	s.Lock()
	defer s.Unlock()
	s.counts[way+" "+what]++
}

func (s *sums) note(name, why string) {
	s.Lock()
	defer s.Unlock()
	s.notes = append(s.notes, name+": "+why)
}

func (s *sums) report() string {
	var b strings.Builder
	slices.Sort(s.notes)
	for _, note := range s.notes {
		b.WriteString(note + "\n")
	}
	fmt.Fprintf(&b, "\n%d files of %d repositories\n", s.files, len(s.repositories))
	for _, key := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(&b, "%6d  %s\n", s.counts[key], key)
	}
	return b.String()
}

// reason is why a file was left alone, on one line.
func reason(told, home string) string {
	lines := slices.DeleteFunc(strings.Split(strings.ReplaceAll(told, home, "~"), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	return cmp.Or(strings.Join(lines[:min(3, len(lines))], " | "), "nothing was said")
}
