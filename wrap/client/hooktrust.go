package client

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Trust tells whether a client will run our hooks, if it runs only hooks that a person has
// reviewed.
type Trust uint8

// Values of Trust.
const (
	TrustUnneeded Trust = iota // the client also runs hooks that were not reviewed
	Trusted                    // a person has reviewed our hooks
	Untrusted                  // a person has disabled one of our hooks, or has not reviewed it
	TrustUnknown               // the client's file with the reviewed hooks cannot be read
)

// HooksTrusted tells whether a person has reviewed our hooks in Codex. Codex's config.toml has a
// hash for each reviewed handler, by the file (one of paths), the event, and the indexes of the
// element and the handler. The hash is made from the handler's settings as JSON with sorted keys
// (openai/codex, codex-rs/hooks/src/engine/discovery.rs).
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

// HooksOff returns the setting in a Codex settings file that disables all hooks, such as
// "features.hooks is false"; "" if there is none. It also knows codex_hooks, the name in earlier
// versions of Codex.
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

// trustHash returns the hash that Codex stores for a reviewed handler.
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
	encoder := json.NewEncoder(&text) // the encoder sorts the keys
	encoder.SetEscapeHTML(false)
	if encoder.Encode(identity) != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(text.String(), "\n")))
	return fmt.Sprintf("sha256:%x", sum)
}

// SnakeCase turns PreToolUse into pre_tool_use. Some clients use one form of the names of events in
// settings, and the other form in payloads and hashes.
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
