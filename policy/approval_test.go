package policy_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

// asking is a rule that asks, with further lines.
func asking(tool string, lines ...string) string {
	return "[[rule]]\naction = \"prompt\"\ntool = \"" + tool + "\"\n" + strings.Join(lines, "\n") + "\n"
}

func parsePolicy(t *testing.T, src string, o policy.Options) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(src), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestApproversAreRead(t *testing.T) {
	p := parsePolicy(t, asking("deploy", "not_self = true", `approvers = ["role:oncall", "person:ana@team.example", "group:sre"]`, "approvals = 2"), policy.Options{})
	r := p.Rules()[0]
	if r.Approval.String() != "2 of group:sre, person:ana@team.example, role:oncall, not its owner" || !r.OutOfBand {
		t.Errorf("%s, out of band %v", r.Approval, r.OutOfBand)
	}
	if got := parsePolicy(t, asking("deploy", `approvers = ["role:oncall"]`), policy.Options{}).Rules()[0].Approval.String(); got != "1 of role:oncall" {
		t.Errorf("%q", got)
	}
	if got := parsePolicy(t, asking("deploy"), policy.Options{}).Rules()[0].Approval; got != nil || got.String() != "" {
		t.Errorf("a rule without approvers has %v", got)
	}
	if r.Approval.IsEqual(nil) || (*policy.Approval)(nil).IsEqual(r.Approval) {
		t.Error("approvers are nobody")
	}
	joined := policy.Approval{Approvers: []string{"role:a, role:b"}, Votes: 1}
	if joined.IsEqual(&policy.Approval{Approvers: []string{"role:a", "role:b"}, Votes: 1}) {
		t.Error("a comma in a name is the end of it")
	}
	copied := p.CopyRule(r, policy.RuleCopy{})
	if again := parsePolicy(t, copied, policy.Options{}).Rules()[0]; !again.Approval.IsEqual(r.Approval) {
		t.Errorf("written and read again: %s\n%s", again.Approval, copied)
	}
}

