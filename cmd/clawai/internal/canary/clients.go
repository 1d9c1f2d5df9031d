package canary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/wrap"
)

// client describes how to start a client so that it uses our model, needs no account, stores its
// data in our folder, and runs shell commands without asking. The commands and vars may contain the
// placeholders FOLDER and ADDRESS (see fillPlaceholders).
type client struct {
	id       string
	command  []string
	shell    string         // name of the client's tool that runs a shell command
	argument string         // name of the tool's argument for the command
	list     bool           // whether that argument is a list of commands
	more     map[string]any // other arguments of the tool
	before   []string       // a command that must run before the client; nil for most clients
	vars     []string       // environment variables, as NAME=VALUE
	// refuse returns an error if the owner's files could disturb the canary. It is nil if the
	// client reads no file of the owner except the hooks.
	refuse  func(wrap.Hooks) error
	furnish func(*site, wrap.Hooks) error // writes the client's folder with the hooks
}

func clientTable() []client {
	return []client{
		{
			id: "claude-code", shell: "Bash", argument: "command",
			command: []string{"claude", "-p", "go on", "--model", "scripted", "--allowedTools", "Bash", "--strict-mcp-config"},
			vars: []string{"CLAUDE_CONFIG_DIR=FOLDER", "ANTHROPIC_BASE_URL=ADDRESS", "ANTHROPIC_API_KEY=none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
			refuse:  claudeElsewhere,
			furnish: func(s *site, h wrap.Hooks) error { return s.copySettings("client/settings.json", h) },
		},
		{
			id: "codex", shell: "exec_command", argument: "cmd",
			command: []string{"codex", "exec", "--skip-git-repo-check", "--ephemeral", "-s", "danger-full-access", "go on"},
			vars:    []string{"CODEX_HOME=FOLDER"},
			refuse:  func(wrap.Hooks) error { return nonePresent("our address could be overridden by", codexOver()...) },
			furnish: codexFolder,
		},
		{
			id: "gemini", shell: "run_shell_command", argument: "command",
			command: []string{"gemini", "-p", "go on", "--yolo", "--model", "gemini-2.5-flash", "--extensions", "none", "--allowed-mcp-server-names", "none"},
			vars: []string{"GEMINI_CLI_HOME=FOLDER", "GOOGLE_GEMINI_BASE_URL=ADDRESS", "GEMINI_API_KEY=none",
				"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false", "GEMINI_SANDBOX=false"},
			refuse: geminiElsewhere,
			furnish: func(s *site, h wrap.Hooks) error {
				return errors.Join(s.copySettings("client/.gemini/settings.json", h), s.writePrivateFile("work/.gemini/settings.json", []byte(geminiProject)))
			},
		},
		{
			id: "copilot-cli", shell: "bash", argument: "command",
			command: []string{"copilot", "-p", "go on", "--allow-all-tools", "--disable-client-telemetry"},
			vars: []string{"COPILOT_HOME=FOLDER", "COPILOT_CACHE_HOME=FOLDER/cache", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=true",
				"COPILOT_PROVIDER_BASE_URL=ADDRESS/v1", "COPILOT_MODEL=gpt-4.1"},
			furnish: func(s *site, h wrap.Hooks) error { return s.copySettings("client/hooks/clawai.json", h) },
		},
		{
			// Cline reads hooks in the home folder even if CLINE_DIR names another folder, so
			// furnish copies no hooks.
			id: "cline", shell: "run_commands", argument: "commands", list: true,
			command: []string{"cline", "-P", "openai-compatible", "-m", "scripted", "-t", "120", "--json", "please go on"},
			before:  []string{"cline", "auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", "ADDRESS/v1"},
			vars:    []string{"CLINE_DIR=FOLDER", "CLINE_SESSION_BACKEND_MODE=local"},
			furnish: func(s *site, _ wrap.Hooks) error { return os.Mkdir(s.sitePath("client"), 0o700) },
		},
		{
			id: "qwen", shell: "run_shell_command", argument: "command", more: map[string]any{"is_background": false},
			command: []string{"qwen", "--auth-type", "openai", "--openai-base-url", "ADDRESS/v1", "--openai-api-key", "none", "--model", "scripted", "--proxy", "ADDRESS",
				"--telemetry", "false", "--sandbox", "false", "--extensions", "none", "--allowed-mcp-server-names", "none", "--approval-mode", "yolo", "-p", "please go on"},
			vars: []string{"QWEN_HOME=FOLDER", "OPENAI_API_KEY=none", "OPENAI_BASE_URL=ADDRESS/v1", "OPENAI_MODEL=scripted", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"},
			refuse: func(wrap.Hooks) error {
				return nonePresent("our address could be overridden by", filepath.Join(systemPath("/Library/Application Support/QwenCode", `C:\ProgramData\qwen-code`, "/etc/qwen-code"), "settings.json"))
			},
			furnish: func(s *site, h wrap.Hooks) error { return s.copySettings("client/settings.json", h) },
		},
		{
			id: "opencode", shell: "bash", argument: "command", more: map[string]any{"description": "canary"},
			command: []string{"opencode", "run", "--model", "canary/scripted", "go on"},
			vars: []string{"XDG_CONFIG_HOME=FOLDER", "XDG_DATA_HOME=FOLDER/data", "XDG_STATE_HOME=FOLDER/state", "OPENCODE_DISABLE_AUTOUPDATE=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
			refuse: func(wrap.Hooks) error {
				return nonePresent("our address could be overridden by", filepath.Join(systemPath("/Library/Application Support/opencode", `C:\ProgramData\opencode`, "/etc/opencode"), "opencode.json"))
			},
			furnish: func(s *site, h wrap.Hooks) error {
				return errors.Join(s.copySettings("client/opencode/plugin/clawai.js", h), s.writePrivateFile("client/opencode/opencode.json", []byte(s.fillPlaceholders(opencodeConfig))))
			},
		},
		{
			id: "kimi", shell: "Bash", argument: "command",
			command: []string{"kimi", "-p", "please go on"},
			vars:    []string{"KIMI_CODE_HOME=FOLDER", "KIMI_CLI_NO_AUTO_UPDATE=1"},
			furnish: kimiFolder,
		},
	}
}

const opencodeConfig = `{
  "provider": {
    "canary": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "ADDRESS/v1", "apiKey": "none" },
      "models": { "scripted": { "name": "scripted", "tool_call": true, "limit": { "context": 200000, "output": 8000 } } }
    }
  },
  "permission": { "bash": "allow", "edit": "allow", "webfetch": "allow" }
}
`

// ClientIDs returns the ids of the clients that the canary can run without an account.
func ClientIDs() (ids []string) {
	for _, c := range clientTable() {
		ids = append(ids, c.id)
	}
	return ids
}

// clientVariables lists the environment variables that the client gets from our environment. They
// locate programs and folders. None of them holds a key or the address of a service.
var clientVariables = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "XDG_DATA_HOME",
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "AppData", "LocalAppData", "ProgramData", "ProgramFiles", "CLAUDE_CODE_GIT_BASH_PATH",
}

// clientEnv returns the complete environment of the client. The client's HTTP proxy is the door,
// which refuses all other hosts. The client reaches the model without the proxy (NO_PROXY).
func (s *site) clientEnv(c *client) (env []string) {
	for _, name := range clientVariables {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+s.address, strings.ToLower(name)+"="+s.address)
	}
	env = append(env, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "NO_COLOR=1",
		"CLAWAI_CONFIG_DIR="+s.sitePath("config"), "CLAWAI_STATE_DIR="+s.sitePath("state"),
		"TMPDIR="+s.sitePath("tmp"), "TMP="+s.sitePath("tmp"), "TEMP="+s.sitePath("tmp"), "XDG_CACHE_HOME="+s.sitePath("cache"))
	return append(env, s.putAll(c.vars)...)
}

// fillPlaceholders replaces FOLDER by the client's folder and ADDRESS by the model's address.
func (s *site) fillPlaceholders(text string) string {
	return strings.NewReplacer("FOLDER", s.sitePath("client"), "ADDRESS", s.address).Replace(text)
}

func (s *site) putAll(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, s.fillPlaceholders(text))
	}
	return all
}

