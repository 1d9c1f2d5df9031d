package gate

import (
	"context"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Policy is the set of rules. Its only real implementation is *policy.Policy.
type Policy interface {
	// DecideAll returns the strictest decision over all the calls. It is safe for
	// concurrent use and does not keep the slice.
	DecideAll(cs []policy.Call) policy.Decision
	// Timed reports whether a rule looks at the time of a call (policy.Call.At).
	Timed() bool
	// Labelled reports whether a rule looks at the labels of the session (policy.Call.Seen).
	Labelled() bool
	// Hint returns a folder for the agent. The rules would have allowed absolute paths below this
	// folder. It returns "" if no folder fits.
	Hint(cs []policy.Call) string
	// Revision returns a name for this version of the rules, for people. It returns "" if the
	// version has no name.
	Revision() string
	// Screens returns the kinds of findings that the condition `find` names in the rules whose On is
	// on. For calls, ruled reports whether a rule has this condition. For replies, lists and
	// uploads, ruled reports whether there is any rule about them; for lists, it is also true if
	// the policy compares lists with the approved ones or hides denied entries.
	Screens(on policy.On) (kinds []string, ruled bool)
	// FindsIn reports whether a rule with the condition `find` may match a call. If not, the gate
	// does not search the call's arguments.
	FindsIn(c *policy.Call) bool
	// Packs returns the policy's packs. A pack lists texts and patterns that rules look for in
	// addition to the built-in kinds.
	Packs() []policy.Pack
	// Pin returns how strictly the lists of a server are compared with the approved
	// lists.
	Pin(server string) policy.Pin
	// DecideReply returns the decision of rules about replies, or about list entries,
	// on the reply to calls. It does not keep the slices.
	DecideReply(on policy.On, calls []policy.Call, kinds []string) policy.Decision
	// AlterReply returns every change that a rule may make to the reply to calls, even if another
	// rule withholds the reply. It does not keep the slices.
	AlterReply(calls []policy.Call, kinds []string) []policy.Alteration
}

// Recorder writes the audit record. Record returns nil only when every event is in the log. After
// an error the gate forwards none of the exchanges, except plain replies. It has forwarded these
// already, and their events are recorded again later.
type Recorder interface {
	// Record sets each event's record id (ev.Record) and writes the events, in order, in one write.
	// It is safe for concurrent use. It must not keep the slice, the events, or memory that the
	// events point to, because the gate reuses all of it.
	Record(events ...*event.Event) error
}

// Limits counts calls against the limits of rules, for all sessions that share it. It is safe for
// concurrent use. *Meter implements Limits in memory.
type Limits interface {
	// Charge counts calls against all their limits or against none. paid is the earlier charge for
	// the same calls, or nil. Parts of paid that are unchanged stay charged. Charge gives the other
	// parts back. If both results are zero, Charge has counted nothing, and the call is denied.
	Charge(now time.Time, paid Receipt, charges []policy.Charge, cs []policy.Call) (Receipt, Excess)
}

// Receipt holds the charges of one exchange.
type Receipt interface {
	GiveBack() // takes the charges back, because the exchange was not forwarded
}

// Excess is an exceeded limit and the time until there is room. A zero Rule means that no limit is
// exceeded.
type Excess struct {
	Rule *policy.Rule
	Wait time.Duration // time until there is room; 0: never, because this call alone is more than the limit
	// Uncounted means that the call has no amount that can be counted. Such a call is denied.
	Uncounted bool
	Err       error // why nothing was counted, for the owner
}

// Ledger holds entries that the processes of one agent's session share. Processes only append
// entries, and all processes read the entries in the same order. It is safe for concurrent use.
type Ledger interface {
	// Append adds entries at the end. It returns all entries since its last call, including the new
	// ones, in the order of the ledger. After an error the entries of other processes are unknown.
	// Then nothing may be counted, and no grant is valid.
	Append(own ...Entry) (since []Entry, err error)
	// Alive reports whether the process that added an entry still runs.
	Alive(by string) bool
}

// Entry is one entry of a Ledger.
type Entry struct {
	Key    [16]byte      // identifies the counter or the grant: see keyOf and grantKey
	ID     uint64        // random id of the entry
	At     time.Time     // time of the entry, to the nanosecond
	Every  time.Duration // period for which a counter keeps the entry
	Amount int64         // not negative
	Back   bool          // this entry cancels the entry with the same key and ID
	By     string        // the process that added the entry; set by the Ledger, "" if the Ledger does not name processes
}

// Label is one thing that a session has seen (Kind), and where it came from (Source).
type Label struct{ Kind, Source string }

// Labels is the set of labels of a session. All processes of the session share it. A label is never
// removed, and adding a label twice changes nothing. It is safe for concurrent use.
type Labels interface {
	// Brought returns the labels that a message of the server brings. They do not depend on the
	// contents of the message.
	Brought(message *Exchange) []Label
	// Add adds labels to the set. When Add returns, every later Judge uses them. After an error the
	// gate withholds the message that brought the labels. Add does not keep the message.
	Add(labels []Label, message []byte) error
	// Seen returns the set in the form for the rules. It first adds the labels of other sessions
	// that the calls name.
	Seen(cs []policy.Call) policy.Seen
	// Judge returns the action that the labels require for calls that the rules allow or ask about,
	// the labels that led to it, and the reason for the agent. It returns Allow when the labels do
	// not object. A reason together with Allow is only recorded. No label has led to a Deny whose
	// cause is the call itself, or labels that cannot be read. Judge can only make a verdict
	// stricter. It does not keep the slice.
	Judge(cs []policy.Call) (a policy.Action, led policy.Seen, why string)
	// PassFiles notes the files that calls read and write, because a written file keeps the labels
	// of the session. The gate calls PassFiles before it forwards the calls or asks a person. After
	// an error the gate refuses the calls. It does not keep the slice.
	PassFiles(cs []policy.Call) error
	// Allowed is called before the gate forwards calls that Judge asked about and a person allowed.
	// It does not keep the slice.
	Allowed(cs []policy.Call)
}

// Release is a person's permission after an answer was withheld: the gate forwards the next answer
// to the same call.
type Release struct {
	Record string // the id of the withheld answer's record
	By     string // the person who released it; "" if unknown
}

// Releases holds the releases that people gave. Processes share it. It is safe for concurrent use.
type Releases interface {
	// Name returns the name by which a person releases the next answer to calls. value is the
	// digest of the calls and of their server. The name reveals nothing about the value. "" means
	// that no answer can be released here.
	Name(value [32]byte) string
	// Waits reports whether there is an unused release with this name.
	Waits(name string) bool
	// Take uses up the release with this name. ok is false when there is no such release, when it
	// has expired, or when another process has taken it.
	Take(name string) (r Release, ok bool)
}

// Found is a finding in a message: one kind in one string.
type Found struct {
	Kind string // a word of the rules, such as "secret"
	At   string // JSON pointer to the string, into the message or into the arguments of a call
	N    int    // number of findings in the string
	// Advice tells the agent the meaning of a mark in a call, and what to write instead. It is ""
	// when the mark stands for a withheld text.
	Advice string
}

// Inspection is the result of the inspection of a reply. The zero value denies.
type Inspection struct {
	Decision policy.Decision // the decision of the rules
	Found    []Found
	Looked   []string // the kinds that were searched for in the whole reply; nil when nothing, or only a part, was searched
	Sent     []byte   // the altered bytes to send; nil: the reply is sent unchanged
	Altered  []string // alterations for the owner, such as "redact secret"
	Why      string   // for the owner: which part of the rules could not be carried out; "" if all were
}

// Inspector finds secrets and other kinds in a message before any byte of the message is forwarded.
// It also makes the alterations that rules require. The gate calls it only when a rule needs it. It
// is safe for concurrent use.
//
// Sent differs from the received bytes only where rules require it. The Inspector has checked Sent
// with the frame reader, and the record holds the digests of both. The arguments of a call are
// never altered.
type Inspector interface {
	// Inspect applies the rules of p to Exchange.OriginalRaw of the reply. It changes nothing in
	// the reply. After an error, which is for the owner, the gate withholds the reply. A reply that
	// waits for a person is inspected again.
	Inspect(reply *Exchange, p Policy) (Inspection, error)
	// Alter applies the alterations of p's rules to a server's request to the client. It returns
	// the new bytes and descriptions of the alterations. After an error the gate denies the
	// request.
	Alter(request *Exchange, alters []policy.Alteration, p Policy) (sent []byte, words []string, err error)
	// Carries returns the findings in the arguments or texts of a call. It looks for the kinds that
	// p's rules about calls ask about. After an error the findings are unknown.
	Carries(c *policy.Call, p Policy) ([]Found, error)
	// Bars returns, for the agent, why the current lists of the servers do not allow the calls. It
	// returns "" when the calls are allowed.
	Bars(cs []policy.Call, p Policy) (why string)
}

// Approver asks a person. Ask returns when there is an answer, when ctx ends, or when no person can
// be asked. Every error is a deny. The gate calls Ask once for each waiting question, each time
// from another goroutine, and calls may overlap. An Approver that can show only one question makes
// the others wait. An answer must be for the Question that Ask got. Package gatetest holds the
// tests that every implementation must pass.
//
// When ctx ends, context.Cause is the reason to tell the person: ErrWithdrawn, ErrResolved,
// ErrClosed (or any other cause: the connection is gone) or context.DeadlineExceeded. An answer
// that Ask returns later changes nothing.
type Approver interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ErrKept means that the call is denied, but a team's centre keeps its question. After a person has
// allowed the call there, the same call passes. Answer.Note tells the agent how this works.
var ErrKept = errors.New("nobody has answered at the team's centre yet")

// Reasons why a question ended before it was answered.
var (
	ErrWithdrawn = errors.New("the caller withdrew the call")
	ErrClosed    = errors.New("the session is over")
	// ErrResolved is wrapped by an error with more words: whether the call was allowed or denied,
	// and whether the rules or an earlier answer decided.
	ErrResolved = errors.New("settled")
)

// Concluder tells the person the result of an answer.
type Concluder interface {
	// Concluded is called once for each question for which Ask returned an Answer without an error,
	// even if the Answer was too late. q.Number identifies the question. v is the final verdict:
	// Forward or Refuse has already been called. Close waits for Concluded.
	Concluded(q Question, v Verdict)
}

// Question is shown to a person. It holds the calls exactly as they would be executed. Everything
// in it except Rule comes from messages and is untrusted.
type Question struct {
	Number     uint64        // number of the question in this session, from 1
	Calls      []policy.Call // at least one; several when one result carries several requests to the client
	Rule       policy.Rule   // the first rule that asked
	Digest     [32]byte      // digest of the frame's bytes; the answer holds only for this frame
	Asked      time.Time
	Deadline   time.Time
	Session    bool   // AllowSession is possible for these calls; otherwise AllowSession counts as AllowOnce
	Server     string // the server's name or, without a name, a name guessed from the command
	Revision   string // revision of the policy that asked; "" for none
	Client     Client // the caller's own form; nil when it cannot be used
	ClientName string // the client's own name and version; "" when it has not sent them

	// Why is a reason for the question in addition to the rule, such as the contents of the reply
	// or the labels of the session. It is "" if there is none. It may contain text of a message.
	Why string
	// Reply means that the calls were already made and the question is about their reply. The
	// answer to such a question cannot become a rule.
	Reply bool
	Finds []string // findings in the reply, each with kind, number and place; nil for none

	// Ticket names the question in the queue, where a person can answer it too. The gate leaves
	// Ticket empty. An Approver that puts the question into the queue sets Ticket for the other
	// Approvers.
	Ticket string

	// Value is the digest of the server and of everything in the calls that the server gets. If the
	// client sends the same call again, Value is the same, but Digest is not.
	Value [32]byte

	// Preview is the result of a preview of the command, as JSON. It is nil if the rule wants no
	// preview. The gate leaves Preview empty. The preview does not influence the decision.
	Preview []byte
}

// Bound tells which other calls are also covered by an answer that holds for the session
// (AllowSession). It is safe for concurrent use.
type Bound interface {
	// Covers reports whether an answer with this bound also covers these calls of the same rule.
	// The bound must cover the calls under every reading. Calls with a reason for caution that the
	// person was not shown are never covered. Covers does not keep the slice.
	Covers(cs []policy.Call) bool
	// Title returns a description for people. The description is safe to show.
	Title() string
}

// Client is the caller's own interface (MCP elicitation), used as a way to ask. The gate passes it
// to the Approver with the question. Its answer need not come from a person.
type Client interface {
	// Elicit shows message and a flat form, and returns the response. schema is the JSON Schema
	// object of the form. Elicit may be called once for each Question and ends with ctx.
	Elicit(ctx context.Context, message string, schema []byte) (Elicited, error)
	// Name returns the client's own name and version. Both are untrusted.
	Name() (name, version string)
}

// Elicited is the result of an elicitation (MCP 2025-06-18 and later). Action is
// accept, decline or cancel; Content is the JSON object of the form when accepted.
type Elicited struct {
	Action  string
	Content []byte
}

// Reply is a person's reply. The zero value is a deny.
type Reply uint8

// The replies a person can give.
const (
	DenyOnce Reply = iota
	AllowOnce
	AllowSession // allows this call again, or all calls within a Bound, until the session ends, the policy changes, or a person revokes it
	AllowAlways  // allows the call, and a new allow rule was written above the rule that asked
	DenyAlways   // denies the call, and a new deny rule was written above the rule that asked
	HandOver     // allows without a question, because the client itself asks a person before it continues
)

// Allows reports whether the reply lets the call through.
func (r Reply) Allows() bool {
	return r == AllowOnce || r == AllowSession || r == AllowAlways || r == HandOver
}

// String returns the word for the record.
func (r Reply) String() string {
	switch r {
	case AllowOnce:
		return "once"
	case AllowSession:
		return "session"
	case AllowAlways:
		return "always"
	case DenyAlways:
		return "deny always"
	case HandOver:
		return "handed over"
	case DenyOnce:
	}
	return "deny"
}

// Answer is a person's reply, with its channel and the person's name.
type Answer struct {
	Reply  Reply
	Digest [32]byte // must equal the digest of the question; otherwise the answer is a deny
	// Approval is the approval that a team's centre has checked. It is nil for the answer of a
	// person at this machine. If the rule names approvers, a person at this machine can only deny
	// the call.
	Approval *policy.Approval
	Channel  string // "terminal", "queue", "elicitation", ...
	By       string // the person as far as the channel knows: an account or a client's name
	Words    string // the person's text for the agent; trusted, but shown as plain text
	// Note names the rule that was written, for the record. With an error, Note is the reason why
	// no person could be asked. Then it contains no path, because the agent reads it.
	Note string
	// Scope is the word for the calls that AllowSession covers; "" and "exact" mean only this call.
	// The Approver makes Bound from Scope, and the gate reads only Bound.
	Scope string
	Bound Bound
}
