package gate

import (
	"context"
	"fmt"
	"testing"

	"github.com/clawai/clawai/policy"
)

var (
	oncall = &policy.Approval{Approvers: []string{"role:oncall"}, Votes: 1}
	dba    = &policy.Approval{Approvers: []string{"role:dba"}, Votes: 1}
)

// reserved asks about every call, of these approvers.
func reserved(a *policy.Approval) rules {
	rule := &policy.Rule{Action: policy.Prompt, OutOfBand: a != nil, Approval: a, Pos: policy.Position{File: "p.toml", Line: 1}}
	return func([]policy.Call) policy.Decision { return policy.Decision{Action: policy.Prompt, Rule: rule} }
}

// TestOnlyTheTeamsCentreAllows: whoever else answers can deny, in every way of answering.
func TestOnlyTheTeamsCentreAllows(t *testing.T) {
	for _, c := range []struct {
		name    string
		reply   Reply
		checked *policy.Approval
		want    string
	}{
		{"a person here allows once", AllowOnce, nil, CodeNobodyToAsk},
		{"for the session", AllowSession, nil, CodeNobodyToAsk},
		{"always", AllowAlways, nil, CodeNobodyToAsk},
		{"the client is asked", HandOver, nil, CodeNobodyToAsk},
		{"a person here denies", DenyOnce, nil, CodeDeniedByPerson},
		{"the centre asked others", AllowOnce, dba, CodeNobodyToAsk},
		{"the centre wanted fewer", AllowOnce, &policy.Approval{Approvers: oncall.Approvers}, CodeNobodyToAsk},
		{"the centre allows", AllowOnce, &policy.Approval{Approvers: []string{"role:oncall"}, Votes: 1}, "forward"},
		{"the centre allows, for the session", AllowSession, oncall, "forward"},
		{"the centre denies", DenyOnce, oncall, CodeDeniedByPerson},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJournal()
			asked := 0
			j.person = func(_ context.Context, q Question) (Answer, error) {
				asked++
				if q.Session || q.Value == [32]byte{} {
					t.Errorf("the question could hold for the session: %v, value %x", q.Session, q.Value)
				}
				return Answer{Reply: c.reply, Digest: q.Digest, Approval: c.checked}, nil
			}
			s := sessionOf(t, j, reserved(oncall), Options{DenyMemory: -1})
			for range 2 { // no answer is remembered
				x := j.call("prompt")
				s.Do(t.Context(), x)
				s.askers.Wait()
				j.expect(t, x, c.want)
			}
			if asked != 2 || len(s.Grants()) != 0 {
				t.Errorf("asked %d times, grants %v", asked, s.Grants())
			}
		})
	}
}

// TestRulesThatBeginToNameApprovers: the answer of a person here is not enough when the rules have
// changed meanwhile; and that of the centre is not, when they name others now.
func TestRulesThatBeginToNameApprovers(t *testing.T) {
	for name, c := range map[string]struct{ before, after, checked *policy.Approval }{
		"a person here": {nil, oncall, nil}, "the centre": {oncall, dba, oncall}, "the centre, and a person would do now": {oncall, nil, oncall},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal()
			s := sessionOf(t, j, reserved(c.before), Options{})
			j.person = func(_ context.Context, q Question) (Answer, error) {
				s.SetPolicy(reserved(c.after))
				return Answer{Reply: AllowOnce, Digest: q.Digest, Approval: c.checked}, nil
			}
			x := j.call("prompt")
			s.Do(t.Context(), x)
			s.askers.Wait()
			v := j.verdicts[x]
			if told := v.NewDenial(x.Calls[0]); told.Team != (c.after != nil) {
				t.Errorf("the refusal says that the team can allow it: %v", told.Team)
			}
			if got := j.became(x); got == "forward" {
				t.Errorf("it went on")
			}
		})
	}
}

func TestAQuestionThatTheCentreKeeps(t *testing.T) {
	j := newJournal()
	j.person = func(_ context.Context, q Question) (Answer, error) {
		return Answer{Digest: q.Digest, Note: "reference abc"}, fmt.Errorf("%w: abc", ErrKept)
	}
	s := sessionOf(t, j, reserved(oncall), Options{})
	x := j.call("prompt")
	s.Do(t.Context(), x)
	s.askers.Wait()
	j.expect(t, x, CodeApprovalWaits)
	if v := j.verdicts[x]; v.Reason != "reference abc" {
		t.Errorf("told %q", v.Reason)
	}
}

// TestApprovalValue: the digest by which a centre knows a call again covers all that reaches the server,
// and the server, and not what belongs to one message.
func TestApprovalValue(t *testing.T) {
	s, other := &Session{}, &Session{}
	s.granted.server, other.granted.server = "one", "two"
	call := tool("x")
	quiet, args, extra, method, server, folder := call, call, call, call, call, call
	quiet.Quiet, args.Args, extra.Extra, method.Method, server.Server = 7, []byte(`{"a":2}`), []byte(`{"cwd":"/"}`), "tools/list", "other"
	folder.Cwd = "/b" // a hook's calls come from many folders
	is := s.approvalValue([]policy.Call{call})
	if s.approvalValue([]policy.Call{quiet}) != is {
		t.Error("it is not the same in another process")
	}
	for name, c := range map[string]policy.Call{"arguments": args, "params": extra, "method": method, "server": server, "folder": folder} {
		if s.approvalValue([]policy.Call{c}) == is {
			t.Errorf("other %s, the same value", name)
		}
	}
	if other.approvalValue([]policy.Call{call}) == is || s.approvalValue([]policy.Call{call, call}) == is {
		t.Error("another server, or two calls, have the same value")
	}
}