// shellArguments returns the arguments with which the client's shell tool runs a command.
func (c *client) shellArguments(command string) map[string]any {
	args := map[string]any{c.argument: command}
	if c.list {
		args[c.argument] = []string{command}
	}
	maps.Copy(args, c.more)
	return args
}

// copySettings copies the file with the client's hooks into our folder, without a change. The
// parameter name is the name of the copy.
func (s *site) copySettings(name string, h wrap.Hooks) error {
	src, err := os.ReadFile(h.Files[0].Real)
	if err != nil {
		return err
	}
	return s.writePrivateFile(name, src)
}

// nonePresent returns an error if one of the files in paths exists, because such a file would
// override ours. The parameter why is the start of the error's text.
func nonePresent(why string, paths ...string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s %s", why, path)
		}
	}
	return nil
}

// systemPath returns the path of an organisation's files for this operating system.
func systemPath(darwin, windows, other string) string {
	switch runtime.GOOS {
	case "darwin":
		return darwin
	case "windows":
		return windows
	}
	return other
}

// claudeElsewhere returns an error if Claude Code's settings have variables that override ours, or
// if they fetch a real key.
func claudeElsewhere(h wrap.Hooks) error {
	managed := systemPath("/Library/Application Support/ClaudeCode", `C:\Program Files\ClaudeCode`, "/etc/claude-code")
	// The pattern is valid, so there is no error.
	more, _ := filepath.Glob(filepath.Join(managed, "managed-settings.d", "*.json"))
	for _, path := range append(more, filepath.Join(managed, "managed-settings.json"), h.Files[0].Real) {
		src, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		settings := map[string]json.RawMessage{}
		var env map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(src, &settings)
		}
		if text := settings["env"]; err == nil && text != nil {
			err = json.Unmarshal(text, &env)
		}
		if err != nil {
			return fmt.Errorf("whether it would use our address cannot be told: %s: %w", path, err)
		}
		for name := range env {
			if leadsAway(name) {
				return fmt.Errorf("it would not use our address: %s sets %s", path, name)
			}
		}
		for name := range settings {
			if strings.HasSuffix(name, "Helper") || strings.HasSuffix(name, "Refresh") || strings.HasSuffix(name, "Export") || strings.HasPrefix(name, "forceLogin") {
				return fmt.Errorf("it would use a real account: %s sets %s", path, name)
			}
		}
	}
	return nil
}

