package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestSandboxes(t *testing.T) {
	const table = "[server.x.sandbox]\nlevel = \"enforce\"\n"
	rule := func(tool, more string) string {
		return "[[rule]]\naction = \"allow\"\nserver = \"x\"\ntool = \"" + tool + "\"\n" + more + "\n"
	}
	const under = `where.path = { under = ["~/a"] }`
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"as it is asked", rule("read_file", under) + table + `read = ["~/a"]`, nil},
		{"wider, by a folder around it", rule("read_file", under) + table + `read = ["~"]`, nil},
		{"closed", rule("read_file", under) + table, []string{`5 sandbox-closes warning: the sandbox of "x" does not open ~/a, which this rule lets it be asked to read`}},
		{"closed to write", rule("write_file", under) + table + `read = ["~/a"]`, []string{`does not open ~/a, which this rule lets it be asked to write`}},
		{"partly", rule("write_file", under) + table + `write = ["~/a/b"]`, []string{"sandbox-closes note: the sandbox of \"x\" opens only a part of ~/a"}},
		{"another place, too", rule("read_file", under) + table + `read = ["~/a", "~/b"]`, []string{`sandbox-opens note: read opens ~/b, and no rule asks "x" for it`}},
		{"to write without a rule that writes", rule("read_file", under) + table + `write = ["~/a"]`, []string{"write opens ~/a"}},
		{"any path", rule("read_file", "") + table + `read = ["~/b"]`, nil},
		{"not to be compared", rule("read_file", under) + table + `read = ["/srv", "${cwd}"]`, nil},
		{"hosts", rule("fetch", `where.url = { host = ["api.example.com", "*.example.org"] }`) + table + `net = ["api.example.com", "a.example.org"]`, nil},
		{"a closed host", rule("fetch", `where.url = { host = ["api.example.com"] }`) + table + `net = ["b.example.com"]`, []string{`does not open api.example.com, which this rule lets it be asked for`}},
		{"every host", rule("fetch", `where.url = { host = ["api.example.com"] }`) + table + `net = ["*"]`, []string{"net opens every host"}},
		{"off", rule("read_file", under) + strings.Replace(table, "enforce", "off", 1), nil},
		{"about no server", strings.Replace(rule("read_file", under), "server = \"x\"\n", "", 1) + table, nil},
		{"a server without rules", table + `read = ["~/a"]`, nil},
	} {
		p, err := policy.Parse("p.toml", []byte(c.text), policy.Options{Home: "/home/me"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range Run(p, []byte(c.text), Options{}).Findings {
			if strings.HasPrefix(f.Code, "sandbox-") {
				got = append(got, fmt.Sprintf("%d %s %s: %s", f.Pos.Line, f.Code, f.Severity, f.Message))
			}
		}
		all := strings.Join(got, "\n")
		if len(got) != len(c.want) {
			t.Errorf("%s: %s", c.name, all)
		}
		for _, want := range c.want {
			if !strings.Contains(all, strings.TrimPrefix(want, "5 ")) {
				t.Errorf("%s: %s\nwant %s", c.name, all, want)
			}
		}
	}
}
