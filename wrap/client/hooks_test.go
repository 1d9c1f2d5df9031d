package client

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var hookProgram = HookStart{Path: "/opt/bin/clawai-hook"}

func hookRows(t testing.TB) []HookRow {
	t.Helper()
	rows, err := HookRows()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func hookRow(t testing.TB, client string) HookRow {
	t.Helper()
	for _, row := range hookRows(t) {
		if row.Client == client {
			return row
		}
	}
	t.Fatalf("no row %q", client)
	return HookRow{}
}

func TestHookRowsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range hookRows(t) {
		for _, err := range row.check() {
			t.Errorf("[[hook]] %s: %v", row.Client, err)
		}
		if seen[row.Client] || seen[row.HookWord()] {
			t.Errorf("[[hook]] %s is there twice", row.Client)
		}
		seen[row.Client], seen[row.HookWord()] = true, true
	}
	for _, row := range hookRows(t) {
		words := row.Through
		for _, target := range row.Targets {
			words = append(slices.Clip(words), target.Through...)
		}
		for _, through := range words {
			if !seen[through] {
				t.Errorf("%s runs the hooks of %q, which has no row", row.Client, through)
			}
		}
	}
}

// The catalogue's own words for clients are those of the rows.
func TestHookRowsAreOfClientsInTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, row := range catalogue(t) {
		known[row.Client] = true
	}
	for _, row := range hookRows(t) {
		if !known[row.Client] {
			t.Errorf("--client does not know %q", row.Client)
		}
	}
}

func TestBrokenHookRows(t *testing.T) {
	good := hookRow(t, "claude-code")
	for _, tt := range []struct {
		name string
		edit func(*HookRow)
		want string
	}{
		{"another program", func(r *HookRow) { r.Element = `{"hooks":[{"command":"x"}]}` }, "does not start clawai-hook"},
		{"no JSON", func(r *HookRow) { r.Element = `{<program>` }, "element of PreToolUse"},
		{"no handlers", func(r *HookRow) { r.Inner = "handlers" }, "does not start clawai-hook"},
		{"a project's file", func(r *HookRow) { r.Paths.All = []string{"./.claude/settings.json"} }, "is a project's"},
		{"no event about tools", func(r *HookRow) { r.Events = []HookEvent{{Name: "Stop"}} }, "events names none"},
		{"no word for what happens", func(r *HookRow) { r.Broken = "" }, "broken is missing"},
		{"nothing to know it by", func(r *HookRow) { r.Present = Paths{} }, "present is missing"},
		{"a list of another client beside paths", func(r *HookRow) { r.Through = []string{"codex"} }, "through cannot stand"},
	} {
		row := good
		tt.edit(&row)
		text := ""
		for _, err := range row.check() {
			text += err.Error() + "\n"
		}
		if !strings.Contains(text, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
		}
	}
}

// A file that was not there is one that a person can read, and goes again.
func TestHooksOfAFileThatWasNotThere(t *testing.T) {
	for _, row := range hookRows(t) {
		if len(row.Through) > 0 {
			continue
		}
		events := row.EventNames()
		if row.Format == Script {
			events = events[:1]
		}
		for _, program := range []HookStart{hookProgram, {Path: "/two words/clawai-hook"}, {Path: "/opt/clawai-hook", Observe: true}} {
			made, err := PutHooks(row, nil, events, program)
			if err != nil {
				t.Fatalf("%s: %v", row.Client, err)
			}
			h, err := ReadHooks(row, made, events, program)
			if err != nil || len(h.Ours) != len(events) || len(h.Differs)+len(h.Broken) > 0 || h.Observe != program.Observe {
				t.Errorf("%s: %v, %+v\n%s", row.Client, err, h, made)
			}
			var any map[string]any
			if row.Format != Script && row.Format != TOML && json.Unmarshal(made, &any) != nil {
				t.Errorf("%s: no JSON\n%s", row.Client, made)
			}
			if back, err := TakeHooks(row, made, events); err != nil || back != nil {
				t.Errorf("%s: %v, left\n%s", row.Client, err, back)
			}
		}
	}
}

