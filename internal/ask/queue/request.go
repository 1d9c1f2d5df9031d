package queue

import (
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Status is where a request stands.
type Status string

// The statuses. A request leaves Pending once.
const (
	Pending  Status = "pending"
	Approved Status = "approved"
	Denied   Status = "denied"
	Expired  Status = "expired" // the deadline, a withdrawn call, the end of its proxy; Outcome says which
)

// Request is one question with everything an answerer shows. What came from the
// wire in it (Calls, Client) is hostile.
type Request struct {
	ID       string // a random UUID; a prefix of at least 8 characters names it
	Session  string // of the proxy that asks; random
	Created  time.Time
	Deadline time.Time // by the proxy's clock, which alone expires it

	Server   string        // as the client's configuration calls it, or what is shown for it
	Client   string        // name and version of the MCP client; "" when unknown
	Project  string        // the folder the proxy runs in
	Calls    []policy.Call // exactly as they will be executed; redacted once the request is resolved
	Digest   [32]byte      // of the frame
	Rule     policy.Rule   // the one that asked
	Reason   string        // why it is asked, beside the rule (gate.Question.Why); "" for none
	Findings []byte        // JSON array of what was found in the reply that is held; nil when calls are asked about
	Risk     string        // "routine" or "dangerous" (package view says why)
	Revision string        // of the policy that asked
	Lasting  bool          // an answer for the session can hold
	Offers   []view.Offer  // rules that "always" could write, narrowest first
	NoOffer  string        // why there are none

	// Damage says why the row cannot be read. The request then holds no call, and
	// can only be denied; nil when it is whole.
	Damage error

	Status  Status
	Decided time.Time // zero while pending
	Answer  Answer    // what was said; zero when it expired
	Outcome string    // what became of it, in words, from the proxy: "went on", "denied: the rules changed"
}

// IsReply says that the calls were made, and that what came back is asked about.
func (r *Request) IsReply() bool { return r.Findings != nil }

// UndoneText gives what a refusal keeps from happening, in words.
func UndoneText(reply bool) string {
	if reply {
		return "the answer was withheld"
	}
	return "nothing was executed"
}

// Answer is what a person said to one request.
type Answer struct {
	Reply   gate.Reply
	Scope   string // of the offer, for AllowAlways and DenyAlways; for AllowSession, "" and "exact" are this call alone
	Channel string // "console", "web", "decide", "terminal", "elicitation"
	By      string // the account, or the client's name
	Words   string // a note for the agent
}
