//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A person who starts a server at a terminal learns why nothing happens, and what to do.
func TestServersAtATerminalSayThatTheyWait(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".config/clawai")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"policy.toml": "[[rule]]\naction = \"allow\"\ntool = \"*\"\n",
		"config.toml": "[upstream.files]\ncommand = [\"cat\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, how := range map[string]string{"serve": "argument serve", "hub": "clawai wrap --hub CLIENT"} {
		p := sit(t, home, command)
		p.sees("clawai "+command+" waits for an MCP client", how)
		p.types("\x04")
		p.leaves(0)
	}
}
