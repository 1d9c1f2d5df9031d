package servers

import (
	"strings"
	"testing"
)

func TestFindSandboxer(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"srt -- npx -y @x/server", "srt"},
		{"srt npx -y @x/server", "srt"},
		{"/usr/bin/srt --settings s.json -- node x.js", "srt"},
		{"npx -y @anthropic-ai/sandbox-runtime@0.0.50 -- node x.js", "srt"},
		{"npx @anthropic-ai/sandbox-runtime node x.js", "srt"},
		{"codex sandbox --permission-profile p -- npx x", "codex sandbox"},
		{"codex sandbox linux node x.js", "codex sandbox"},
		{"bwrap --ro-bind / / --unshare-all -- node x.js", "bwrap"},
		{"env A=b /usr/bin/bwrap --ro-bind / / node x.js", "bwrap"},
		{"sandbox-exec -f p.sb node x.js", "sandbox-exec"},
		{"docker run -i --rm mcp/time", "docker run"},
		{"docker container run -i --rm mcp/time", "docker run"},
		{"podman run -i -h host x", "podman run"},
		{"nerdctl run -i x", "nerdctl run"},

		{"", ""},
		{"srt", ""},
		{"srt --help", ""},
		{"srt --", ""},
		{"codex mcp-server", ""},
		{"codex sandbox", ""},
		{"docker exec -i x node", ""},
		{"docker", ""},
		{"bwrap --version", ""},
		{"node srt -- x", ""},
		{"npx -y @evil/sandbox-runtime -- node x.js", ""},
		{"npx -p srt @anthropic-ai/sandbox-runtime node", ""},
		{"env -S srt\\ x", ""},
		{"sh -c srt", ""},
		{"env env env env env env env env env env srt x", ""},
		{"my-srt -- node", ""},
	} {
		if got := FindSandboxer(strings.Fields(c.command)); got != c.want {
			t.Errorf("%q: %q, want %q", c.command, got, c.want)
		}
	}
}