// Files in the form that each vendor documents, with others' hooks, gain ours and lose them.
// CLAWAI_GOLDEN=write writes the files that they become.
func TestGoldenHooks(t *testing.T) {
	for _, row := range hookRows(t) {
		if len(row.Through) > 0 || row.Format == Script {
			continue
		}
		ext := ".json"
		if row.Format == TOML {
			ext = ".toml"
		}
		t.Run(row.Client, func(t *testing.T) {
			dir := filepath.Join("testdata", "hooks", row.Client)
			before, err := os.ReadFile(filepath.Join(dir, "before"+ext))
			if err != nil {
				t.Fatal(err)
			}
			after, err := PutHooks(row, before, row.EventNames(), HookStart{Path: "/usr/local/bin/clawai-hook"})
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("CLAWAI_GOLDEN") == "write" {
				if err := os.WriteFile(filepath.Join(dir, "after"+ext), after, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(filepath.Join(dir, "after"+ext))
			if err != nil || string(want) != string(after) {
				t.Errorf("%v, got\n%s\nwant\n%s", err, after, want)
			}
			h, err := ReadHooks(row, after, row.EventNames(), HookStart{Path: "/usr/local/bin/clawai-hook"})
			if err != nil || len(h.Broken) > 0 {
				t.Errorf("%v, %v", err, h.Broken)
			}
			if back, err := TakeHooks(row, after, row.EventNames()); err != nil || string(back) != string(before) {
				t.Errorf("%v, came back as\n%s", err, back)
			}
		})
	}
}

// Each is refused with its place, and with what to do.
func TestHookFilesThatAreRefused(t *testing.T) {
	row := hookRow(t, "claude-code")
	for _, tt := range []struct{ src, want string }{
		{``, "line 1, column 1: the file is empty; remove it, or write {} into it"},
		{`[]`, "line 1, column 1: a list stands where an object is expected"},
		{`{"hooks":[]}`, "line 1, column 10: a list stands where an object is expected"},
		{`{"hooks":null}`, "line 1, column 10: null stands where an object is expected"},
		{`{"hooks":{"PreToolUse":{}}}`, "line 1, column 24: an object stands where a list is expected"},
		{`{"hooks":{"PreToolUse":[],"PreToolUse":[]}}`, `column 27: the key "PreToolUse" is there twice; remove one of the two`},
		{`{"hooks":{},"\u0068ooks":{}}`, `column 13: the key "hooks" is there twice`},
		{`{"a":1} x`, `column 9: "x" comes after the end`},
		{"{\"a\":\"\xff\"}", "not UTF-8"},
		{`{"hooks":{} // no comment here` + "\n}", "a comment, which this client's JSON does not allow"},
	} {
		_, err := PutHooks(row, []byte(tt.src), row.EventNames(), hookProgram)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.src, err, tt.want)
		}
	}
}

// Without its version a client runs no hook of the file: ours would be none.
// What people and doctor are shown of an entry is the line that the client runs.
func TestTheCommandOfAnEntryIsItsLine(t *testing.T) {
	for _, row := range hookRows(t) {
		if !strings.Contains(row.Element, "<line>") || row.Format == Script || len(row.Events) == 0 {
			continue
		}
		src, err := PutHooks(row, nil, row.EventNames(), hookProgram)
		if err != nil {
			t.Errorf("%s: %v", row.Client, err)
			continue
		}
		hooked, err := ReadHooks(row, src, row.EventNames(), hookProgram)
		if err != nil || len(hooked.Ours) != len(row.Events) {
			t.Errorf("%s: %v, %+v", row.Client, err, hooked.Ours)
			continue
		}
		for _, h := range hooked.Ours {
			if !strings.HasPrefix(h.Command, "exec "+hookProgram.Path+" ") {
				t.Errorf("%s: %q", row.Client, h.Command)
			}
		}
	}
}

func TestHookFilesNeedTheirVersion(t *testing.T) {
	for client, want := range map[string]string{"cursor": `"version": 1`, "copilot-cli": `"version": 1`, "kiro": `"version": "v1"`} {
		for _, src := range []string{`{"hooks":{}}`, `{"version":2}`, `{"version":1,"version":1}`} {
			_, err := PutHooks(hookRow(t, client), []byte(src), []string{"x"}, hookProgram)
			if err == nil || !strings.Contains(err.Error(), "line 1, column 1: it has no "+want) {
				t.Errorf("%s: %s: %v", client, src, err)
			}
		}
	}
}

