//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

// dayWatched is a home in which a session was watched: a tool that reads, in three
// files of two folders; one that writes; and one that runs something.
func dayWatched(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	log, err := audit.Open(filepath.Join(home, ".local/state/clawai/audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []*event.Event
	see := func(tool, args string) {
		events = append(events, &event.Event{
			Kind: event.Decision, Time: time.Now(), Server: "files", Method: "tools/call", Subject: "tool", Names: []string{tool},
			Args: []byte(args), Policy: "deny", Decision: "allow", Stage: "observe", Code: "no_rule",
		})
	}
	for _, f := range []string{"a.md", "b.md", "css/c.css"} {
		see("read_file", `{"path":"/srv/app/site/`+f+`"}`)
		see("list_folder", `{"path":"/srv/app/site/`+f+`"}`)
		see("view_file", `{"path":"/srv/app/site/`+f+`"}`)
		see("show_file", `{"path":"/srv/app/site/`+f+`"}`)
	}
	if err := log.Record(events...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestLearnIsReviewedAtATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := dayWatched(t)
	p := sit(t, home, "policy", "learn", "--interactive", "--out", "learned.toml")
	p.sees("Rule 1 of 4: allow tool list_folder on files", "from 3 calls in 1 session", "also lets through: path = /srv/app/site/any/other/file", "> Drop it")
	p.types("\r")
	p.sees("Rule 2 of 4: allow tool read_file", "> Drop it")
	p.types(down + "\r") // takes it
	p.sees("Rule 3 of 4: allow tool show_file", "> Drop it")
	p.types(down + down + "\r") // narrows it
	p.sees("/srv/app/site/* or", "/srv/app/site/css/*", "> Drop it")
	p.types(down + "\r")
	p.sees("Rule 4 of 4: allow tool view_file", "> Drop it")
	p.types(down + down + down + "\r") // makes it ask
	p.sees("Wrote learned.toml")
	p.leaves(0)
	text := readHome(t, home, "learned.toml")
	for _, want := range []string{
		"action = \"allow\"\ntool = \"read_file\"\nargs.path = \"/srv/app/site/**\"\nserver = \"files\"\n",
		"action = \"allow\"\ntool = \"show_file\"\nargs.path = [\"/srv/app/site/*\", \"/srv/app/site/css/*\"]\nserver = \"files\"\n",
		"action = \"prompt\"\ntool = \"view_file\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "list_folder") {
		t.Errorf("what was dropped is there:\n%s", text)
	}
}

// What is preset opens nothing, and who leaves has written nothing.
func TestLeavingALearnedReviewWritesNothing(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, keys := range map[string][]string{"at the first": {"\x1b"}, "in the middle": {"\r", "\x03"}} {
		t.Run(name, func(t *testing.T) {
			home := dayWatched(t)
			p := sit(t, home, "policy", "learn", "--interactive", "--out", "learned.toml")
			for i, key := range keys {
				p.sees([]string{"Rule 1 of 4", "Rule 2 of 4"}[i])
				p.types(key)
			}
			p.leaves(130)
			if _, err := os.Lstat(filepath.Join(home, "learned.toml")); err == nil {
				t.Error("a policy is written")
			}
		})
	}
	home := dayWatched(t)
	p := sit(t, home, "policy", "learn", "--interactive", "--out", "learned.toml")
	for _, title := range []string{"Rule 1 of 4", "Rule 2 of 4", "Rule 3 of 4", "Rule 4 of 4"} {
		p.sees(title)
		p.types("\r")
	}
	p.leaves(1)
	if _, err := os.Lstat(filepath.Join(home, "learned.toml")); err == nil {
		t.Error("a policy without a rule is written")
	}
}
