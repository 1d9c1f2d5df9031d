package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pagesAt names a folder of pages that somebody has fetched: they are not ours to keep.
const pagesAt = "CLAWAI_TEST_PAGES"

// The default profile withholds no ordinary page, and strict hardly any.
func TestOrdinaryPages(t *testing.T) {
	dir := os.Getenv(pagesAt)
	if dir == "" {
		t.Skip(pagesAt + " names no folder of pages")
	}
	var out bytes.Buffer
	if err := run([]string{"--pages", dir}, &out); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	for tier, most := range map[string]float64{"relaxed": 0, "default": 0, "strict": 2} {
		withheld, asked := shares(t, out.String(), tier)
		if withheld+asked > most {
			t.Errorf("%s withholds %.1f %% of the pages and asks about %.1f", tier, withheld, asked)
		}
	}
}

// shares are those of pages that a profile withholds and asks about.
func shares(t *testing.T, report, tier string) (withheld, asked float64) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + tier + ` +\d+ +([0-9.]+) +([0-9.]+)`).FindStringSubmatch(report)
	if m == nil {
		t.Fatalf("nothing of %s:\n%s", tier, report)
	}
	withheld, _ = strconv.ParseFloat(m[1], 64)
	asked, _ = strconv.ParseFloat(m[2], 64)
	return withheld, asked
}

// What ordinary pages have is passed, and what hides in one is not.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	hidden := "<p>Hours</p>\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065"
	for i := range 40 {
		page := fmt.Sprintf("<!DOCTYPE html><title>Page %d</title><!-- header of the page, made by a template -->\n<i>\ue0a1</i> Menu<div style=\"display: none\">a menu, folded</div>"+
			"<p>Some words\u200b of a page, &nbsp;with co\u00adoperation.</p><img src=\"https://example.org/a.png?w=%d\">", i, i)
		if i == 0 {
			page = hidden
		}
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".html"), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run([]string{"--pages", dir}, &out); err != nil {
		t.Fatal(err)
	}
	for _, tier := range []string{"default", "strict"} {
		if withheld, asked := shares(t, out.String(), tier); withheld > 2.5 || asked > 0 {
			t.Errorf("%s withholds %.1f %% and asks about %.1f:\n%s", tier, withheld, asked, out.String())
		}
	}
	if !strings.Contains(out.String(), "hidden 1") {
		t.Errorf("what hides is not told:\n%s", out.String())
	}
	if err := run([]string{"--pages", t.TempDir()}, &out); err == nil {
		t.Error("an empty folder is measured")
	}
}
