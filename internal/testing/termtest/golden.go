package termtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// masks lists parts of a screen that differ between runs, and the text that replaces them in golden
// files.
var masks = []struct {
	is   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "00000000-0000-4000-8000-000000000000"},
	{regexp.MustCompile(`\b\d\d-\d\d \d\d:\d\d:\d\d`), "11-22 12:00:00"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "12:00:00"},
	{regexp.MustCompile(`\b0:\d\d\b`), "0:44"},
	{regexp.MustCompile(`\brevision [0-9a-f]{12}\b`), "revision 0123456789ab"},
	{regexp.MustCompile(`(?m)^[0-9a-f]{8}  `), "00000000  "},
}

// Masked returns the screen with fixed texts in place of the parts that differ between runs.
func Masked(screen string) string {
	for _, m := range masks {
		screen = m.is.ReplaceAllString(screen, m.with)
	}
	return screen
}

// Golden compares a screen with its golden file testdata/NAME. It ignores empty rows at the end.
// Output arrives in pieces, so Golden reads the screen again until it is equal to the file. If
// CLAWAI_UPDATE is set, Golden waits until the screen no longer changes, and then writes the file.
func Golden(t testing.TB, name string, screen func() string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	text := func() string { return strings.TrimRight(Masked(screen()), "\n") + "\n" }
	if os.Getenv("CLAWAI_UPDATE") != "" {
		got := text()
		for {
			time.Sleep(500 * time.Millisecond)
			now := text()
			if now == got {
				break
			}
			got = now
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := text()
	for end := time.Now().Add(10 * time.Second); got != string(want) && time.Now().Before(end); got = text() {
		time.Sleep(50 * time.Millisecond)
	}
	if got != string(want) {
		t.Errorf("the screen is not %s (CLAWAI_UPDATE=1 writes it anew):\n%s\nwant\n%s", file, got, want)
	}
}
