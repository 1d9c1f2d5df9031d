package enrolment

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/policy"
)

// Bounds of a question, on both sides.
const (
	MaxQuestion = 512 << 10 // bytes of an AskQuestion in JSON
	MaxWait     = 30        // seconds for which a centre holds a GET of a question
)

// AskQuestion asks the centre whether a call may go on. It has what a person must see. All texts come
// from an agent or a server; secrets in them are replaced as in the record, and nothing is cut.
type AskQuestion struct {
	// Digest is the SHA-256 of the server and of everything in the calls that reaches it, 64
	// hexadecimal digits. An approval is for this digest alone.
	Digest string      `json:"digest"`
	Server string      `json:"server,omitempty"`
	Calls  []ShownCall `json:"calls"`
	Hidden int         `json:"hidden,omitempty"` // secrets that are not shown
	Client string      `json:"client,omitempty"` // name and version of the MCP client, as it says
	Why    string      `json:"why,omitempty"`    // a reason beside the rule

	RuleFile string `json:"rule_file,omitempty"`
	RuleLine int    `json:"rule_line,omitempty"`
	RuleText string `json:"rule_text,omitempty"`
	Revision string `json:"revision,omitempty"` // of the policy
	Session  string `json:"session,omitempty"`  // of the agent, as the queue of questions names it
	Project  string `json:"project,omitempty"`  // the folder in which the agent works
	Home     string `json:"home,omitempty"`     // of the laptop's owner

	Approvers []string `json:"approvers"`
	Approvals int      `json:"approvals"`
	NotSelf   bool     `json:"not_self,omitempty"`
	Wait      int      `json:"wait"` // seconds for which the call waits
}

// PolicyCalls returns the calls as they are shown to a person.
func (a *AskQuestion) PolicyCalls() []policy.Call {
	calls := make([]policy.Call, len(a.Calls))
	for i, c := range a.Calls {
		calls[i] = policy.Call{
			Server: c.Server, Method: c.Method, Subject: policy.SubjectOf(c.Subject), Names: c.Names,
			Args: c.Args, Extra: c.Extra, Malformed: c.Malformed,
		}
	}
	return calls
}

// PolicyRule returns the rule that asks.
func (a *AskQuestion) PolicyRule() policy.Rule {
	return policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: a.RuleFile, Line: a.RuleLine}, Description: a.RuleText}
}

// DigestBytes returns the digest; zero if it is none.
func (a *AskQuestion) DigestBytes() (digest [32]byte) {
	if src, err := hex.DecodeString(a.Digest); err == nil && len(src) == len(digest) {
		copy(digest[:], src)
	}
	return digest
}

// ShownCall is a call as a person sees it.
type ShownCall struct {
	Subject   string          `json:"subject"` // the key of rules about it
	Server    string          `json:"server,omitempty"`
	Method    string          `json:"method"`
	Names     []string        `json:"names"`
	Args      json.RawMessage `json:"args,omitempty"`
	Extra     json.RawMessage `json:"extra,omitempty"` // params beside the arguments
	Malformed string          `json:"malformed,omitempty"`
}

// The states of a question.
const (
	QuestionPending   = "pending"
	QuestionApproved  = "approved"
	QuestionDenied    = "denied"
	QuestionExpired   = "expired"
	QuestionCancelled = "cancelled" // the call is over
	QuestionUsed      = "used"      // the approval let its call pass
)

// QuestionState is how a question stands.
type QuestionState struct {
	ID    string  `json:"id"`
	State string  `json:"state"`
	Votes []Voice `json:"votes,omitempty"`
	// Until is when the question, or the approval that was given, ends: seconds from now.
	Until int `json:"until"`
}

// AskedState is how a question stands for somebody who may answer it.
type AskedState struct {
	QuestionState
	Created time.Time `json:"created"` // by the centre's clock
	Decided time.Time `json:"decided,omitzero"`
	Held    int       `json:"held,omitempty"`    // for so many seconds the call still waits
	WhyNot  string    `json:"why_not,omitempty"` // why the person may not allow it; "" if they may
}

// Asked is a question as somebody reads it who may answer it.
type Asked struct {
	AskedState
	AskQuestion
	Laptop string `json:"laptop"` // its name
	Owner  string `json:"owner,omitempty"`
}

// AskedList has the questions that a person may answer, the oldest first, and those that they could answer
// and that are over, the newest first.
type AskedList struct {
	Waiting []AskedState `json:"waiting"`
	Over    []AskedState `json:"over"`
}

// Answer is a person's answer to a question. Digest is the one that the person was shown.
type Answer struct {
	Digest string `json:"digest"`
	Allow  bool   `json:"allow"`
	Words  string `json:"words,omitempty"`
}

// Voice is what one person said.
type Voice struct {
	Name  string `json:"name"` // for people to read
	Key   string `json:"key"`  // of the principal
	Allow bool   `json:"allow"`
	Words string `json:"words,omitempty"` // a note for the agent
}
