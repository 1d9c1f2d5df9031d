package main

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
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
