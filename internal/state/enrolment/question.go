package enrolment

import "encoding/json"

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

// Voice is what one person said.
type Voice struct {
	Name  string `json:"name"` // for people to read
	Key   string `json:"key"`  // of the principal
	Allow bool   `json:"allow"`
	Words string `json:"words,omitempty"` // a note for the agent
}