// leadsAway reports whether a variable in Claude Code's settings could override one of our
// variables.
func leadsAway(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "_MODEL") {
		return false
	}
	for _, prefix := range []string{"ANTHROPIC_", "CLAUDE_CODE_USE_", "CLAUDE_CONFIG_", "CLAUDE_CODE_ENABLE_TELEMETRY", "CLAWAI_", "OTEL_", "AWS_", "NODE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, part := range []string{"PROXY", "URL", "ENDPOINT", "SOCKET", "HOST"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func codexOver() []string {
	dir := systemPath("/etc/codex", `C:\ProgramData\OpenAI\Codex`, "/etc/codex")
	return []string{filepath.Join(dir, "config.toml"), filepath.Join(dir, "managed_config.toml")}
}

// codexFolder writes the hooks, the owner's reviews of these hooks, and the settings that switch
// hooks off. It omits all other settings, because they would start servers and choose other models.
func codexFolder(s *site, h wrap.Hooks) error {
	if err := s.copySettings("client/hooks.json", h); err != nil {
		return err
	}
	folder := filepath.Dir(h.Files[0].Path)
	var theirs map[string]any
	src, err := os.ReadFile(filepath.Join(folder, "config.toml"))
	if err == nil {
		err = toml.Unmarshal(src, &theirs)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := map[string]any{
		"model": "scripted", "model_provider": "canary", "check_for_update_on_startup": false,
		"model_providers": map[string]any{"canary": map[string]any{"name": "canary", "base_url": s.address + "/v1", "wire_api": "responses"}},
		"analytics":       map[string]any{"enabled": false},
	}
	if theirs["features"] != nil {
		ours["features"] = theirs["features"]
	}
	if hooks, ok := theirs["hooks"].(map[string]any); ok {
		if state, ok := hooks["state"].(map[string]any); ok {
			hooks["state"] = movePaths(state, s.sitePath("client"), folder, filepath.Dir(h.Files[0].Real))
		}
		ours["hooks"] = hooks
	}
	text, err := toml.Marshal(ours)
	if err != nil {
		return err
	}
	return s.writePrivateFile("client/config.toml", text)
}

// kimiFolder writes the hooks and omits all other settings.
func kimiFolder(s *site, h wrap.Hooks) error {
	src, err := os.ReadFile(h.Files[0].Real)
	if err != nil {
		return err
	}
	var theirs struct {
		Hooks []map[string]any `toml:"hooks"`
	}
	if err := toml.Unmarshal(src, &theirs); err != nil {
		return err
	}
	text, err := toml.Marshal(theirs)
	if err != nil {
		return err
	}
	return s.writePrivateFile("client/config.toml", append([]byte(s.fillPlaceholders(kimiConfig)), text...))
}

const kimiConfig = `default_model = "scripted"

[providers.canary]
type = "openai"
base_url = "ADDRESS/v1"
api_key = "none"

[models.scripted]
provider = "canary"
model = "scripted"
max_context_size = 100000
capabilities = ["tool_use"]

`

// movePaths returns a copy of state, a map whose keys are paths. The parameter from lists folders.
// If a path is inside one of these folders, the copy has the path moved into the folder in the
// parameter to.
func movePaths(state map[string]any, to string, from ...string) map[string]any {
	all := map[string]any{}
	for key, value := range state {
		for _, folder := range from {
			if rest, inside := strings.CutPrefix(key, folder+string(filepath.Separator)); inside {
				key = filepath.Join(to, rest)
				break
			}
		}
		all[key] = value
	}
	return all
}

// geminiProject is the text of the project settings. They override the user's settings.
const geminiProject = `{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false },
  "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
  "tools": { "sandbox": false }
}
`

func geminiElsewhere(wrap.Hooks) error {
	if os.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH") != "" {
		return errors.New("our address could be overridden by GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	}
	return nonePresent("our address could be overridden by", filepath.Join(
		systemPath("/Library/Application Support/GeminiCli", `C:\ProgramData\gemini-cli`, "/etc/gemini-cli"), "settings.json"))
}
