package wrapcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
)

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

func TestLeakAdvice(t *testing.T) {
	const shown = 5
	some := slices.Repeat([]leaks.Leak{{Source: leaks.Step{Server: "web", Tool: "fetch"}, Data: leaks.Step{Server: "files", Tool: "read_file"}, Sink: leaks.Step{Server: "web", Tool: "fetch"}}}, shown+2)
	for name, c := range map[string]struct {
		leaks   []leaks.Leak
		bare    bool
		level   policy.Level
		unknown []string
		open    []string
		fix     []string
	}{
		"off":              {some, false, policy.Off, nil, []string{"web"}, []string{`level = "ask"`, "clawai doctor --tables"}},
		"tables are there": {some, false, policy.Watch, nil, nil, []string{`level = "ask"`}},
		"not wrapped":      {some, true, policy.Ask, nil, nil, []string{"clawai wrap"}},
		"asked":            {some, false, policy.Ask, nil, nil, nil},
		"strict":           {some, false, policy.Strict, nil, nil, nil},
		"nothing":          {nil, true, policy.Off, []string{"mine"}, nil, nil},
	} {
		all := leaks.Advise(c.leaks, c.bare, c.level, c.unknown, c.open)
		if len(all) != 1 || (c.fix == nil) != (all[0].Fix == "") || len(all[0].Leaks) != len(c.leaks) ||
			strings.Contains(all[0].Fix, "--tables") != (c.open != nil) {
			t.Errorf("%s: %+v", name, all)
		}
		for _, part := range c.fix {
			if !strings.Contains(all[0].Fix, part) {
				t.Errorf("%s: %q says nothing of %s", name, all[0].Fix, part)
			}
		}
	}
	if all := leaks.Advise(nil, false, policy.Ask, []string{"mine"}, nil); len(all) != 2 || !strings.Contains(all[1].Text, `"mine"`) {
		t.Errorf("%+v", all)
	}
	if got := leaks.RenderLines(some); len(got) != shown+1 || !strings.Contains(got[shown], "2 more") {
		t.Error(got)
	}
}

// What is proposed for a server loads, and changes no trait of a tool that is known.
func TestTablesSayWhatHolds(t *testing.T) {
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, s := range all {
		if len(s.NPM) == 0 {
			continue
		}
		known := flow.RecogniseServer([]string{"npx", "-y", s.NPM[0]}, "")
		text := leaks.RenderTables("a b", known)
		p := parsed(t, text)
		for _, tool := range known.ListTools() {
			compared++
			said := p.ToolTrust("a b", []string{tool.Name})
			if got := said.Own.FillUnsaid(tool.Traits); got != tool.Traits || !slices.Equal(said.Decides, tool.Decides) {
				t.Errorf("%s %s: %+v, was %+v", s.ID, tool.Name, got, tool.Traits)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d tools were compared", compared)
	}
	if leaks.RenderTables("a*", flow.RecogniseServer([]string{"uvx", "mcp-server-fetch"}, "")) != "" || leaks.RenderTables("mine", nil) != "" {
		t.Error("there is a table for what has none")
	}
}
