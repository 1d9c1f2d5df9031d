package wrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

func TestStates(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name, "clawai")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ours, other := program("ours", "1"), program("other", "2")
	t.Setenv("PATH", filepath.Dir(ours))
	for _, c := range []struct {
		entry, path string
		row         func(*client.Row)
		unknown     bool // where this clawai is
		want        State
		why         string
		byHand      bool // wrap does not mend it
	}{
		{entry: `{"command":"npx"}`, want: Bare},
		{entry: `{"url":"https://x.test"}`, want: Bare},
		{entry: `{"url":"https://x.test","oauth":{"clientId":"x"}}`, want: Uncovered, why: `has "oauth"`},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--was","url","--","https://x.test"]}`, path: ours, want: Wrapped},
		{entry: `{}`, want: Uncovered, why: "no command"},
		{entry: `{"command":"npx","args":"x"}`, want: Uncovered, why: "line 1, column"},
		{entry: `{"command":"npx"}`, row: func(r *client.Row) { r.ReadOnly = true }, want: Uncovered, why: "does not edit this file"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: ours, want: Wrapped},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: "clawai", want: Wrapped},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--observe","--","npx"]}`, path: ours, want: Observed, why: "NOTHING IS ENFORCED"},
		{entry: `{"command":"CLAWAI","args":["proxy","--","npx"]}`, path: ours, want: Drifted, why: "does not tell the rules"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","t","--","npx"]}`, path: ours, want: Drifted, why: "another server's name"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server=s","--","npx"]}`, path: ours, want: Drifted, why: "written in another way"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: other, want: Drifted, why: "another program"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: other, unknown: true, want: Drifted, why: "another program"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: ours, unknown: true, want: Wrapped},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: dir + "/gone/clawai", want: Drifted, why: "no clawai at"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--","npx"]}`, path: "clawai.exe", want: Drifted, why: "not on PATH"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","npx","x"]}`, path: ours, want: Drifted, why: "not as a proxy before a server", byHand: true},
		{entry: `{"command":"CLAWAI","args":["proxy","--listen","127.0.0.1:8808"]}`, path: ours, want: Drifted, why: "not as a proxy", byHand: true},
		{entry: `{"command":"CLAWAI","args":["demo-server"]}`, path: "clawai", want: Drifted, why: "not as a proxy"},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--"]}`, path: ours, want: Drifted, why: "nothing comes after", byHand: true},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--was","x","--","https://x.test"]}`, path: ours, want: Drifted, why: "not known", byHand: true},
		{entry: `{"command":"CLAWAI","args":["proxy","--server","s","--client-sandbox","sandboxEnabled=true","--","npx"]}`, path: ours, want: Drifted,
			why: "the sandbox of another client, and Test has none; take --client-sandbox", byHand: true},
	} {
		src := `{"mcpServers":{"s":` + strings.Replace(c.entry, "CLAWAI", c.path, 1) + `}}`
		row := client.Row{Name: "Test", Format: client.JSON, KeyPath: []string{"mcpServers"}, Container: client.Map,
			CommandForm: client.StringCommand, URLFields: []string{"url"}}
		if c.row != nil {
			c.row(&row)
		}
		path := filepath.Join(dir, "file.json")
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		p := ReadConfigFile(row, path)
		if p.Err != nil || len(p.Entries) != 1 {
			t.Fatalf("%s: %v", src, p.Err)
		}
		j := Planner{Program: Program{Path: ours, Exe: ours}}
		if c.unknown {
			j.Program.Path = ""
		}
		got, why := j.EntryState(&p, p.Entries[0])
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s %q, want %s %q", src, got, why, c.want, c.why)
		}
		if err := j.CheckWrap(&p, p.Entries[0]); got == Drifted && !c.unknown && (err != nil) != c.byHand {
			t.Errorf("%s: wrap: %v", src, err)
		}
	}
}
