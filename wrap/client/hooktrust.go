package client

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Trust is whether a client that runs reviewed hooks alone will run ours.
type Trust uint8

// The degrees of trust.
const (
	TrustUnneeded Trust = iota
	Trusted
	Untrusted
	TrustUnknown // what was reviewed cannot be read
)

// HooksTrusted reads what the person has reviewed in Codex: in its config.toml, a hash for
// each handler by the file (one of paths), the event and the numbers of the element and the handler.
// The hash is that of the handler's settings as JSON with sorted keys (openai/codex,
// codex-rs/hooks/src/engine/discovery.rs). That the person has switched one off counts as
// not trusted.
func HooksTrusted(config []byte, ours []Hook, paths ...string) Trust {
	var file struct {
		Hooks struct {
			State map[string]struct {
				Hash    string `toml:"trusted_hash"`
				Enabled *bool  `toml:"enabled"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	if toml.Unmarshal(config, &file) != nil {
		return TrustUnknown
	}
	for _, h := range ours {
		known := slices.ContainsFunc(paths, func(path string) bool {
			state := file.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", path, SnakeCase(h.Event), h.Group, h.At)]
			return state.Hash == trustHash(h) && (state.Enabled == nil || *state.Enabled)
		})
		if !known {
			return Untrusted
		}
	}
	return Trusted
}

// HooksOff says which member of a settings file of Codex switches all of its hooks off, as
// "features.hooks is false"; "" where none does. The second name is that of earlier releases, and is heeded.
func HooksOff(config []byte) string {
	var file struct {
		Features map[string]any `toml:"features"`
	}
	if toml.Unmarshal(config, &file) != nil {
		return ""
	}
	for _, name := range []string{"hooks", "codex_hooks"} {
		if file.Features[name] == false {
			return "features." + name + " is false"
		}
	}
	return ""
}

// trustHash gives the hash by which Codex knows a handler that it has shown.
func trustHash(h Hook) string {
	handler := map[string]any{"type": "command", "async": false, "timeout": 600}
	for _, m := range h.leaf.members {
		var value any
		if m.value.kind == stringKind {
			value = m.value.text
		} else if json.Unmarshal([]byte(m.value.text), &value) != nil {
			return ""
		}
		handler[m.name] = value
	}
	identity := map[string]any{"event_name": SnakeCase(h.Event), "hooks": []any{handler}}
	if m, _ := h.element.findMember("matcher"); m != nil {
		identity["matcher"] = m.value.text
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text) // sorts keys
	encoder.SetEscapeHTML(false)
	if encoder.Encode(identity) != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(text.String(), "\n")))
	return fmt.Sprintf("sha256:%x", sum)
}

// SnakeCase writes PreToolUse as pre_tool_use: some payloads name an event so that a settings file
// names otherwise.
func SnakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
