package queue

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Status is the state of a request.
type Status string

// The statuses. A request leaves Pending only once.
const (
	Pending  Status = "pending"
	Approved Status = "approved"
	Denied   Status = "denied"
	Expired  Status = "expired" // reached its deadline, was withdrawn, or its proxy ended; see Outcome
)

// Request is one question, with all facts that an answerer shows. Calls and Client come from the
// wire and are not harmless.
type Request struct {
	ID       string // a random UUID; its first characters can stand for it if no other ID begins with them
	Session  string // id of the proxy's session; random
	Created  time.Time
	Deadline time.Time // end of the waiting time, by the proxy's clock; only the proxy ends the request at this time

	Server   string        // the server's name in the client's configuration, or a substitute for people
	Client   string        // name and version of the MCP client; "" when unknown
	Project  string        // the proxy's working folder
	Calls    []policy.Call // exactly what will be executed; redacted when the request is resolved
	Digest   [32]byte      // digest of the frame
	Rule     policy.Rule   // the rule that led to the question
	Reason   string        // a further reason for the question (gate.Question.Why); "" for none
	Preview  []byte        // JSON of the preview of the command; deleted when the request is resolved
	Findings []byte        // JSON array of the findings in a held reply; nil if the question is about calls
	Risk     string        // "routine" or "dangerous"; package view finds the reasons
	Revision string        // revision of the policy that led to the question
	Lasting  bool          // a session answer is possible
	Offers   []view.Offer  // rules that "always" could write, narrowest first
	NoOffer  string        // why there are no offers

	// Reserved names the approvers at a team's centre who alone can allow the call. This machine
	// can then only deny it. "" for all other requests.
	Reserved string

	// Centre is set if the question waits at a team's centre instead of the queue.
	Centre *Centre

	// Damage is the reason why the row cannot be read; nil if it can. A damaged request has no
	// calls and can only be denied.
	Damage error

	Status  Status
	Decided time.Time // the zero time while the request is pending
	Answer  Answer    // the zero value if the request expired
	Outcome string    // what became of the call, in the proxy's words: "went on", "denied: the rules changed"
}

// IsReply reports whether the question is about the result of calls that were already made.
func (r *Request) IsReply() bool { return r.Findings != nil }

// UndoneText tells in words what a refusal prevents: the call, or the delivery of its reply.
func UndoneText(reply bool) string {
	if reply {
		return "the answer was withheld"
	}
	return "nothing was executed"
}

// DenyOnly returns why a request can only be denied; nil if it can be allowed.
func (r *Request) DenyOnly() error {
	switch {
	case r.Damage != nil:
		return fmt.Errorf("this call cannot be shown, so it can only be denied: %w", r.Damage)
	case r.Reserved != "":
		return fmt.Errorf("only %s can allow this call, at the team's centre; here it can only be denied", r.Reserved)
	case r.Centre != nil && r.Centre.WhyNot != "":
		return fmt.Errorf("you can only deny this call: %s", r.Centre.WhyNot)
	}
	return nil
}

// Centre holds what a team's centre knows about a question.
type Centre struct {
	Laptop    string // name of the laptop that asks, and of its owner
	Home      string // home folder of that owner on the laptop; "" when unknown
	Approvers string // who must allow the call, and how many have done so
	Hidden    int    // number of secrets that are not shown
	WhyNot    string // why this person may not allow the call; "" if the person may
}

// Answer is a person's answer to one request.
type Answer struct {
	Reply   gate.Reply
	Scope   string // for lasting answers, the scope of the offer; for AllowSession, "" and "exact" mean only this call
	Channel string // "console", "web", "decide", "terminal", "elicitation"
	By      string // account of the person, or name of the client
	Words   string // a note for the agent
}
