package wrapcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/internal/state/flow"
)

func TestWaysOut(t *testing.T) {
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
		var all []leaks.ClientServer
		for _, n := range strings.Fields(c.servers) {
			all = append(all, leaks.ClientServer{Name: n, Known: flow.RecogniseServer(strings.Fields(commands[n]), "")})
		}
		var got []string
		for _, l := range leaks.FindLeaks(all, p) {
			got = append(got, l.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
