//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// settleIn writes a policy into a home, as init does.
func settleIn(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, ".config", "clawai")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(allowTools), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clawai alone shows the calls of the record as they go by, and a question that comes.
func TestRenderedOverview(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		at, home := fmt.Sprintf("%dx%d", cols, rows), aDay(t)
		settleIn(t, home)
		w := watchAs(t, home, append([]string{"TZ=UTC"}, colorful...), rows, cols)
		w.sees("[4 Calls]", "> 00:00:50", "list_directory")
		w.settles()
		session := regexp.MustCompile(`session    \S+`)
		picture := func() string {
			shown := recordID.ReplaceAllString(strings.ReplaceAll(w.screen.Text(), home, "/home/user"), "k3f9x2m7qa-$1")
			return session.ReplaceAllString(shown, "session    k3f9x2m7qa")
		}
		termtest.Golden(t, "screens/overview-"+at+".txt", picture)
		if !w.screen.Styled("31") || !w.screen.Styled("32") {
			t.Error("allowed and refused are not told apart by colour")
		}
		w.types("/")
		w.types("run_command\r")
		w.sees("> 00:00:46", "No removing", "clawai log explain ")
		w.settles()
		termtest.Golden(t, "screens/overview-call-"+at+".txt", picture)
		w.types("\x1b")

		l, err := audit.Open(filepath.Join(home, ".local", "state", "clawai", "audit"), audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Record(call("tool_of_now", `{}`, "deny")); err != nil {
			t.Fatal(err)
		}
		w.sees("tool_of_now")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		asks(t, home).put(about("write_file", `{"path":"`+work+`/a.go"}`))
		w.sees("1 Waiting (1)", "new: ")
		w.chooses("1", "clawai asks: let it through?")
		w.quits(0)
	})
}

// Without a policy, or a full screen, clawai alone says what to do.
func TestOverviewElsewhere(t *testing.T) {
	home := t.TempDir()
	w := watchAs(t, home, colorful, 40, 100)
	w.sees("start: find your servers, write a policy for them", "There is no policy here yet, so nothing is behind clawai.", "clawai init (or look first: clawai demo)")
	w.leaves(0)
	settleIn(t, home)
	w = watchAs(t, home, []string{"TERM=dumb"}, 40, 100)
	w.sees("This terminal shows no full screen. Use:", "clawai approve, clawai log --follow, clawai status.")
	w.leaves(0)
	if err := os.WriteFile(filepath.Join(home, ".config", "clawai", "policy.toml"), []byte("[[rule"), 0o600); err != nil {
		t.Fatal(err)
	}
	w = watchAs(t, home, colorful, 24, 80)
	w.sees("the policy cannot be used (clawai doctor): ")
	w.quits(0)
	if code, out, _ := clawai(t); code != 0 || !strings.Contains(out, "COMMANDS:") {
		t.Errorf("without a terminal: %d %s", code, out)
	}
}

const labelledSession = "aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb"

// settleAgents writes a policy that looks at what sessions have seen, the file of a client, and a
// session with labels.
func settleAgents(t *testing.T, home string) {
	t.Helper()
	settleIn(t, home)
	state := filepath.Join(home, ".local", "state", "clawai")
	for name, text := range map[string]string{
		".config/clawai/policy.toml": "[flow]\nlevel = \"ask\"\n\n[server.fetch]\npin = \"ask\"\n\n[[rule]]\naction = \"deny\"\ntool = \"send_mail\"\nserver = \"mail\"\nafter = \"private\"\ndescription = \"No mail after private data\"\n\n" + allowTools,
		".claude.json":               `{"mcpServers":{"filesystem":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"]},"fetch":{"command":"uvx","args":["mcp-server-fetch"]}}}`,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 11, 22, 12, 0, 30, 0, time.UTC)
	one := flow.New(state, []string{"session:" + labelledSession})
	if err := one.Add([]flow.Seen{{Kind: "untrusted", Source: "fetch fetch", At: at}, {Kind: "private", Source: "filesystem read_text_file", At: at}}); err != nil {
		t.Fatal(err)
	}
	one.Close()
	l, err := audit.Open(filepath.Join(state, "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hooked := call("Bash", `{"command":"ls"}`, "allow")
	hooked.Time, hooked.Server, hooked.Detail = at.Add(30*time.Second), "claude-code", "hook claude-code PreToolUse, session "+labelledSession
	if err := errors.Join(l.Record(hooked), l.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(state, "flow", "*"))
	for _, file := range files {
		err = errors.Join(err, os.Chtimes(file, at, at))
	}
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
}

// The pages of sessions and servers, and what the first page says of them.
func TestRenderedOverviewOfSessions(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		at, home := fmt.Sprintf("%dx%d", cols, rows), aDay(t)
		settleAgents(t, home)
		w := watchAs(t, home, append([]string{"TZ=UTC"}, colorful...), rows, cols)
		segments, _ := filepath.Glob(filepath.Join(home, ".local", "state", "clawai", "audit", "*Z-*.ndjson"))
		picture := func() string {
			shown := strings.ReplaceAll(w.screen.Text(), home, "/home/user")
			for i, path := range segments {
				id := strings.TrimSuffix(path[strings.LastIndex(path, "-")+1:], ".ndjson")
				mask := fmt.Sprintf("k3f9x2m%dqa", i)
				shown = strings.ReplaceAll(strings.ReplaceAll(shown, id, mask), id[:8], mask[:8])
			}
			return shown
		}
		w.sees("[4 Calls]", "Now forbidden claude-code may not use send_mail of server mail (No mail")
		w.settles()
		termtest.Golden(t, "screens/overview-first-"+at+".txt", picture)
		w.chooses("5", "[5 Sessions]")
		w.sees("claude-code aaaaaaaa", "untrusted, private")
		w.types("/")
		w.types("claude\r")
		w.sees("needs your yes to write where others read", "read from fetch of server fetch")
		w.settles()
		termtest.Golden(t, "screens/overview-sessions-"+at+".txt", picture)
		w.chooses("6", "[6 Servers]")
		w.sees("fetch", "bare", "pins ask")
		w.types("j")
		w.sees("clawai log --server fetch")
		w.settles()
		termtest.Golden(t, "screens/overview-servers-"+at+".txt", picture)
		w.quits(0)
	})
}

