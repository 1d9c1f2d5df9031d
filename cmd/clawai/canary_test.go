package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fakeClaude is a client as Claude Code is, as far as a canary can tell, with the faults
// that its first argument names: "deaf" does not heed its hook, "skips" does not ask it,
// "idle" runs no tool, "dies" ends at once, "silent" asks no model, "hangs" never ends.
func fakeClaude() {
	faults := os.Args[1]
	switch faults {
	case "dies":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	case "silent":
		return
	case "reaches":
		proxied := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
		if _, err := proxied.Get("https://telemetry.example/v1"); err == nil {
			panic("it was let out")
		}
	}
	if slices.Contains(os.Environ(), "ANTHROPIC_API_KEY=real") || os.Getenv("SECRET_OF_MINE") != "" {
		panic("it was handed a key")
	}
	messages := []any{}
	for {
		id, command := askModel(messages)
		if id == "" {
			return
		}
		result := "denied by a hook"
		if faults == "idle" {
			result = "Bash is switched off here"
		} else if faults == "skips" || askHook(command) || faults == "deaf" {
			out, err := exec.Command("sh", "-c", command).CombinedOutput()
			result = fmt.Sprint(string(out), err)
		}
		messages = append(messages, struct { // in the order in which the real one writes it
			Type    string `json:"type"`
			Content string `json:"content"`
			ID      string `json:"tool_use_id"`
		}{"tool_result", result, id})
	}
}

// askModel gives the tool call that is asked for, if any.
func askModel(messages []any) (id, command string) {
	body, _ := json.Marshal(map[string]any{"tools": []string{"Bash"}, "messages": messages})
	r, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	stream, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(stream)) {
		var e struct {
			Block struct{ ID string } `json:"content_block"`
			Delta struct {
				Part string `json:"partial_json"`
			} `json:"delta"`
		}
		text, _ := strings.CutPrefix(line, "data: ")
		_ = json.Unmarshal([]byte(text), &e) // the other lines have neither
		if e.Block.ID != "" {
			id = e.Block.ID
		}
		var input struct{ Command string }
		if json.Unmarshal([]byte(e.Delta.Part), &input) == nil {
			command = input.Command
		}
	}
	return id, command
}

// askHook starts what the settings name, and says whether it let the command pass.
func askHook(command string) bool {
	src, err := os.ReadFile(filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "settings.json"))
	if err != nil {
		panic(err)
	}
	var settings struct {
		Hooks struct {
			PreToolUse []struct {
				Hooks []struct {
					Command string
					Args    []string
				}
			}
		}
	}
	if err := json.Unmarshal(src, &settings); err != nil {
		panic(err)
	}
	hook := settings.Hooks.PreToolUse[0].Hooks[0]
	folder, _ := os.Getwd()
	payload, _ := json.Marshal(map[string]any{
		"session_id": "s", "cwd": folder, "hook_event_name": "PreToolUse", "tool_use_id": "t", "tool_name": "Bash", "tool_input": map[string]string{"command": command},
	})
	cmd := exec.Command(hook.Command, hook.Args...)
	if hook.Args == nil { // a line for the shell
		cmd = exec.Command("sh", "-c", hook.Command)
	}
	cmd.Stdin = bytes.NewReader(payload)
	return cmd.Run() == nil
}
