package canary

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// Only what ran beside what did not shows that a hook stops anything.
func TestVerdicts(t *testing.T) {
	ended := errors.New("it ended")
	for _, tt := range []struct {
		allowed, denied Call
		ended           error
		want            Verdict
	}{
		{Call{"allow", true}, Call{"deny", false}, nil, Enforced},
		{Call{"allow", true}, Call{"deny", false}, ended, Enforced},
		{Call{"allow", true}, Call{"deny", true}, nil, Unheeded},
		{Call{"allow", true}, Call{"allow", true}, nil, Unheeded},
		{Call{"allow", false}, Call{"deny", true}, ended, Unheeded},
		{Call{"", true}, Call{"", true}, nil, Silent},
		{Call{"", true}, Call{"deny", false}, nil, Silent},
		{Call{"allow", true}, Call{"", true}, nil, Silent},
		{Call{"allow", true}, Call{"", false}, nil, NotRun},
		{Call{"allow", false}, Call{"deny", false}, nil, NotRun},
		{Call{"deny", false}, Call{"deny", false}, nil, NotRun},
		{Call{"", false}, Call{"", false}, ended, NotRun},
		{Call{}, Call{}, nil, NotRun},
	} {
		r := Result{Verdict: NotRun, Allowed: tt.allowed, Denied: tt.denied}
		r.judgeOutcome(&site{}, "clawai-hook", tt.ended)
		if r.Verdict != tt.want || (r.Why == "") != (tt.want == Enforced) {
			t.Errorf("%+v: %s, %q; want %s", tt, r.Verdict, r.Why, tt.want)
		}
	}
}

func TestVariablesThatLeadAway(t *testing.T) {
	for name, want := range map[string]bool{
		"ANTHROPIC_BASE_URL": true, "anthropic_auth_token": true, "HTTPS_PROXY": true, "https_proxy": true, "CLAUDE_CODE_USE_BEDROCK": true,
		"CLAUDE_CONFIG_DIR": true, "OTEL_EXPORTER_OTLP_ENDPOINT": true, "CLAWAI_STATE_DIR": true, "NODE_OPTIONS": true,
		"ANTHROPIC_MODEL": false, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": false, "EDITOR": false, "DISABLE_TELEMETRY": false,
	} {
		if got := leadsAway(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Codex gets its hooks and what was reviewed of them, by the folder's new name, and nothing
// that would lead elsewhere.
func TestCodexFolder(t *testing.T) {
	s := &site{root: t.TempDir(), address: "http://127.0.0.1:1"}
	folder := t.TempDir()
	path := filepath.Join(folder, "hooks.json")
	const hooks = "{\"hooks\": {}}\n"
	key := path + ":pre_tool_use:0:0"
	config, err := toml.Marshal(map[string]any{
		"model_provider": "theirs", "mcp_servers": map[string]any{"x": map[string]any{"command": "x"}}, "features": map[string]any{"hooks": false},
		"hooks": map[string]any{"state": map[string]any{key: map[string]any{"trusted_hash": "sha256:1"}, "/elsewhere:stop:0:0": map[string]any{"enabled": false}}},
	})
	if err := errors.Join(err, os.WriteFile(path, []byte(hooks), 0o600), os.WriteFile(filepath.Join(folder, "config.toml"), config, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := codexFolder(s, wrap.Hooks{Files: []wrap.HookFile{{Path: path, Real: path}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(s.sitePath("client/hooks.json")); err != nil || string(got) != hooks {
		t.Errorf("%v, %q", err, got)
	}
	src, err := os.ReadFile(s.sitePath("client/config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Provider string         `toml:"model_provider"`
		Servers  map[string]any `toml:"mcp_servers"`
		Features struct{ Hooks *bool }
		Hooks    struct{ State map[string]map[string]any }
	}
	if err := toml.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	state := got.Hooks.State
	if got.Provider != "canary" || got.Servers != nil || got.Features.Hooks == nil || *got.Features.Hooks ||
		state[s.sitePath("client/hooks.json")+":pre_tool_use:0:0"]["trusted_hash"] != "sha256:1" || state["/elsewhere:stop:0:0"] == nil || len(state) != 2 {
		t.Errorf("%s", src)
	}
}

// A client that does not end is ended, and leaves nothing.
func TestAClientThatHangs(t *testing.T) {
	slow.Test(t)
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	dir, tmp := t.TempDir(), t.TempDir()
	settings := filepath.Join(dir, "settings.json")
	if err := errors.Join(os.WriteFile(settings, []byte("{}"), 0o600), os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\nwhile :; do sleep 1; done\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", tmp)
	r := Run(t.Context(), wrap.Hooks{Row: catalogue.HookRow{Client: "claude-code"}, Files: []wrap.HookFile{{Path: settings, Real: settings}}}, 100*time.Millisecond)
	if r.Verdict != NotRun || !strings.Contains(r.Why, "did not end within 100ms") {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
