package modelcmd

import (
	"os"
	"slices"
	"strings"
)

// hookSwitch lists the options and variables that can switch off a client's hooks for one run.
type hookSwitch struct {
	options   []string
	variables []string // each one switches hooks off, except with an empty value, 0 or false
	// homes are the names of the variables that locate the client's settings. If such a variable
	// has one value in the client's environment and another value in clawai's, the settings that
	// clawai has read are not those that the client uses.
	homes []string
}

// hookSwitches holds the switches of each client.
var hookSwitches = map[string]hookSwitch{
	"claude-code": {
		options:   []string{"--settings", "--setting-sources", "--bare", "--safe-mode"},
		variables: []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_PERSONAL_HOOKS_OFF"},
		homes:     []string{"HOME", "CLAUDE_CONFIG_DIR"},
	},
	"codex":      {options: []string{"-c", "--config", "-p", "--profile", "--disable"}, homes: []string{"HOME", "CODEX_HOME"}},
	"gemini-cli": {homes: []string{"HOME", "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"}},
	"qwen-code": {
		options: []string{"--bare", "--safe-mode"}, variables: []string{"QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"},
		homes: []string{"HOME", "QWEN_HOME", "QWEN_CODE_SYSTEM_SETTINGS_PATH"},
	},
	"opencode": {
		options: []string{"--pure"}, variables: []string{"OPENCODE_PURE"},
		homes: []string{"HOME", "XDG_CONFIG_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT"},
	},
}

// changesHooks reports whether a client's command or environment may switch off its hooks. It also
// searches the parts of a word with spaces, because such a word may be a command for a shell.
func changesHooks(id string, command, env []string) bool {
	off := hookSwitches[id]
	for _, word := range command {
		for _, part := range append(strings.FieldsFunc(word, endsWord), word) {
			if slices.ContainsFunc(off.options, func(option string) bool { return isOption(part, option) }) {
				return true
			}
		}
	}
	own := readVariables(os.Environ())
	theirs := readVariables(env)
	isOn := func(name string) bool { v := strings.ToLower(theirs[name]); return v != "" && v != "0" && v != "false" }
	return slices.ContainsFunc(off.variables, isOn) || slices.ContainsFunc(off.homes, func(name string) bool { return own[name] != theirs[name] })
}

func endsWord(c rune) bool { return strings.ContainsRune(" \t\r\n'\"`;&|()", c) }

// isOption reports whether a word is this option, perhaps with a value. The value of a short option
// may follow without a separator.
func isOption(word, option string) bool {
	if len(option) == len("-c") {
		return strings.HasPrefix(word, option)
	}
	name, _, _ := strings.Cut(word, "=")
	return name == option
}

func readVariables(env []string) map[string]string {
	all := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	return all
}
