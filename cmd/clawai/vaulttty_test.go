//go:build linux || darwin

package main

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A value is typed without being shown, and leaving keeps nothing and leaves the terminal as it was.
func TestAValueIsTypedUnseen(t *testing.T) {
	slow.Test(t)
	home := t.TempDir()
	start := func(t *testing.T, args ...string) *watcher {
		return watchAs(t, home, []string{"TERM=xterm-256color", "CLAWAI_KEYCHAIN=off"}, 24, 80, append([]string{"vault"}, args...)...)
	}
	p := start(t, "set", "--store", "file", "github")
	p.sees("Value of github (it is not shown):")
	p.types("canary-typed\r")
	p.sees("github is kept in an encrypted file.", "Write clawai-vault:github where the value stood", "clawai vault bind github --server SERVER -- COMMAND")
	p.leaves(0)
	if strings.Contains(p.screen.Text(), "canary") {
		t.Errorf("the value is on the screen:\n%s", p.screen.Text())
	}
	for name, leave := range map[string]struct {
		keys string
		code int
		says string
	}{
		"interrupt": {"\x03", 130, "nothing was changed"},
		"no value":  {"\r", 1, "nothing was changed: the value is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "set", "other")
			p.sees("Value of other (it is not shown):")
			p.types(leave.keys)
			p.sees(leave.says)
			p.leaves(leave.code)
		})
	}
	p = start(t, "list")
	p.sees("NAME    SET         EXPIRES  FOR", "never    no server yet")
	p.leaves(0)
	if strings.Contains(p.screen.Text(), "other") || strings.Contains(p.screen.Text(), "canary") {
		t.Error(p.screen.Text())
	}
}
