package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// The JSON-RPC codes of the gate's own errors. They are outside -32768..-32000, which JSON-RPC and
// MCP reserve, so that no client mistakes the gate's answer for one of the server, or concludes
// from it which version the server speaks. They never change.
const (
	CodeRefused = 4400 // the request could be read in more than one way
	CodeDenied  = 4403 // the policy or a person denied it, or no person answered
	CodeGone    = 4502 // the server ended before it answered
)

// metaKey is the _meta member of a denied tool result that holds the fields for programs:
// decision, stage, code, record.
const metaKey = "io.github.clawai/denial"

// Caller is the sender of a request that waits for an answer, and the form of that answer.
type Caller struct {
	ID     []byte // the request's id token, unchanged
	Method string // the request's decoded method
	Modern bool   // Message.Modern of the request
}

// Denial is a refusal as the agent reads it. It never holds a rule's position, a path of the
// policy, or a secret. Text from the wire is escaped here.
type Denial struct {
	What        policy.Call // the denied call; for an input request, the requested call
	Stage       string      // the stage of the gate that decided
	Code        string      // stable word for programs
	Description string      // the deciding rule's description, as its owner wrote it
	Reason      string      // a clause with the reason, if the rule has no description; "" otherwise
	Hint        string      // a folder below which absolute paths are allowed; "" for none
	Record      string      // the record id to quote to the owner
	Unanswered  bool        // a person should have been asked and did not decide
	Team        bool        // only approvers at a team's centre can allow the call
	Ran         bool        // the call ran, and its result is withheld
	File        string      // for a withheld result: the file that the call names; "" for none
	Releasable  bool        // the owner can release the next result of the same call
	AsError     bool        // answer even tools/call with a JSON-RPC error
}

// AnswerFrame returns the frame that answers the caller. A tools/call gets a tool result with
// isError, which the model reads and which does not end the session; any other request gets a
// JSON-RPC error.
func (d Denial) AnswerFrame(to Caller) []byte {
	if to.Method == "tools/call" && !d.AsError {
		complete := ""
		if to.Modern {
			complete = `"resultType":"complete",`
		}
		return ResultLine(to.ID, fmt.Appendf(nil, `{%s"content":[{"type":"text","text":%s}],"isError":true,"_meta":{"`+metaKey+`":%s}}`,
			complete, escape.QuoteText(d.DescribeDenial()), machineFields(d.Stage, d.Code, d.Record)))
	}
	code := CodeDenied
	if to.lacksMethod() { // shows the client that a retry in another way is useless
		code = codeNoMethod
	}
	return errorReply(to.ID, code, d.DescribeDenial(), machineFields(d.Stage, d.Code, d.Record))
}

// codeNoMethod is JSON-RPC's own code (JSON-RPC 2.0, section 5.1).
const codeNoMethod = -32601

// lacksMethod reports whether the caller's version has dropped the method, such as tasks/result
// since 2026-07-28.
func (to Caller) lacksMethod() bool { return to.Modern && IsRemoved(to.Method) }

// IsRemoved reports whether 2026-07-28 has dropped a method of earlier versions.
func IsRemoved(method string) bool {
	row := methodNamed(method)
	return row != nil && row.In&(V20260728|Extension) == 0
}

// DescribeDenial returns the text of a denial: the refused call, who refused it, the reason, and
// what the reader can do.
func (d Denial) DescribeDenial() string {
	var b strings.Builder
	what := subjectWord(d.What)
	switch {
	case d.Ran:
		b.WriteString("Withheld: what came back from " + what)
		if d.File != "" {
			b.WriteString(" for " + quoteName(d.File))
		}
	case d.Unanswered && d.Team:
		b.WriteString("Not done: " + what + " needs the approval of the team")
	case d.Unanswered:
		b.WriteString("Not done: " + what + " needs the owner's approval")
	case d.Stage == "policy", d.Stage == "rate":
		b.WriteString("Refused by the owner's policy: " + what)
	default:
		b.WriteString("Refused: " + what)
	}
	if d.Description != "" {
		b.WriteString(" (" + visibleText(d.Description, 300) + ")")
	}
	if d.Reason != "" {
		b.WriteString(": " + visibleText(d.Reason, 600))
	}
	switch {
	case d.Ran:
		b.WriteString(". " + d.describeRun())
	case d.Stage == "rate": // the reason tells when to try again
		b.WriteString(".")
	case d.Hint != "":
		b.WriteString(". Try again with an absolute path below " + visibleText(d.Hint, 300) + ".")
	case d.Code == "marker": // the reason tells what to write instead
		b.WriteString(". Trying again with the mark will not help.")
	case d.Code == "approval_waits": // the reason tells when to try again
		b.WriteString(".")
	case !d.Unanswered:
		b.WriteString(". Trying again will not help.")
	case d.Team:
		b.WriteString(". Only the approvers at the team's centre can allow it.")
	case d.Code == "not_answered": // a person could have answered with clawai approve
		b.WriteString(". Only the owner can allow it: when asked (clawai approve shows the question), or with a rule in the policy.")
	default:
		b.WriteString(". Only the owner can allow it: when asked, or with a rule in the policy.")
	}
	if d.Record != "" && !(d.Ran && d.Releasable) { // otherwise the command clawai release already names the record
		b.WriteString(" The owner finds it as record " + visibleText(d.Record, 100) + ".")
	}
	return b.String()
}

