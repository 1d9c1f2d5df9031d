package overview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// What a session may no longer do follows from what it has seen and from the policy in force.
func TestListClosures(t *testing.T) {
	const rules = `
[[rule]]
action = "prompt"
tool = "post"
after = "untrusted"

[[rule]]
action = "deny"
tool = ["send", "mail_*"]
server = "mail"
after = ["untrusted", "private"]
description = "No mail\u001b after both"

[[rule]]
action = "deny"
tool = "rm"
`
	for _, c := range []struct{ level, seen, want string }{
		{"off", "", ""},
		{"off", "private", ""},
		{"off", "untrusted", "needs your yes to use post"},
		{"ask", "untrusted", "needs your yes to write where others read, or to do harm; needs your yes to use post"},
		{"watch", "untrusted", "needs your yes to use post"},
		{"strict", "untrusted", "may not write where others read, or to do harm; needs your yes to use post"},
		{"strict", "private", ""},
		{"ask", "untrusted private", `may not use send, mail_* of server mail (No mail\u{1b} after both); needs your yes to write where others read, or to do harm; needs your yes to use post`},
		{"ask", "untrusted secret", `may not use send, mail_* of server mail (No mail\u{1b} after both); needs your yes to write where others read, or to do harm; needs your yes to use post`},
	} {
		p, err := policy.Parse("p.toml", fmt.Appendf(nil, "[flow]\nlevel = %q\n%s", c.level, rules), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range listClosures(p, strings.Fields(c.seen)) {
			got = append(got, one.Text())
		}
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s after %q:\n got %s\nwant %s", c.level, c.seen, all, c.want)
		}
	}
	if got := listClosures(nil, []string{"secret"}); got != nil {
		t.Errorf("without a policy: %v", got)
	}
}

// A hook's calls are of the client's session, a proxy's of its own; the memory of sessions is bounded.
func TestActivity(t *testing.T) {
	var a activity
	at := time.Unix(1000, 0)
	add := func(session, server, detail, decision string) {
		at = at.Add(time.Second)
		a.addCall(&event.Entry{Session: session, Event: event.Event{Kind: event.Decision, Server: server, Detail: detail, Decision: decision, Time: at, Facts: policy.Facts{Cwd: "/p"}}})
	}
	add("r1", "claude-code", "hook claude-code PreToolUse, session abc", "allow")
	add("r2", "claude-code", "hook claude-code PreToolUse, session abc", "deny")
	add("r3", "files", "", "allow")
	add("r4", "codex", "hook codex PreToolUse", "allow") // without a session
	all := a.copySessions()
	if s := all["abc"]; len(all) != 3 || s == nil || !s.hook || s.client != "claude-code" || s.counts != (Counts{Allowed: 1, Refused: 1}) || s.folder != "/p" {
		t.Errorf("%d sessions: %+v", len(all), all["abc"])
	}
	if s := all["r3"]; s == nil || s.hook || !s.servers["files"] {
		t.Errorf("%+v", s)
	}
	for i := range 3 * maxActive {
		add(fmt.Sprint("s", i), "files", "", "allow")
	}
	if all := a.copySessions(); len(all) != maxActive || all["abc"] != nil || all[fmt.Sprint("s", 3*maxActive-1)] == nil {
		t.Errorf("%d sessions are kept", len(all))
	}
}

// The calls of a day are counted by what became of them, and a new day begins at nothing.
func TestToday(t *testing.T) {
	var o Overview
	o.tally.changed = &o.version
	now := time.Now()
	for _, e := range []event.Event{
		{Kind: event.Decision, Decision: "allow", Time: now.AddDate(0, 0, -1)},
		{Kind: event.Decision, Decision: "allow", Time: now},
		{Kind: event.Decision, Decision: "allow", Policy: "prompt", Time: now},
		{Kind: event.Decision, Decision: "deny", Policy: "prompt", Time: now},
		{Kind: event.Dropped, Direction: "client", Time: now},
		{Kind: event.Dropped, Direction: "server", Time: now},
		{Kind: event.Decision, Decision: "allow", Code: "ungoverned", Time: now},
		{Kind: event.Decision, Decision: "allow", Time: now.AddDate(0, 0, -2)}, // written late
	} {
		e.Server = "files"
		if err := o.tally.addEntry(&event.Entry{Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.countServers()["files"]; got.Counts != (Counts{Allowed: 1, Asked: 1, Refused: 2}) || !got.Last.Equal(now) {
		t.Errorf("%+v", got)
	}
	if view.LookOf(&event.Entry{Event: event.Event{Kind: event.Dropped, Direction: "server"}}) != view.Plain {
		t.Error("a message that a server sent for nothing counts as a call")
	}
}

// While there is no record, nothing changes: it is looked for again and again.
func TestNothingChanges(t *testing.T) {
	var o Overview
	o.tally.changed = &o.version
	o.tally.catchUp()
	before := o.Version()
	o.tally.catchUp()
	if s := o.Sum(Wanted{}); !s.Caught || s.Total() != 0 || o.Version() != before {
		t.Errorf("%+v, version %d, then %d", s, before, o.Version())
	}
}

// However many names and hours a record has, a tally keeps a bounded number of them, and loses no call.
func TestTallyIsBounded(t *testing.T) {
	var o Overview
	o.tally.changed, o.tally.period = &o.version, 24*time.Hour
	now := time.Now()
	const calls = 3 * maxCells
	for i := range calls {
		e := event.Event{Kind: event.Decision, Decision: "allow", Time: now.Add(-time.Duration(i%24) * time.Hour), Names: []string{fmt.Sprint("tool", i)}, RuleFile: "p", RuleLine: i}
		if err := o.tally.addEntry(&event.Entry{Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	s := o.Sum(Wanted{})
	if len(o.tally.cells) > maxCells+25 || len(o.tally.tools.all) > maxNames+1 || len(o.tally.rules.all) > maxNames+1 || s.Total() != calls {
		t.Errorf("%d cells, %d tools, %d rules, %d of %d calls", len(o.tally.cells), len(o.tally.tools.all), len(o.tally.rules.all), s.Total(), calls)
	}
	if err := o.tally.addEntry(&event.Entry{Event: event.Event{Kind: event.Decision, Decision: "deny", Time: now.AddDate(0, 0, 3)}}); err != nil {
		t.Fatal(err)
	}
	if s := o.Sum(Wanted{}); s.Counts != (Counts{Refused: 1}) {
		t.Errorf("what is older than the period stays: %+v", s.Counts)
	}
}
