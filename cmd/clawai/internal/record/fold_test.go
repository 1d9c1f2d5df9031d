package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// entries of two sessions: "s1:call 3" is a call with the record 3, "s1:reply 3" its
// reply a second later, "s1:error 3" one that failed, "s1:deny 3", "s1:end 9".
func entries(words ...string) (all []*event.Entry) {
	for i, word := range words {
		session, rest, _ := strings.Cut(word, ":")
		kind, id, _ := strings.Cut(rest, " ")
		e := &event.Entry{Session: session, Event: event.Event{Time: noon.Add(time.Duration(i) * time.Second), Record: session + "-" + fmt.Sprint(100+i), Server: "files"}}
		switch kind {
		case "call", "deny":
			e.Kind, e.Record, e.ID, e.Method, e.Names, e.Decision = event.Decision, session+"-"+id, []byte(id), "tools/call", []string{"tool" + id}, "allow"
			if kind == "deny" {
				e.Decision = "deny"
			}
		case "judged": // a reply
			e.Kind, e.ID, e.Ref, e.Method, e.Decision = event.Decision, []byte("r"+id), session+"-"+id, "tools/call", "deny"
		case "reply", "error":
			e.Kind, e.Ref, e.IsError = event.Outcome, session+"-"+id, kind == "error"
		case "end":
			e.Kind = event.End
		}
		all = append(all, e)
	}
	return all
}

func folded(t *testing.T, f *Folder, all []*event.Entry) string {
	t.Helper()
	var rows []string
	f.Emit = func(r *Row) error {
		row := string(r.Entry.Kind)
		if len(r.Entry.ID) > 0 {
			row = r.Entry.Decision + " " + string(r.Entry.ID)
		}
		switch {
		case r.isWithheld():
			row += " withheld"
		case r.Reply != nil && r.Reply.IsError:
			row += " failed"
		case r.Reply != nil:
			row += " " + r.ReplyTime().String()
		case r.Over:
			row += " over"
		}
		rows = append(rows, row)
		return nil
	}
	for _, e := range all {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, ", ")
}

func TestFolding(t *testing.T) {
	all := func(*event.Entry) bool { return true }
	for _, tt := range []struct {
		name string
		lone func(*event.Entry) bool
		in   []*event.Entry
		want string
	}{
		{"a call and its reply", nil, entries("s:call 1", "s:reply 1"), "allow 1 1s"},
		{"replies out of order keep the calls' order", nil, entries("s:call 1", "s:call 2", "s:reply 2", "s:reply 1"), "allow 1 3s, allow 2 1s"},
		{"an error", nil, entries("s:call 1", "s:error 1"), "allow 1 failed"},
		{"a denied call waits for nothing", nil, entries("s:deny 1", "s:call 2", "s:reply 2"), "deny 1, allow 2 1s"},
		{"the end of its session settles a call", nil, entries("s:call 1", "r:call 2", "s:end", "r:reply 2"), "allow 1 over, allow 2 2s, end"},
		{"a reply that is withheld", nil, entries("s:call 1", "s:judged 1", "s:end"), "allow 1 withheld, deny r1, end"},
		{"a call that still runs", nil, entries("s:call 1"), "allow 1"},
		{"a second reply", all, entries("s:call 1", "s:reply 1", "s:reply 1"), "allow 1 1s, outcome"},
		{"a reply to what is not shown", nil, entries("s:reply 1", "s:call 2"), "allow 2"},
		{"a reply to what is not shown, wanted", all, entries("s:reply 1", "s:call 2"), "outcome, allow 2"},
	} {
		if got := folded(t, &Folder{Lone: tt.lone}, tt.in); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A call that nobody answers holds back what fits in the window, and no more.
func TestFoldingHoldsBackAWindow(t *testing.T) {
	words := []string{"s:call 0"}
	for i := range window + 10 {
		words = append(words, fmt.Sprintf("s:deny %d", i+1))
	}
	f, most := &Folder{}, 0
	all := entries(words...)
	emitted := 0
	f.Emit = func(*Row) error { emitted++; return nil }
	for _, e := range all {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(f.rows))
	}
	if most != window || emitted != len(all) || len(f.open) != 0 {
		t.Errorf("held back %d rows, emitted %d of %d", most, emitted, len(all))
	}
}

// In a terminal a reply that comes next ends its call's line; one that comes later has
// a line of its own, which names the tool. Nothing is held back.
func TestLive(t *testing.T) {
	var out bytes.Buffer
	l := &Live{Printer: Printer{Out: &out, Width: 80}}
	t.Cleanup(func() { time.Local = local })
	time.Local = time.UTC
	for i, want := range []string{
		"Monday, 23 November 2026\n12:00:00  allow     tool1               files",
		"\r12:00:00  allow     tool1               files                             1.0 s\n",
		"12:00:02  allow     tool2               files",
		"\n12:00:03  allow     tool3               files",
		"\n12:00:04  failed    tool2               files                             2.0 s\n",
		"12:00:05  done      tool3               files                             2.0 s\n",
		"", // of what was not shown
		"12:00:07  end       files\n",
	} {
		out.Reset()
		all := entries("s:call 1", "s:reply 1", "s:call 2", "s:call 3", "s:error 2", "s:reply 3", "s:reply 9", "s:end")
		if err := l.Add(all[i]); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("entry %d writes\n%q, want\n%q", i, got, want)
		}
	}
}

var local = time.Local

// However many calls are never answered, only so many are remembered.
func TestLiveForgets(t *testing.T) {
	l := &Live{}
	l.Out = &bytes.Buffer{}
	for i := range 3 * window {
		if err := l.Add(entries(fmt.Sprintf("s:call %d", i))[0]); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.calls.rows) != window || len(l.calls.order) != window {
		t.Errorf("%d calls are remembered", len(l.calls.rows))
	}
}
