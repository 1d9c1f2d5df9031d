//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// The README's picture of the overview is what a terminal shows on an ordinary day.
func TestPictureOfTheOverview(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const ms = time.Millisecond
	d := &day{home: t.TempDir(), at: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	d.add(0, event.Event{Kind: event.Start, Server: "filesystem", Detail: "clawai 1.0"})
	d.call(time.Second, "github", "list_issues", `{"owner":"acme","repo":"site"}`, "allow", "allow", "Reading on GitHub", 210*ms)
	d.call(4*time.Second, "filesystem", "read_text_file", `{"path":"~/.ssh/id_ed25519"}`, "deny", "deny", "Keys and secrets stay shut", 0)
	d.call(9*time.Second, "fetch", "fetch", `{"url":"https://go.dev/doc/effective_go"}`, "allow", "allow", "Documentation sites", 380*ms)
	d.call(3*time.Second, "postgres", "query", `{"sql":"SELECT name FROM customers LIMIT 5"}`, "allow", "allow", "Only SELECT", 6*ms)
	d.add(4*time.Second, event.Event{Kind: event.Answered, Server: "filesystem", Answer: "once", Channel: "terminal", By: "ana", Waited: 3 * time.Second, Policy: "prompt"})
	d.call(ms, "filesystem", "edit_file", `{"path":"~/projects/app/main.go"}`, "prompt", "allow", "Ask before a project file is written", 12*ms)
	d.call(7*time.Second, "github", "delete_branch", `{"owner":"acme","repo":"site","branch":"main"}`, "deny", "deny", "No branch is deleted", 0)
	d.call(2*time.Second, "filesystem", "read_text_file", `{"path":"~/projects/app/main.go"}`, "allow", "allow", "Read files in the projects folder", 3*ms)
	d.write(t)
	settleAgents(t, d.home)
	w := watchAs(t, d.home, append([]string{"TZ=UTC"}, colorful...), 24, 100)
	w.sees("[4 Calls]", "Now forbidden claude-code may not use send_mail", "allow  Bash  ls") // the first call is chosen
	w.types("jj")
	w.sees("policy.toml:7  No branch is deleted") // in full beside the chosen call alone
	w.settles()
	segments, err := filepath.Glob(filepath.Join(d.home, ".local", "state", "clawai", "audit", "*Z-*.ndjson"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	picture := func() string {
		shown := strings.ReplaceAll(w.screen.SVG(), d.home, "/home/ana")
		for _, path := range segments {
			shown = strings.ReplaceAll(shown, strings.TrimSuffix(path[strings.LastIndex(path, "-")+1:], ".ndjson"), "k3f9x2m7qa")
		}
		return shown
	}
	termtest.Golden(t, "../../../docs/img/overview.svg", picture)
	w.quits(0)
}
