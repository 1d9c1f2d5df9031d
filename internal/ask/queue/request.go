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
	Expired  Status = "expired" // by its deadline, a withdrawn call or the end of its proxy; see Outcome
)

// Request is one question with everything that an answerer shows. Its data from the wire (Calls,
// Client) is hostile.
type Request struct {
	ID       string // a random UUID; a prefix that no other request has is enough to name it
	Session  string // id of the proxy's session; random
	Created  time.Time
	Deadline time.Time // by the proxy's clock; only the proxy expires it

	Server   string        // name in the client's configuration, or a substitute for display
	Client   string        // name and version of the MCP client; "" when unknown
	Project  string        // the proxy's working folder
	Calls    []policy.Call // exactly as they will be executed; redacted after the request is resolved
	Digest   [32]byte      // digest of the frame
	Rule     policy.Rule   // the rule that asked
	Reason   string        // reason for asking besides the rule (gate.Question.Why); "" for none
	Preview  []byte        // JSON: what a preview of the command found; gone once the request is resolved
	Findings []byte        // JSON array of findings in a held reply; nil for a question about calls
	Risk     string        // "routine" or "dangerous" (package view finds the reasons)
	Revision string        // revision of the policy that asked
	Lasting  bool          // the answer may hold for the rest of the session
	Offers   []view.Offer  // rules that "always" could write, narrowest first
	NoOffer  string        // why there are no offers

	// Reserved says who alone can allow the call, at a team's centre: here it can only be denied. "" for
	// any other request.
	Reserved string

	// Centre is set for a question that waits at a team's centre, and not in the queue.
	Centre *Centre

	// Damage is the reason why the row cannot be read; nil when it is intact. A damaged request
	// holds no call and can only be denied.
	Damage error

	Status  Status
	Decided time.Time // zero while pending
	Answer  Answer    // the answer; zero when expired
	Outcome string    // outcome in words, from the proxy: "went on", "denied: the rules changed"
}

// IsReply reports whether the question is about the answer to calls that were already made.
func (r *Request) IsReply() bool { return r.Findings != nil }

// UndoneText returns what a refusal prevents, in words.
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

// Centre holds what a team's centre adds to a question.
type Centre struct {
	Laptop    string // name of the laptop that asks, with its owner
	Home      string // home folder of that owner on the laptop; "" when unknown
	Approvers string // who must allow it, and how many have allowed it
	Hidden    int    // secrets that are not shown
	WhyNot    string // why the person may not allow it; "" if they may
}

// Answer is a person's answer to one request.
type Answer struct {
	Reply   gate.Reply
	Scope   string // scope of the offer, for AllowAlways and DenyAlways; for AllowSession, "" and "exact" mean only this call
	Channel string // "console", "web", "decide", "terminal", "elicitation"
	By      string // the account, or the client's name
	Words   string // a note for the agent
}
