package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Step is one call of the agent in the story.
type Step struct {
	Says string // what the agent does, in words for the person
	Tool string
	Args arguments
}

// Outcome is the result that the agent received.
type Outcome struct {
	Refused bool
	Text    string // the text of the answer, as the model would read it
}

// Folder is the demo's temporary folder with a home folder and samples.
type Folder struct {
	Root   string // the whole folder; Remove deletes it
	Home   string // the home folder (~) in the demo
	Policy string // the policy file
}

// MakeFolder creates a folder with samples and the given policy.
func MakeFolder(policy []byte) (Folder, error) {
	root, err := os.MkdirTemp("", "clawai-demo-")
	if err != nil {
		return Folder{}, fmt.Errorf("demo folder: %w", err)
	}
	// The server compares paths with its own folder, so the folder's path must not contain a
	// symbolic link. On macOS, /tmp is a symbolic link.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return Folder{}, fmt.Errorf("demo folder: %w", err)
	}
	f := Folder{Root: root, Home: filepath.Join(root, "home"), Policy: filepath.Join(root, "home", ".config", "clawai", "policy.toml")}
	for name, content := range map[string]string{
		f.homePath("projects", "app", "README.md"): "# app\n\nA sample project.\n",
		f.homePath("projects", "app", "main.go"):   "package main\n\nfunc main() {}\n",
		f.homePath(".ssh", "id_ed25519"):           "a sample that stands for a private key\n",
		f.Policy:                                   string(policy),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return f, fmt.Errorf("demo folder: %w", err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return f, fmt.Errorf("demo folder: %w", err)
		}
	}
	return f, nil
}

func (f Folder) homePath(elem ...string) string {
	return filepath.Join(append([]string{f.Home}, elem...)...)
}

// Remove deletes the folder.
func (f Folder) Remove() error { return os.RemoveAll(f.Root) }

// Environ returns the environment of the demo's proxy. HOME is the demo's home folder, and the
// owner's own clawai settings are hidden. The proxy can ask a person only at the terminal.
func (f Folder) Environ() []string {
	env := []string{"HOME=" + f.Home, "USERPROFILE=" + f.Home}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name == "HOME" || name == "USERPROFILE" || name == "AppData" || name == "APPDATA" || name == "LOCALAPPDATA" ||
			strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "CLAWAI_") && name != "CLAWAI_ACCESSIBLE" {
			continue
		}
		env = append(env, v)
	}
	return append(env,
		"CLAWAI_CONFIG_DIR="+f.homePath(".config", "clawai"),
		"CLAWAI_STATE_DIR="+f.homePath(".local", "state", "clawai"),
		"CLAWAI_ASK=terminal", "CLAWAI_ASK_NOBODY=deny")
}

// Steps returns the steps of the story, in their order.
func (f Folder) Steps() []Step {
	return []Step{
		{"reads a project file", "read_text_file", arguments{Path: f.homePath("projects", "app", "README.md")}},
		{"lists the project", "list_directory", arguments{Path: f.homePath("projects", "app")}},
		{"reads the SSH key", "read_text_file", arguments{Path: f.homePath(".ssh", "id_ed25519")}},
		{"reads it by another spelling", "read_text_file", arguments{Path: f.homePath("projects") + "/app/%2e%2e/../../.ssh/id_ed25519"}},
		{"climbs out of the project", "read_text_file", arguments{Path: f.homePath("projects") + "/../../../../../../etc/passwd"}},
		{"writes a project file", "write_file", arguments{Path: f.homePath("projects", "app", "NOTES.md"), Content: "Written by the agent.\n"}},
	}
}

// TrialStep returns a single step that changes a file.
func (f Folder) TrialStep() Step {
	return Step{"writes a file", "write_file", arguments{Path: f.homePath("hello.txt"), Content: "Hello.\n"}}
}

// ArgsJSON returns a step's arguments as JSON.
func (s Step) ArgsJSON() string {
	b, err := json.Marshal(s.Args)
	if err != nil {
		return fmt.Sprintf("%v", s.Args)
	}
	return string(b)
}

// ShortenHome replaces the demo's home folder by ~, so that a line fits on the screen.
func (f Folder) ShortenHome(s string) string { return strings.ReplaceAll(s, f.Home, "~") }
