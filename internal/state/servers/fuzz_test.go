package servers_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/servers"
)

// joined writes a name's words with one dash between them, as PEP 503 does.
func joined(text string) string {
	return regexp.MustCompile(`[-_.]+`).ReplaceAllString(strings.ToLower(text), "-")
}

// Whatever a command line says, nothing panics; and what is recognised names the server by a
// name of the catalogue's, so that without that name it is not that server.
func FuzzRecognise(f *testing.F) {
	for line := range usual {
		f.Add(strings.Join(words(line), "\n"), "")
	}
	f.Add("sh\n-c\ncd /x && { npx -y exa-mcp-server; }", "https://mcp.notion.com/mcp")
	f.Add("", "https://MCP.notion.com:443/mcp/x")
	f.Add("uvx\n--from\nmcp-server----fetch\nx", "") // PEP 503: the same as with one dash
	f.Fuzz(func(t *testing.T, line, address string) {
		all := append(strings.Split(line, "\n"), "")
		s, err := servers.RecogniseServer(all[0], all[1:len(all)-1], address)
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			return
		}
		text := joined(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line + " " + address))
		for _, word := range append(all, address) {
			if plain, err := url.PathUnescape(word); err == nil {
				text += " " + joined(plain)
			}
		}
		for _, names := range [][]string{s.NPM, s.PyPI, s.Module, s.Program, s.Image, s.Repo, s.URL} {
			for _, name := range names {
				if strings.Contains(text, joined(strings.TrimPrefix(name, "github.com/"))) {
					return
				}
			}
		}
		t.Errorf("%q is %s, which it does not name", line+" "+address, s.ID)
	})
}
