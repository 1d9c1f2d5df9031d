package main

import (
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/rogpeppe/go-internal/testscript"
)

// recallsInScript sets ID to the record of the last decision about a tool:
// recalls TOOL.
func recallsInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recalls TOOL")
	}
	dir := ts.Getenv("HOME") + "/.local/state/clawai/audit"
	id := ""
	f := audit.Filter{Kinds: []event.Kind{event.Decision}, Tool: func(name string) bool { return name == args[0] }}
	for e, err := range audit.Read(dir, f) {
		ts.Check(err)
		id = e.Record
	}
	if id == "" {
		ts.Fatalf("no decision about %s in %s", args[0], dir)
	}
	ts.Setenv("ID", id)
}
