package client_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

// playPlugin calls the plugin as opencode 1 does, and writes what its hook was asked.
const playPlugin = `
import plugin from "./clawai.mjs"
const sessions = { s1: { id: "s1" }, s2: { id: "s2", parentID: "s1" } }
const client = { session: { get: async ({ path }) => { if (!sessions[path.id]) throw new Error("gone"); return { data: sessions[path.id] } } } }
const hooks = await plugin.server({ client, directory: "/p" })
await hooks.config({ mcp: { "my.notes": {} } })
for (const info of Object.values(sessions)) await hooks.event({ event: { type: "session.created", properties: { info } } })
await hooks.event({ event: { type: "session.idle", properties: {} } })
const parts = [{ type: "text", text: "go" }, { type: "text", text: "a file's", synthetic: true }, { type: "file" }, { type: "text", text: "on" }]
for (const sessionID of ["s1", "s2", "s3"]) await hooks["chat.message"]({ sessionID }, { message: {}, parts })
await hooks["tool.execute.before"]({ tool: "my_notes_get", sessionID: "s1", callID: "c" }, { args: { a: 1 } })
`

// The plugin tells that a session begins and what its user says, and of a session that another
// has started that its words are a model's.
func TestPluginOfOpencode(t *testing.T) {
	slow.Test(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	rows, err := client.HookRows()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	program := filepath.Join(dir, "hook")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	write(program, "#!/bin/sh\n{ cat; echo; } >>"+asked+"\n")
	for i := range rows {
		if rows[i].Client == "opencode" {
			write(filepath.Join(dir, "clawai.mjs"), strings.ReplaceAll(rows[i].Element, "<command>", `["`+program+`"]`))
		}
	}
	write(filepath.Join(dir, "play.mjs"), playPlugin)
	if out, err := exec.Command(node, filepath.Join(dir, "play.mjs")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		short, _ := json.Marshal([]any{m["hook_event_name"], m["session_id"], m["prompt"], m["parent_agent_id"], m["mcp_server"]})
		got = append(got, string(short))
	}
	want := []string{
		`["session.start","s1",null,null,null]`, `["chat.message","s1","go\non",null,null]`, `["chat.message","s2","go\non","s1",null]`,
		`["chat.message","s3","go\non","unknown",null]`, `["tool.execute.before","s1",null,null,{"name":"my.notes","tool":"get"}]`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
