package inspect

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// library are the files of a package of Go's.
func library(tb testing.TB, pkg string) []string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(pkg), "*.go"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no source of %s: %v", pkg, err)
	}
	return files
}

// real is text as servers send it: source code, about a MiB.
func real(b *testing.B) string {
	files := library(b, "net/http")
	var all strings.Builder
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(src)
	}
	return all.String()[:1<<20]
}

// BenchmarkText is one look at a MiB: of every kind, and of each alone.
func BenchmarkText(b *testing.B) {
	text := real(b)
	one := func(name string, wanted Kinds) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				SearchText(text, wanted)
			}
		})
	}
	one("all", Kinds{})
	for _, k := range KindWords() {
		one(k, kindsOf([]Kind{Kind(k)}))
	}
}

// BenchmarkAlarms is the share of files in which a kind is found, in the code and the
// documents of the modules that this one is built with: what people wrote for people.
// Where hidden text is found here, it is (docs/detection.md).
func BenchmarkAlarms(b *testing.B) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all").Output()
	if err != nil {
		b.Fatal(err)
	}
	for _, ext := range []string{".go", ".md"} {
		b.Run(ext, func(b *testing.B) {
			files, found := 0, map[Kind]int{}
			for b.Loop() {
				files = 0
				clear(found)
				for _, dir := range strings.Fields(string(out)) {
					_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
						if err != nil || d.IsDir() || filepath.Ext(path) != ext || files == 2000 {
							return nil
						}
						text, err := os.ReadFile(path)
						if err != nil {
							return err
						}
						files++
						seen := map[Kind]bool{}
						for _, f := range SearchText(string(text), Kinds{}) {
							if !seen[f.Kind] {
								found[f.Kind]++
							}
							seen[f.Kind] = true
						}
						return nil
					})
				}
			}
			b.ReportMetric(float64(files), "files")
			for k, n := range found {
				b.ReportMetric(100*float64(n)/float64(files), string(k)+"-%")
			}
		})
	}
}
