package audit

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/text/redact"
)

// TestMembersAndTheirPage: docs/record.md has every member of a line and no other.
func TestMembersAndTheirPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| member | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
			documented = append(documented, m[1])
		}
	}
	ev := sample()
	ev.Extra, ev.Args = []byte(`{"more":1}`), []byte("["+strings.Repeat(`"x",`, redact.MaxBlock)+"0]")
	l := openLog(t, t.TempDir(), Options{})
	if err := l.Record(ev); err != nil {
		t.Fatal(err)
	}
	for v, i := reflect.ValueOf(*ev), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the sample has no %s", v.Type().Field(i).Name)
		}
	}
	raw := recorded(t, l.seg.path)
	line := map[string]any{}
	if err := json.Unmarshal([]byte(strings.Split(string(raw), "\n")[1]), &line); err != nil {
		t.Fatal(err)
	}
	var written []string
	for name := range line {
		written = append(written, name)
	}
	slices.Sort(written)
	slices.Sort(documented)
	if diff := cmp.Diff(written, documented); diff != "" {
		t.Errorf("docs/record.md (+) and a line (-)\n%s", diff)
	}
}
