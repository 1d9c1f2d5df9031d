package elicit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of docs/approvals.md is the data, row for row.
func TestTheDocumentedClients(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(raw), "|---|---|---|---|---|\n")
	known, err := ListClients()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, k := range known {
		versions := "all"
		switch {
		case k.From != "" && k.Below != "":
			versions = k.From + " to below " + k.Below
		case k.From != "":
			versions = "from " + k.From
		case k.Below != "":
			versions = "below " + k.Below
		}
		fmt.Fprintf(&want, "| %s | `%s` | %s | %s | %s |\n", k.Title, strings.Join(k.Names, "`, `"), versions, k.Use, k.Why)
	}
	if !strings.HasPrefix(table, want.String()+"\n") {
		t.Errorf("docs/approvals.md has another table; the data says\n%s", want.String())
	}
}

func TestEveryRowIsOfUse(t *testing.T) {
	known, err := ListClients()
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range known {
		if k.Title == "" || k.Why == "" || k.Source == "" || len(k.Names) == 0 || k.Use != Never && k.Use != Routine {
			t.Errorf("%+v", k)
		}
		for _, v := range []string{k.From, k.Below} {
			if _, ok := parseVersion(v); v != "" && !ok {
				t.Errorf("%s: version %q", k.Title, v)
			}
		}
		inside := k.From
		if inside == "" && k.Below == "" {
			inside = "99"
		} else if inside == "" {
			inside = "0.0.1"
		}
		if found := findClient(known, strings.TrimSuffix(k.Names[0], "*"), inside); found != &known[i] && !(k.Below == "" && found.Title == k.Title) {
			t.Errorf("%s is hidden by %+v", k.Title, found)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		version, from, below string
		want                 bool
	}{
		{"1.2.3", "", "", true},
		{"1.2.3", "1.2.3", "1.2.4", true},
		{"1.2.3", "1.2.4", "", false},
		{"1.10", "1.9", "", true},
		{"v2", "1.9", "2.0.1", true},
		{"2.0.1-beta", "", "2.0.1", false},
		{"2.0.1", "", "2.0.1", false},
		{"", "1", "2", true},
		{"x.1", "1", "2", true},
	} {
		if matchesRange(c.version, c.from, c.below) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
