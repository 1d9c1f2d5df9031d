package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/clawai/clawai/proxy/hook/client"
)

// FuzzModelCall: whatever a model asks for, the calls that the rules judge have a name and arguments that
// are JSON, and no call is there twice.
func FuzzModelCall(f *testing.F) {
	for i, c := range [][2]string{
		{"Bash", `{"command":"t\\u006fuch a"}`}, {"mcp__s__t", `{"a":["\\ud83d\\ude00",1]}`}, {"BASH", `{"command":"a"}`}, {"Git_Hub_x", `{}`},
		{"tool_call", `{"name":"MCP__S__T","arguments":{"a":"b"}}`}, {"tool_call", `{"name":"x_y"}`}, {"tool_call", `{"name":""}`}, {"", ``}, {"mcp_s_t", ``}, {"apply_patch", `{"input":"*** Add File: a"}`},
	} {
		f.Add(uint8(i), c[0], []byte(c[1]))
	}
	ids := []string{"claude-code", "claude-code", "opencode", "opencode", "qwen-code", "qwen-code", "gemini-cli", "codex"}
	f.Fuzz(func(t *testing.T, which uint8, tool string, args []byte) {
		id := ids[int(which)%len(ids)]
		if len(args) == 0 {
			args = nil
		}
		req, err := client.FindRow(id).ReadModelCall(client.ModelCall{Tool: tool, Args: args, Cwd: "/p"})
		if err != nil {
			return
		}
		if len(req.Calls) == 0 {
			t.Fatalf("%s %q %q: nothing is judged", id, tool, args)
		}
		seen := map[string]bool{}
		for i := range req.Calls {
			c := &req.Calls[i]
			if c.Malformed == "" && (len(c.Names) != 1 || c.Names[0] == "" || c.Args != nil && !json.Valid(c.Args)) {
				t.Fatalf("%s %q %q: judged is %q %q", id, tool, args, c.Names, c.Args)
			}
			key := c.Server + "\x00" + c.Malformed + "\x00" + string(c.Args)
			for _, name := range c.Names {
				key += "\x00" + name
			}
			if seen[key] && c.Malformed == "" {
				t.Fatalf("%s %q %q: %q is judged twice", id, tool, args, key)
			}
			seen[key] = true
		}
	})
}
