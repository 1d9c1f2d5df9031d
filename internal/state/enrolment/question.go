package enrolment

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/policy"
)

// Bounds of a question, on both sides.
const (
	MaxQuestion = 512 << 10 // maximum size of an AskQuestion in JSON, in bytes
	MaxWait     = 30        // largest value of wait=SECONDS: the centre delays its answer by at most this time
)

// AskQuestion asks the centre whether a call may go on. It contains everything that a person must
// see. All texts come from an agent or a server. Secrets in them are replaced as in the record. No
// text is cut.
type AskQuestion struct {
	// Digest is the SHA-256 of the server and of every part of the calls that reaches the server,
	// as 64 hexadecimal digits. An approval is only for this digest.
	Digest string      `json:"digest"`
	Server string      `json:"server,omitempty"`
	Calls  []ShownCall `json:"calls"`
	Hidden int         `json:"hidden,omitempty"` // number of secrets that were replaced
	Client string      `json:"client,omitempty"` // name and version of the MCP client, as the client states them
	Why    string      `json:"why,omitempty"`    // a reason for the question besides the rule

	RuleFile string `json:"rule_file,omitempty"`
	RuleLine int    `json:"rule_line,omitempty"`
	RuleText string `json:"rule_text,omitempty"`
	Revision string `json:"revision,omitempty"` // revision of the policy
	Session  string `json:"session,omitempty"`  // the agent's session, by the name that the queue uses
	Project  string `json:"project,omitempty"`  // the folder in which the agent works
	Home     string `json:"home,omitempty"`     // home folder of the laptop's owner

	Approvers []string `json:"approvers"`
	Approvals int      `json:"approvals"`
	NotSelf   bool     `json:"not_self,omitempty"`
	Wait      int      `json:"wait"` // number of seconds for which the call waits
}

// PolicyCalls returns the calls in the form that a person sees.
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

// PolicyRule returns the rule that asks the question.
func (a *AskQuestion) PolicyRule() policy.Rule {
	return policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: a.RuleFile, Line: a.RuleLine}, Description: a.RuleText}
}

// DigestBytes returns the digest; zero if Digest is not valid.
func (a *AskQuestion) DigestBytes() (digest [32]byte) {
	if src, err := hex.DecodeString(a.Digest); err == nil && len(src) == len(digest) {
		copy(digest[:], src)
	}
	return digest
}

// ShownCall is a call as a person sees it.
type ShownCall struct {
	Subject   string          `json:"subject"` // rule key of the call's subject, such as "tool"
	Server    string          `json:"server,omitempty"`
	Method    string          `json:"method"`
	Names     []string        `json:"names"`
	Args      json.RawMessage `json:"args,omitempty"`
	Extra     json.RawMessage `json:"extra,omitempty"` // the members of params other than the arguments
	Malformed string          `json:"malformed,omitempty"`
}

// The states of a question.
const (
	QuestionPending   = "pending"
	QuestionApproved  = "approved"
	QuestionDenied    = "denied"
	QuestionExpired   = "expired"
	QuestionCancelled = "cancelled" // the call is over, so no answer is needed
	QuestionUsed      = "used"      // the approval was used, because its call has passed
)

// QuestionState is the state of a question.
type QuestionState struct {
	ID    string  `json:"id"`
	State string  `json:"state"`
	Votes []Voice `json:"votes,omitempty"`
	// Until is the number of seconds until the question ends. For an approved question, it is the
	// number of seconds until the approval ends.
	Until int `json:"until"`
}

// AskedState is the state of a question, for a person who may answer it.
type AskedState struct {
	QuestionState
	Created time.Time `json:"created"` // time on the centre's clock
	Decided time.Time `json:"decided,omitzero"`
	Held    int       `json:"held,omitempty"`    // number of seconds for which the call still waits
	WhyNot  string    `json:"why_not,omitempty"` // why the person may not allow the call; "" if the person may
}

// Asked is a question with its state, for a person who may answer it.
type Asked struct {
	AskedState
	AskQuestion
	Laptop string `json:"laptop"` // name of the laptop
	Owner  string `json:"owner,omitempty"`
}

// AskedList has two lists for one person. The first has the waiting questions that the person may
// answer, the oldest first. The second has the past questions that the person could have answered,
// the newest first.
type AskedList struct {
	Waiting []AskedState `json:"waiting"`
	Over    []AskedState `json:"over"`
}

// Answer is a person's answer to a question. Digest is the digest of the question that the person
// was shown.
type Answer struct {
	Digest string `json:"digest"`
	Allow  bool   `json:"allow"`
	Words  string `json:"words,omitempty"`
}

// Voice is one person's answer to a question.
type Voice struct {
	Name  string `json:"name"` // the person's name, for people to read
	Key   string `json:"key"`  // key of the person
	Allow bool   `json:"allow"`
	Words string `json:"words,omitempty"` // a note for the agent
}
