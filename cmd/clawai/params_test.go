//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

const asksAll = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"

// What reaches the server beside name and arguments is in the question and in the
// record, and an answer for the session holds for that value of it alone. What
// clients send with every call is neither asked about nor in the way of an answer.
func TestWhatComesBesideTheArgumentsIsAsked(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	r := prepare(t)
	r.write("policy.toml", asksAll)
	r.cmd.Args = append(append(r.cmd.Args[:1:1], "proxy", "--server", "files"), r.cmd.Args[2:]...)
	r.start()
	id := 0
	call := func(more string) {
		id++
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run","arguments":{"path":"/p"}%s}}`+"\n", id, more)
	}
	answered := func() {
		t.Helper()
		got := r.next()
		for strings.Contains(got, `"notifications/progress"`) { // the first call asks for it
			got = r.next()
		}
		if !strings.Contains(got, fmt.Sprintf(`"id":%d,`, id)) || strings.Contains(got, `"isError":true`) {
			t.Errorf("call %d: %s", id, got)
		}
	}
	for i, more := range []string{
		`,"cwd":"/etc","env":{"GITHUB_TOK` + `EN":"ghp_0123456789abcdefghijABCDEFGHIJ012345"},"_meta":{"progressToken":1}`,
		`,"cwd":"/home","env":{}`,
		`,"_meta":{"com.example/shell":"/bin/sh"}`,
		`,"task":{"ttl":60000}`,
		``,
		`,"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"other"}}`,
	} {
		call(more)
		question := r.waiting(1)["/p"]
		out, err := r.clawai("approve", "--json", question)
		if shown := strings.Contains(out, `"extra"`); err != nil || shown != (i < 4) {
			t.Errorf("%s: %v: %s", more, err, out)
		}
		list, err := r.clawai("approve", "--list")
		if i == 0 && (err != nil || !strings.Contains(list, `params/cwd = "/etc"`) || !strings.Contains(list, "DANGEROUS")) {
			t.Errorf("%v: %s", err, list)
		}
		if out, err := r.clawai("decide", question, "allow", "--for", "session"); err != nil {
			t.Fatalf("%s: %v: %s", more, err, out)
		}
		answered()
	}
	// Under the answers that stand now.
	for _, more := range []string{
		`,"cwd":"/home","env":{}`,
		`,"_meta":{"progressToken":"p7","claudecode/toolUseId":"toolu_01AbC","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`,
		`,"_meta":{"progressToken":8,"callId":"call_9","x-codex-turn-metadata":{"turn_id":"0199a"}}`,
	} {
		call(more)
		answered()
	}
	recorded := false
	for late := time.Now().Add(patience); !recorded && time.Now().Before(late); {
		for _, e := range r.records(event.Decision) {
			recorded = recorded || strings.Contains(string(e.Extra), `"cwd":"/etc"`)
			if strings.Contains(string(e.Raw), "ghp_") {
				t.Errorf("the record has the token: %s", e.Raw)
			}
		}
	}
	if !recorded {
		t.Error("the record does not say what came beside the arguments")
	}
	if err := r.in.Close(); err != nil {
		t.Error(err)
	}
	r.code(patience)
}
