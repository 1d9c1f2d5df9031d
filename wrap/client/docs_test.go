package client

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func clientsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(page), "\r\n", "\n")
}

// tableOf is the lines of a section's table, without its head.
func tableOf(t *testing.T, page, section string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("docs/clients.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var lines []string
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "| `") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// compare wants the page's table to say what the catalogue says, in its order.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("docs/clients.md lacks the line\n%s", want[i])
		case i >= len(want):
			t.Errorf("docs/clients.md has a line too many\n%s", got[i])
		case got[i] != want[i]:
			t.Errorf("docs/clients.md has\n%s\nthe catalogue says\n%s", got[i], want[i])
			return // the rest may only be shifted
		}
	}
}

func TestDocsTable(t *testing.T) {
	var want []string
	for _, row := range catalogue(t) {
		want = append(want, docsLine(row))
	}
	compare(t, tableOf(t, clientsPage(t), "Files"), want)
}

func docsLine(row Row) string {
	files := docsPaths(row.Paths)
	if row.Ancestors {
		files += " and above"
	}
	keys := "the root"
	if len(row.KeyPath) > 0 {
		words := make([]string, len(row.KeyPath))
		for i, key := range row.KeyPath {
			if words[i] = key; strings.Contains(key, ".") {
				words[i] = `"` + key + `"`
			}
		}
		keys = "`" + strings.Join(words, ".") + "`"
	}
	var notes []string
	if row.Confidence == Experimental {
		notes = append(notes, "experimental")
	}
	if row.ReadOnly {
		notes = append(notes, "listed only")
	}
	if row.Retired != "" {
		notes = append(notes, row.Retired)
	}
	cells := []string{"`" + row.ID + "`", row.Name, string(row.Scope), files, string(row.Format), keys, strings.Join(notes, ", ")}
	return "| " + strings.Join(cells, " | ") + " |"
}

func docsPaths(p Paths) string {
	var all []string
	for _, system := range []struct {
		label string
		paths []string
	}{{"", p.All}, {"Linux ", p.Linux}, {"macOS ", p.MacOS}, {"Windows ", p.Windows}} {
		for _, path := range system.paths {
			all = append(all, system.label+"`"+path+"`")
		}
	}
	if len(all) == 0 {
		return "–"
	}
	return strings.Join(all, "<br>")
}

func TestDocsUncoverables(t *testing.T) {
	all, err := LoadUncoverables()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, u := range all {
		cells := []string{"`" + u.ID + "`", u.Name, docsPaths(u.Paths), u.Why, cmp.Or(u.Instead, "–")}
		want = append(want, "| "+strings.Join(cells, " | ")+" |")
	}
	compare(t, tableOf(t, clientsPage(t), "What is not covered"), want)
}

// The page's example is a row that loads.
func TestDocsExample(t *testing.T) {
	_, rest, ok := strings.Cut(clientsPage(t), "```toml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/clients.md has no example")
	}
	rows, err := LoadCatalogue([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if last := rows[len(rows)-1]; last.ID != "my-agent" || last.Confidence != Experimental {
		t.Errorf("got %+v", last)
	}
}

func TestDocsHooks(t *testing.T) {
	var want []string
	for _, row := range hookRows(t) {
		files, events := docsPaths(row.Paths), strings.Join(row.EventNames(), ", ")
		if len(row.Through) > 0 {
			files, events = "those of `"+strings.Join(row.Through, "`, `")+"`", "theirs"
		}
		note := ""
		if row.Confidence == Experimental {
			note = "experimental"
		}
		cells := []string{"`" + row.Client + "`", row.Name, "`" + row.HookWord() + "`", files, events, row.Broken, note}
		want = append(want, "| "+strings.Join(cells, " | ")+" |")
	}
	compare(t, tableOf(t, clientsPage(t), "Hooks"), want)
}
