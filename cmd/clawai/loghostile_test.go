package main

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

// The corpus that every question must show is harmless in the log as well: one
// line for each record, whatever stands in it.
func TestLogIsHarmlessForTheWholeCorpus(t *testing.T) {
	var events []*event.Event
	var cases []viewtest.Case
	for _, c := range viewtest.Cases() {
		for i := range c.Calls {
			k := &c.Calls[i]
			ev := call("x", string(k.Args), "deny")
			ev.Server, ev.Method, ev.Names = k.Server, k.Method, k.Names
			events, cases = append(events, ev), append(cases, c)
		}
	}
	recorded(t, events...)
	code, out, errs := clawai(t, "log", "--kind", "decision")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 0 || errs != "" || len(lines) != len(events) {
		t.Fatalf("exit %d, %d lines for %d records; %s", code, len(lines), len(events), errs)
	}
	for i, line := range lines {
		viewtest.CheckHarmless(t, cases[i], line)
	}
}

// In the window of a terminal too, and no line is wider than it.
func TestLogIsHarmlessInAWindow(t *testing.T) {
	for _, width := range []int{60, 80, 120, 300} {
		for _, c := range viewtest.Cases() {
			for i := range c.Calls {
				k := &c.Calls[i]
				ev := call("x", string(k.Args), "deny")
				ev.Server, ev.Method, ev.Names, ev.RuleText, ev.Reason = k.Server, k.Method, k.Names, k.Method, k.Server
				var out strings.Builder
				p := record.Printer{Out: &out, Width: width}
				if err := p.Print(&record.Row{Entry: event.Entry{Event: *ev}}); err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
				if len(lines) != 2 { // the date and the call
					t.Fatalf("%d lines: %q", len(lines), lines)
				}
				viewtest.CheckHarmless(t, c, lines[1])
				if cells := view.Width(lines[1]); cells >= width {
					t.Errorf("%d cells in a window of %d: %s", cells, width, lines[1])
				}
			}
		}
	}
}

// And in what stats, which counts names, says of them.
func TestLogStatsIsHarmlessForTheWholeCorpus(t *testing.T) {
	slow.Test(t)
	for _, c := range viewtest.Cases() {
		var events []*event.Event
		for i := range c.Calls {
			k := &c.Calls[i]
			ev := call("x", string(k.Args), "deny")
			ev.Server, ev.Method, ev.Names = k.Server, k.Method, k.Names
			events = append(events, ev)
		}
		recorded(t, events...)
		code, out, errs := clawai(t, "log", "stats")
		if code != 0 || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		for line := range strings.Lines(out) {
			viewtest.CheckHarmless(t, c, strings.TrimSuffix(line, "\n"))
		}
	}
}
