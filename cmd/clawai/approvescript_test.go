package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/rogpeppe/go-internal/testscript"
)

// asksInScript is a proxy that asks about one tool call: asks [-dangerous]
// [-refused] [-offers|-wide] [-once] TOOL ARGUMENTS. The script finds the request's id in $UUID and its
// first 8 characters in $ID. An answer is told at once that the call went on,
// or, refused, that it was denied all the same.
func asksInScript(ts *testscript.TestScript, neg bool, args []string) {
	r := queue.Request{Server: "files", Client: "some-client 1.2", Risk: "routine", Lasting: true, Deadline: time.Now().Add(45 * time.Second)}
	outcome := "went on"
	for ; len(args) > 2; args = args[1:] {
		switch args[0] {
		case "-dangerous":
			r.Risk = "dangerous"
		case "-refused":
			outcome = "denied: the rules have changed; nothing was executed"
		case "-offers":
			r.Offers = []view.Offer{
				{Scope: "exact", Title: "this exact call", Allow: "[[rule]]\naction = \"allow\"\n", Deny: "[[rule]]\naction = \"deny\"\n"},
				{Scope: "tool", Title: "this tool on this server", Allow: "[[rule]]\naction = \"allow\"\ntool = \"x\"\n"},
			}
		case "-wide":
			r.Offers = []view.Offer{
				{Scope: "folder", Session: "Edit files below ~/work", Title: "this tool in ~/work", Allow: "[[rule]]\naction = \"allow\"\n", Deny: "[[rule]]\naction = \"deny\"\n"},
				{Scope: "tool", Title: "this tool on this server\x1b[2J", Allow: "[[rule]]\naction = \"allow\"\n"},
			}
		case "-once":
			r.Lasting, r.NoOffer = false, "a value holds *"
		}
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asks [-dangerous] [-refused] [-offers|-wide] [-once] TOOL ARGUMENTS")
	}
	r.Calls = []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: args[:1], Args: []byte(args[1])}}
	r.Rule = policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: "policy.toml", Line: 7}, Description: "Ask before writes"}
	p := scriptProxy(ts)
	ticket, err := p.Put(context.Background(), r)
	ts.Check(err)
	ts.Setenv("UUID", ticket.ID())
	ts.Setenv("ID", ticket.ID()[:8])
	ctx, cancel := context.WithCancel(context.Background())
	var told sync.WaitGroup
	told.Go(func() {
		if _, err := ticket.Wait(ctx); err == nil {
			_ = ticket.Outcome(ctx, outcome)
		}
	})
	ts.Defer(func() {
		cancel()
		told.Wait()
	})
}

// grantsInScript is a session answer in force: grants ID TOOL ARGUMENTS.
func grantsInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: grants ID TOOL ARGUMENTS")
	}
	ts.Check(scriptProxy(ts).SetGrants(context.Background(), []queue.Grant{{
		ID: args[0], Since: time.Now(), Uses: 2,
		Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: args[1:2], Args: []byte(args[2])}},
	}}))
}

// answersInScript is somebody who is faster: answers deny|allow.
func answersInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers allow|deny")
	}
	a := queue.Answer{Channel: "web", By: "bob"}
	if args[0] == "allow" {
		a.Reply = gate.AllowOnce
	}
	q := scriptQueue(ts)
	defer q.Close()
	_, err := q.Decide(context.Background(), ts.Getenv("UUID"), a)
	ts.Check(err)
}

// damagesInScript makes one request's row unreadable: damages UUID.
func damagesInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damages UUID")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("HOME"), ".local", "state", "clawai", "queue", "queue.db"))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec("UPDATE requests SET names = '[{' WHERE id = ?", args[0])
	ts.Check(err)
}

func scriptQueue(ts *testscript.TestScript) *queue.Queue {
	q, err := queue.Open(filepath.Join(ts.Getenv("HOME"), ".local", "state", "clawai", "queue"), queue.Options{})
	ts.Check(err)
	return q
}

func scriptProxy(ts *testscript.TestScript) *queue.Proxy {
	q := scriptQueue(ts)
	p, err := q.Attach(queue.Session{ID: fmt.Sprintf("%032x", time.Now().UnixNano()), Server: "files"})
	ts.Check(err)
	ts.Defer(func() {
		ts.Check(p.Close())
		ts.Check(q.Close())
	})
	return p
}