func TestOthersBrokenHooks(t *testing.T) {
	for _, tt := range []struct{ client, src, want string }{
		{"claude-code", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","onFailure":"deny"}]}]}}`, `"onFailure" of a hook is "deny"; write "block" or take it out`},
		{"claude-code", `{"hooks":{"Stop":[{"hooks":[{"type":"comand","command":"x"}]}]}}`, `"type" of a hook is "comand"; write "command"`},
		{"claude-code", `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`, `a hook has no type`},
		{"claude-code", `{"hooks":{"Stop":[{"matcher":"x"}]}}`, `an entry of Stop has no list of "hooks"`},
		{"claude-code", `{"hooks":{"Stop":["x"]}}`, `an entry of Stop is a string, not an object`},
		{"claude-code", `{"hooks":{"Stop":[{"hooks":["x"]}]}}`, `holds a handler that is a string`},
		{"claude-code", `{"hooks":{"Stop":[{"hooks":[],"hooks":[]}]}}`, `has "hooks" twice`},
		{"claude-code", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","command":"y"}]}]}}`, `the key "command" is there twice`},
	} {
		h, err := ReadHooks(hookRow(t, tt.client), []byte(tt.src), nil, hookProgram)
		if err != nil || len(h.Broken) == 0 || !strings.Contains(h.Broken[0].Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %s", tt.src, err, h.Broken, tt.want)
		}
	}
}

// The hash is the one that Codex 0.169.0 itself gives this handler (hooks/list of its
// app-server).
func TestCodexTrust(t *testing.T) {
	row := hookRow(t, "codex")
	src, err := PutHooks(row, []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}}`), []string{"PreToolUse"}, hookProgram)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ReadHooks(row, src, []string{"PreToolUse"}, hookProgram)
	if err != nil {
		t.Fatal(err)
	}
	const hash = "sha256:2d452ae5458147fe5ef6254d6bbe6a8201bb73872cf1f63b04ffd668b7668bc5"
	for _, tt := range []struct {
		name, config string
		want         Trust
	}{
		{"nothing", "", Untrusted},
		{"reviewed", "[hooks.state.\"/h/hooks.json:pre_tool_use:1:0\"]\ntrusted_hash = \"" + hash + "\"\n", Trusted},
		{"switched off", "[hooks.state.\"/h/hooks.json:pre_tool_use:1:0\"]\nenabled = false\ntrusted_hash = \"" + hash + "\"\n", Untrusted},
		{"of another place", "[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"" + hash + "\"\n", Untrusted},
		{"of another file", "[hooks.state.\"/g/hooks.json:pre_tool_use:1:0\"]\ntrusted_hash = \"" + hash + "\"\n", Untrusted},
		{"of another form", "[hooks.state.\"/h/hooks.json:pre_tool_use:1:0\"]\ntrusted_hash = \"sha256:00\"\n", Untrusted},
		{"unreadable", "[hooks", TrustUnknown},
	} {
		if got := HooksTrusted([]byte(tt.config), h.Ours, "/h/hooks.json"); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCodexHooksOff(t *testing.T) {
	for config, want := range map[string]string{
		"": "", "[features]\nhooks = true\n": "", "[other]\nhooks = false\n": "", "[features": "", "[features]\nhooks = \"false\"\n": "",
		"[features]\nhooks = false\n": "features.hooks is false", "features = { codex_hooks = false }\n": "features.codex_hooks is false",
	} {
		if got := HooksOff([]byte(config)); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}

// A file on one line shows ours, and no text of others.
func TestMaskHooks(t *testing.T) {
	row := hookRow(t, "claude-code")
	src, err := PutHooks(row, []byte(`{"env":{"KEY":"sk-1"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x --key sk-2"}]}]}}`), row.EventNames(), hookProgram)
	if err != nil {
		t.Fatal(err)
	}
	shown := string(MaskHooks(row, src))
	if strings.Contains(shown, "sk-") || !strings.Contains(shown, hookProgram.Path) || !strings.Contains(shown, `"KEY":"•••"`) {
		t.Errorf("got %s", shown)
	}
}

// An entry that an older clawai wrote is named as such, and brought to the form of today in
// its place.
func TestEntriesOfAnOlderClawai(t *testing.T) {
	for _, row := range hookRows(t) {
		if len(row.Former) == 0 {
			continue
		}
		older := row
		older.Element, older.Windows, older.Names = row.Former[0], "", false
		before, err := PutHooks(older, nil, row.EventNames(), hookProgram)
		if err != nil {
			t.Fatal(err)
		}
		h, err := ReadHooks(row, before, row.EventNames(), hookProgram)
		if want := "the entry for " + row.Events[0].Name + " is one of an older clawai"; err != nil || len(h.Differs) == 0 || h.Differs[0] != want {
			t.Errorf("%s: %v %q", row.Client, err, h.Differs)
		}
		after, err := PutHooks(row, before, row.EventNames(), hookProgram)
		if h, _ := ReadHooks(row, after, row.EventNames(), hookProgram); err != nil || len(h.Differs) > 0 || len(h.Ours) != len(row.Events) {
			t.Errorf("%s: %v %q\n%s", row.Client, err, h.Differs, after)
		}
	}
}