// FileArguments lists the arguments by which a person recognises the file of a call, the most useful
// first, in lower case and without signs between words.
var FileArguments = []string{
	"path", "filepath", "file", "filename", "notebookpath", "source", "sourcepath", "directory", "dir", "folder", "paths", "files",
}

// PlainName returns the name of an argument in lower case and without signs between words.
func PlainName(name string) string { return strings.ToLower(wordSigns.Replace(name)) }

var wordSigns = strings.NewReplacer("_", "", "-", "")

// NamedFile returns the file that the arguments of a call name; "" for none. The name
// comes from the call: escape it before it is shown.
func NamedFile(args []byte) string {
	best, at := "", len(FileArguments)
	for name, value := range jsonscan.ValueOf(args).Members() {
		if i := slices.Index(FileArguments, PlainName(name.Text())); i >= 0 && i < at && value.Kind() == jsonscan.String {
			best, at = strings.Clone(value.Text()), i
		}
	}
	return best
}

// describeRun returns a text about a call that was made, but whose answer is withheld.
func (d Denial) describeRun() string {
	again := ""
	if d.Releasable && d.Record != "" {
		again = " The owner lets the next answer to the very same call through with: clawai release " + visibleText(d.Record, 100) + "."
	}
	if d.What.Subject == policy.ToolSubject {
		return "The tool did run: whatever it does is done. Do not call it again to get its answer; only the owner can release one." + again
	}
	return "Asking again will not help; only the owner can release it." + again
}

// RefusalAnswer answers a request that was not admitted, with its id. It returns nil when there
// is nothing to answer: a notification, a response, or an uncertain id.
func RefusalAnswer(r *frame.Refusal, record string) []byte {
	if !r.Request || len(r.ID) == 0 {
		return nil
	}
	text := "Refused: the request can be read in more than one way or breaks the protocol: " + visibleText(r.Reason, 300) + "."
	return errorReply(r.ID, CodeRefused, text, machineFields("frame", r.Code, record))
}

// UnusableAnswer answers a request that was forwarded and got an invalid answer. The server may
// have carried out the request.
func UnusableAnswer(id []byte, r *frame.Refusal, record string) []byte {
	text := "The call was passed on, but its answer cannot be: " + visibleText(r.Reason, 300) + "."
	return errorReply(id, CodeRefused, text, machineFields("frame", r.Code, record))
}

// ServerEndedAnswer answers a request that was in flight when the server ended. detail is an exit
// code or a signal.
func ServerEndedAnswer(id []byte, detail string) []byte {
	text := "The server ended before it answered."
	if detail != "" {
		text = "The server ended before it answered: " + visibleText(detail, 300) + "."
	}
	return errorReply(id, CodeGone, text, nil)
}

// ProgressNotification returns the n-th progress notification (from 1) for a request that waits
// for a person's decision. Its values stay far below 1, so that the server's own values, which
// must increase, can follow.
func ProgressNotification(token []byte, n int, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%.6f,"message":%s}}`,
		token, float64(n)/1e6, escape.QuoteText(visibleText(message, 300)))
}

// errorReply answers the request id with an error; data is JSON, or nil.
func errorReply(id []byte, code int, text string, data []byte) []byte {
	if data != nil {
		data = append([]byte(`,"data":`), data...)
	}
	return ErrorLine(id, fmt.Appendf(nil, `{"code":%d,"message":%s%s}`, code, escape.QuoteText(text), data))
}

// machineFields returns the fields for programs.
func machineFields(stage, code, record string) []byte {
	return fmt.Appendf(nil, `{"decision":"deny","stage":%s,"code":%s,"record":%s}`, escape.QuoteText(stage), escape.QuoteText(code), escape.QuoteText(record))
}
