package gate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/policy"
)

// TestListed: what a server says of a tool counts from its list on, and what it said
// worst is kept.
func TestListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, `
[[rule]]
action = "deny"
tool = "*"
annotations = "destructive"
[[rule]]
action = "allow"
tool = "*"
`))
		call := func(tool, want, recorded string) {
			t.Helper()
			x := j.call(tool)
			s.Do(context.Background(), x)
			synctest.Wait()
			if got := j.became(x); got != want || strings.Join(x.Event.Assurances.AssuranceWords(), " ") != recorded {
				t.Errorf("%s became %s, recorded as %q", tool, got, x.Event.Assurances.AssuranceWords())
			}
		}
		call("read", CodeDeniedByRule, "")
		safe := policy.ReadOnly | policy.Additive
		s.NoteTools("srv", map[string]policy.Assurances{"read": safe, "drop": 0})
		s.NoteTools("srv", map[string]policy.Assurances{"list": safe, "drop": safe}) // another page, and a change of mind
		call("read", "forward", "read-only not-destructive")
		call("list", "forward", "read-only not-destructive")
		call("drop", CodeDeniedByRule, "")
		call("other", CodeDeniedByRule, "")
		s.NoteTools("srv", map[string]policy.Assurances{"read": policy.ReadOnly})
		call("read", CodeDeniedByRule, "read-only")
	})
}

// TestListedIsBounded: of a hostile server's lists no more is kept than fits, and what
// does not fit is feared.
func TestListedIsBounded(t *testing.T) {
	s := session(t, newJournal(), always(nil))
	for page := range 40 {
		tools := map[string]policy.Assurances{}
		for i := range 200 {
			tools[fmt.Sprintf("%d-%d", page, i)] = policy.ReadOnly
		}
		s.NoteTools("srv", tools)
	}
	if n := len(s.listed.tools); n != maxListed {
		t.Errorf("%d tools are kept", n)
	}
	long := session(t, newJournal(), always(nil))
	for i := range 1000 {
		long.NoteTools("srv", map[string]policy.Assurances{fmt.Sprint(i) + strings.Repeat("x", 1000): 0})
	}
	if n := len(long.listed.tools); n == 0 || long.listed.bytes > maxListedBytes {
		t.Errorf("%d tools of %d bytes are kept", n, long.listed.bytes)
	}
}

// What one server says of its tools is nothing to those that another calls the same.
func TestListedIsOfOneServer(t *testing.T) {
	s := session(t, newJournal(), always(nil))
	s.NoteTools("a", map[string]policy.Assurances{"read": policy.ReadOnly})
	s.NoteTools("b", map[string]policy.Assurances{"read": 0})
	for server, want := range map[string]policy.Assurances{"a": policy.ReadOnly, "b": 0, "": 0, "c": 0} {
		x := &Exchange{Calls: []policy.Call{{Server: server, Subject: policy.ToolSubject, Names: []string{"read"}}}}
		s.annotateCalls(x)
		if got := x.Calls[0].Assurances; got != want {
			t.Errorf("server %q: %v", server, got)
		}
	}
}