// A refused call is opened from the overview, and undo gives the policy its bytes back.
func TestRenderedOverviewOpens(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		at, home := fmt.Sprintf("%dx%d", cols, rows), aDay(t)
		settleIn(t, home)
		policy := filepath.Join(home, ".config", "clawai", "policy.toml")
		const before = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"**/.ssh/**\"\ndescription = \"Keys stay shut\"\n\n[[rule]]\naction = \"deny\"\ntool = \"*\"\ndescription = \"Everything else is refused\"\n"
		if err := os.WriteFile(policy, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		w := watchAs(t, home, append([]string{"TZ=UTC"}, colorful...), rows, cols)
		w.sees("[4 Calls]")
		w.types("/")
		w.types("hosts\r")
		w.sees("> ", "write_file  /etc/hosts", "o open it")
		picture := func() string {
			shown := recordID.ReplaceAllString(strings.ReplaceAll(w.screen.Text(), home, "/home/user"), "k3f9x2m7qa-$1")
			return newsTime.ReplaceAllString(writtenOn.ReplaceAllString(shown, "Written on 2026-11-22 by"), "12:00:00  ")
		}
		w.types("\r")
		w.sees("Why it was decided so", "then: prompt")
		w.settles()
		termtest.Golden(t, "screens/overview-why-"+at+".txt", picture)
		w.types("\x1b")
		w.sees("o open it")
		w.chooses("o", "How far should the rule reach?")
		w.chooses("2", "> 2  ")
		w.types("\x1b[F")
		w.sees("Of all calls:")
		w.settles()
		termtest.Golden(t, "screens/overview-open-"+at+".txt", picture)
		w.chooses("y", "written; clawai policy undo takes it back")
		if after, err := os.ReadFile(policy); err != nil || !strings.Contains(string(after), "action = \"allow\"") || !strings.Contains(string(after), "clawai policy allow --from") {
			t.Errorf("%v\n%s", err, after)
		}
		w.quits(0)
		w = watchAs(t, home, colorful, rows, cols, "policy", "undo", "--yes")
		w.leaves(0)
		if after, err := os.ReadFile(policy); err != nil || string(after) != before {
			t.Errorf("not undone: %v\n%s", err, after)
		}
	})
}

var (
	newsTime  = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  `)
	writtenOn = regexp.MustCompile(`Written on \S+ by`)
)

// The calls go on when the folder of the record is replaced under an open screen.
func TestOverviewOfAnotherRecord(t *testing.T) {
	home := aDay(t)
	settleIn(t, home)
	w := watchAs(t, home, colorful, 24, 80)
	w.sees("[4 Calls]", "list_directory")
	dir := filepath.Join(home, ".local", "state", "clawai", "audit")
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	w.sees("the folder of the record was removed or replaced")
	l, err := audit.Open(dir, audit.Options{})
	if err == nil {
		err = errors.Join(l.Record(call("tool_of_now", `{}`, "deny")), l.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	w.sees("tool_of_now")
	w.quits(0)
}
