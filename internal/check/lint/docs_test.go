package lint_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
)

// TestDocs: the page has every code and no other, and its examples have the
// finding, or not, as they say.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, k := range lint.Kinds() {
		codes = append(codes, k.Code)
	}
	section := regexp.MustCompile(`(?ms)^### (\S+)\n(.*?)(^##|\z)`)
	example := regexp.MustCompile("(?ms)^```toml (bad|good)\n(.*?)^```")
	rest := string(page)
	for {
		m := section.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		code, text := rest[m[2]:m[3]], rest[m[4]:m[5]]
		rest = rest[m[6]:]
		i := slices.Index(codes, code)
		if i < 0 {
			t.Errorf("the page describes %q, which is no code", code)
			continue
		}
		codes = slices.Delete(codes, i, i+1)
		shown := map[string]int{}
		for _, e := range example.FindAllStringSubmatch(text, -1) {
			shown[e[1]]++
			found := slices.ContainsFunc(run(t, e[2], known).Findings, func(f check.Finding) bool { return f.Code == code })
			if found != (e[1] == "bad") {
				t.Errorf("%s: %s example: found is %v\n%s", code, e[1], found, e[2])
			}
		}
		if shown["bad"] != 1 || shown["good"] != 1 {
			t.Errorf("%s: examples %v", code, shown)
		}
	}
	if len(codes) > 0 {
		t.Errorf("the page lacks %v", codes)
	}
}
