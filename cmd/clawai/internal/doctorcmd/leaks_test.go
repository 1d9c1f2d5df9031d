package doctorcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/flow"
	"github.com/clawai/clawai/internal/servers"
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

func TestLeaks(t *testing.T) {
	commands := map[string]string{
		"web": "uvx mcp-server-fetch", "files": "npx -y @modelcontextprotocol/server-filesystem /a",
		"slack": "npx -y @modelcontextprotocol/server-slack", "docs": "npx -y @upstash/context7-mcp",
		"clock": "uvx mcp-server-time", "mail": "npx -y @gongrzhe/server-gmail-autoauth-mcp", "mine": "mine",
	}
	for name, c := range map[string]struct {
		servers, policy string
		want            []string
	}{
		"a way for two":              {"web files", "", []string{"web fetch > files read_file > web fetch"}},
		"nothing goes out":           {"docs files clock", "", nil},
		"one is enough":              {"slack", "", []string{"slack slack_get_users > slack slack_get_users > slack slack_post_message"}},
		"secrets first, alone last":  {"web files mail", "", []string{"web fetch > mail read_email > web fetch", "web fetch > files read_file > web fetch", "mail read_email > files read_file > mail send_email", "mail read_email > mail read_email > mail send_email"}},
		"the owner says no":          {"web files", "[server.files]\nsecret_data = false\n", nil},
		"what is forbidden":          {"web files", "[server.web.tool.fetch]\npublic_sink = \"forbidden\"\n", nil},
		"of a stranger nothing":      {"mine files", "", nil},
		"of a stranger, its tables":  {"mine docs", "[server.mine]\nsecret_data = true\n[server.mine.tool.\"send_*\"]\npublic_sink = true\n", []string{"docs query-docs > mine tools > mine send_* tools"}},
		"a secret by the owner":      {"web files", "[server.files.tool.write_file]\nsecret_data = true\n", []string{"web fetch > files write_file > web fetch"}},
		"the same name is no second": {"web web", "", nil},
	} {
		p := parsed(t, c.policy)
		var all []server
		for _, n := range strings.Fields(c.servers) {
			s := server{name: n, known: flow.Recognise(strings.Fields(commands[n]), "")}
			s.reach = reachOf(&s, p)
			all = append(all, s)
		}
		var got []string
		for _, l := range leaksOf(all) {
			got = append(got, l.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLeakFindings(t *testing.T) {
	some := slices.Repeat([]leak{{step{"web", "fetch"}, step{"files", "read_file"}, step{"web", "fetch"}}}, shownLeaks+2)
	for name, c := range map[string]struct {
		leaks   []leak
		bare    bool
		level   policy.Level
		unknown []string
		open    []string
		want    health
		fix     []string
	}{
		"off":              {some, false, policy.Off, nil, []string{"web"}, doubtful, []string{`level = "ask"`, "clawai doctor --tables"}},
		"tables are there": {some, false, policy.Watch, nil, nil, doubtful, []string{`level = "ask"`}},
		"not wrapped":      {some, true, policy.Ask, nil, nil, doubtful, []string{"clawai wrap"}},
		"asked":            {some, false, policy.Ask, nil, nil, healthy, nil},
		"strict":           {some, false, policy.Strict, nil, nil, healthy, nil},
		"nothing":          {nil, true, policy.Off, []string{"mine"}, nil, healthy, nil},
	} {
		all := leakFindings(c.leaks, c.bare, c.level, c.unknown, c.open)
		if len(all) != 1 || all[0].Health != c.want || (c.fix == nil) != (all[0].Fix == "") || len(all[0].Leaks) != len(c.leaks) ||
			strings.Contains(all[0].Fix, "--tables") != (c.open != nil) {
			t.Errorf("%s: %+v", name, all)
		}
		for _, part := range c.fix {
			if !strings.Contains(all[0].Fix, part) {
				t.Errorf("%s: %q says nothing of %s", name, all[0].Fix, part)
			}
		}
	}
	if all := leakFindings(nil, false, policy.Ask, []string{"mine"}, nil); len(all) != 2 || !strings.Contains(all[1].Text, `"mine"`) {
		t.Errorf("%+v", all)
	}
	if got := lines(some); len(got) != shownLeaks+1 || !strings.Contains(got[shownLeaks], "2 more") {
		t.Error(got)
	}
}

// What is proposed for a server loads, and changes no trait of a tool that is known.
func TestTablesSayWhatHolds(t *testing.T) {
	all, err := servers.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, s := range all {
		if len(s.NPM) == 0 {
			continue
		}
		known := flow.Recognise([]string{"npx", "-y", s.NPM[0]}, "")
		text := tables("a b", known)
		p := parsed(t, text)
		for _, tool := range known.Tools() {
			compared++
			said := p.Trust("a b", []string{tool.Name})
			if got := said.Own.Or(tool.Traits); got != tool.Traits || !slices.Equal(said.Decides, tool.Decides) {
				t.Errorf("%s %s: %+v, was %+v", s.ID, tool.Name, got, tool.Traits)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d tools were compared", compared)
	}
	if tables("a*", flow.Recognise([]string{"uvx", "mcp-server-fetch"}, "")) != "" || tables("mine", nil) != "" {
		t.Error("there is a table for what has none")
	}
}