func TestApproversThatAreNone(t *testing.T) {
	for src, want := range map[string]string{
		asking("t", `approvers = []`):                                               `4:1: approvers is an empty list (nobody could answer; write who may, or leave the key out)`,
		asking("t", `approvers = "role:oncall"`):                                    `4:13: approvers must be a list of strings, not a string (such as ["role:oncall"])`,
		asking("t", `approvers = ["oncall"]`):                                       `4:14: "oncall" is no approver (write "role:NAME", "group:NAME" or "person:NAME")`,
		asking("t", `approvers = ["role:"]`):                                        `4:14: "role:" is no approver (write "role:NAME", "group:NAME" or "person:NAME")`,
		asking("t", `approvers = ["team:x"]`):                                       `4:14: "team:x" is no approver (write "role:NAME", "group:NAME" or "person:NAME")`,
		asking("t", `approvers = ["role:a\nb"]`):                                    `4:14: "role:a\nb" is no approver (write "role:NAME", "group:NAME" or "person:NAME")`,
		asking("t", `approvers = ["role:a", 1]`):                                    `4:24: approvers must be a list of strings, not a number`,
		asking("t", "approvers = [\"\"\"\nx\"\"\"]"):                                `is no approver`,
		asking("t", `approvers = ["role:a"]`, `approvals = 11`):                     `5:13: approvals must be a whole number from 1 to 10, not a number`,
		asking("t", `approvers = ["role:a"]`, `approvals = 0`):                      `5:13: approvals must be a whole number from 1 to 10, not a number`,
		asking("t", `approvers = ["role:a"]`, `approvals = 1.5`):                    `5:13: approvals must be a whole number from 1 to 10, not a number`,
		asking("t", `approvals = 2`):                                                `4:1: approvals without approvers (write who may answer, such as approvers = ["role:oncall"])`,
		asking("t", `not_self = true`):                                              `4:1: not_self without approvers (write who may answer, such as approvers = ["role:oncall"])`,
		asking("t", `approvers = ["role:a"]`, `not_self = 1`):                       `5:12: not_self must be true or false, not a number`,
		"[[rule]]\naction = \"allow\"\ntool = \"t\"\napprovers = [\"role:a\"]\n":    `4:1: approvers beside action "allow" (only action = "prompt" asks)`,
		"[[rule]]\naction = \"deny\"\ntool = \"t\"\napprovers = [\"role:a\"]\n":     `4:1: approvers beside action "deny" (only action = "prompt" asks)`,
		"[[rule]]\naction = \"prompt\"\non = \"reply\"\napprovers = [\"role:a\"]\n": `4:1: approvers in a rule about replies or lists (a team's centre is asked about calls only)`,
	} {
		_, err := policy.Parse("p.toml", []byte(src), policy.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

// TestTheStricterQuestionHolds: a question for a team's centre is the strictest one, and two of them
// that name others are a deny, wherever they meet.
func TestTheStricterQuestionHolds(t *testing.T) {
	oncall, dba := `approvers = ["role:oncall"]`, `approvers = ["role:dba"]`
	call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"deploy"}}
	other := call
	other.Names = []string{"migrate"}
	org := func(src string) policy.Options {
		return policy.Options{Above: []*policy.Policy{parsePolicy(t, src, policy.Options{Layer: "organisation"})}}
	}
	for name, c := range map[string]struct {
		p    *policy.Policy
		cs   []policy.Call
		want string // the approval, or the reason of a deny
	}{
		"the organisation's approvers, over a person here": {parsePolicy(t, asking("*"), org(asking("deploy", oncall))), []policy.Call{call}, "1 of role:oncall"},
		"own approvers, over the organisation's person":    {parsePolicy(t, asking("*", oncall), org(asking("deploy"))), []policy.Call{call}, "1 of role:oncall"},
		"over an allow":          {parsePolicy(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\n", org(asking("deploy", oncall))), []policy.Call{call}, "1 of role:oncall"},
		"the same ones":          {parsePolicy(t, asking("*", oncall), org(asking("deploy", oncall))), []policy.Call{call}, "1 of role:oncall"},
		"others above":           {parsePolicy(t, asking("*", oncall), org(asking("deploy", dba))), []policy.Call{call}, "two of the rules that ask want different approvers"},
		"two calls, one alike":   {parsePolicy(t, asking("deploy", oncall)+asking("*"), policy.Options{}), []policy.Call{other, call}, "1 of role:oncall"},
		"two calls, of others":   {parsePolicy(t, asking("deploy", oncall)+asking("*", dba), policy.Options{}), []policy.Call{call, other}, "two of the rules that ask want different approvers"},
		"the first rule decides": {parsePolicy(t, asking("deploy", oncall)+asking("*", dba), policy.Options{}), []policy.Call{call}, "1 of role:oncall"},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.p.DecideAll(c.cs)
			got := d.Reason
			if d.Action == policy.Prompt {
				got = d.Rule.Approval.String()
			}
			if got != c.want {
				t.Errorf("%v: %q, want %q", d.Action, got, c.want)
			}
		})
	}
}

// TestReadingsThatWantOthers: a path that a server may read in two ways, about which two rules ask
// different approvers, is denied.
func TestReadingsThatWantOthers(t *testing.T) {
	src := asking("read", `args.path = "/a/**"`, `approvers = ["role:a"]`) + asking("read", `args.path = "/**"`, `approvers = ["role:b"]`)
	call := func(path string) *policy.Call {
		return &policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read"}, Args: []byte(`{"path":"` + path + `"}`)}
	}
	p := parsePolicy(t, src, policy.Options{})
	for path, want := range map[string]string{"/a/x": "1 of role:a", "/b/x": "1 of role:b", "/b/../a/x": ""} {
		d := p.Decide(call(path))
		switch {
		case want == "" && (d.Action != policy.Deny || !strings.Contains(d.Reason, "different approvers")):
			t.Errorf("%s: %v %v", path, d.Action, d.Reason)
		case want != "" && (d.Action != policy.Prompt || d.Rule.Approval.String() != want):
			t.Errorf("%s: %v %v, want %s", path, d.Action, d.Rule, want)
		}
		if trace := p.Trace(call(path)); trace.Cut {
			t.Errorf("%s: the trace is cut", path)
		}
	}
}

func TestNoAnswerTakesThePlaceOfApprovers(t *testing.T) {
	p := parsePolicy(t, asking("deploy", `approvers = ["role:oncall"]`), policy.Options{})
	call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"deploy"}}
	for _, s := range []policy.Scope{policy.Exact} {
		if n, err := p.Grant(p.Rules()[0], &call, s); err == nil || !strings.Contains(err.Error(), "approvers at the team's centre") {
			t.Errorf("%v: %v, %v", s, n, err)
		}
	}
}
