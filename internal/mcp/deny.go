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
// MCP reserve. So no client mistakes the gate's error for an error of the server, or concludes the
// server's version from it. The codes never change.
const (
	CodeRefused = 4400 // the request can be read in more than one way
	CodeDenied  = 4403 // the policy or a person denied the request, or no person answered
	CodeGone    = 4502 // the server ended before it answered
)

// metaKey is the member of _meta in a denied tool result. It holds the fields for programs:
// decision, stage, code, record.
const metaKey = "io.github.clawai/denial"

// Caller is the sender of a request that waits for an answer, with the form of this answer.
type Caller struct {
	ID     []byte // the id token of the request, unchanged
	Method string // the decoded method of the request
	Modern bool   // Message.Modern of the request
}

// Denial is a refusal in the form for the agent. It never holds the position of a rule, a path of
// the policy, or a secret. This package escapes those texts of a denial that come from messages.
type Denial struct {
	What        policy.Call // the denied call; if an input request is denied, its call
	Stage       string      // the stage of the gate that decided
	Code        string      // the reason as one word, for programs; later versions keep the word
	Description string      // description of the deciding rule, in its owner's words
	Reason      string      // a clause with the reason; "" if the rule's description is used instead
	Hint        string      // a folder below which absolute paths are allowed; "" if there is none
	Record      string      // the id of the record, which the agent can quote to the owner
	Unanswered  bool        // a person was needed but did not decide
	Team        bool        // only the approvers at a team's centre can allow the call
	Ran         bool        // the call was executed, and its result is withheld
	File        string      // for a withheld result: the file in the call; "" if there is none
	Releasable  bool        // the owner can release the next result of the same call
	AsError     bool        // the answer is a JSON-RPC error, even for tools/call
}

// AnswerFrame returns the frame with the denial for the caller. For a tools/call it is a tool
// result with isError, because the model reads this and the session continues. For any other
// request it is a JSON-RPC error.
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
	if to.lacksMethod() { // tells the client that another attempt is useless
		code = codeNoMethod
	}
	return errorReply(to.ID, code, d.DescribeDenial(), machineFields(d.Stage, d.Code, d.Record))
}

// codeNoMethod is the code "method not found" of JSON-RPC 2.0, section 5.1.
const codeNoMethod = -32601

// lacksMethod reports whether the method does not exist any more in the caller's version, such as
// tasks/result since 2026-07-28.
func (to Caller) lacksMethod() bool { return to.Modern && IsRemoved(to.Method) }

// IsRemoved reports whether a method of earlier versions does not exist in 2026-07-28.
func IsRemoved(method string) bool {
	row := methodNamed(method)
	return row != nil && row.In&(V20260728|Extension) == 0
}

// DescribeDenial returns the text of a denial. It names the refused call, who refused it, and the
// reason. It also tells the reader how to continue.
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
	case d.Stage == "rate": // the reason already tells when to try again
		b.WriteString(".")
	case d.Hint != "":
		b.WriteString(". Try again with an absolute path below " + visibleText(d.Hint, 300) + ".")
	case d.Code == "marker": // the reason already tells the text to write instead
		b.WriteString(". Trying again with the mark will not help.")
	case d.Code == "approval_waits": // the reason already tells when to try again
		b.WriteString(".")
	case !d.Unanswered:
		b.WriteString(". Trying again will not help.")
	case d.Team:
		b.WriteString(". Only the approvers at the team's centre can allow it.")
	case d.Code == "not_answered": // a person could still have answered with clawai approve
		b.WriteString(". Only the owner can allow it: when asked (clawai approve shows the question), or with a rule in the policy.")
	default:
		b.WriteString(". Only the owner can allow it: when asked, or with a rule in the policy.")
	}
	if d.Record != "" && !(d.Ran && d.Releasable) { // a releasable denial already has the record in the text, in the command clawai release
		b.WriteString(" The owner finds it as record " + visibleText(d.Record, 100) + ".")
	}
	return b.String()
}

// FileArguments lists the names of arguments by which a person recognises the file of a call, the
// most useful first. They are in the form of PlainName.
var FileArguments = []string{
	"path", "filepath", "file", "filename", "notebookpath", "source", "sourcepath", "directory", "dir", "folder", "paths", "files",
}

// PlainName returns the name of an argument in lower case, without the signs - and _.
func PlainName(name string) string { return strings.ToLower(wordSigns.Replace(name)) }

var wordSigns = strings.NewReplacer("_", "", "-", "")

// NamedFile returns the file in the arguments of a call, or "". The text comes from the call, so it
// must be escaped before it is shown.
func NamedFile(args []byte) string {
	best, at := "", len(FileArguments)
	for name, value := range jsonscan.ValueOf(args).Members() {
		if i := slices.Index(FileArguments, PlainName(name.Text())); i >= 0 && i < at && value.Kind() == jsonscan.String {
			best, at = strings.Clone(value.Text()), i
		}
	}
	return best
}

// describeRun returns a text for a call that was executed and whose answer is withheld.
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

// RefusalAnswer returns the error answer to a request that was not admitted. It returns nil if
// there can be no answer: for a notification, a response, or an uncertain id.
func RefusalAnswer(r *frame.Refusal, record string) []byte {
	if !r.Request || len(r.ID) == 0 {
		return nil
	}
	text := "Refused: the request can be read in more than one way or breaks the protocol: " + visibleText(r.Reason, 300) + "."
	return errorReply(r.ID, CodeRefused, text, machineFields("frame", r.Code, record))
}

// UnusableAnswer returns the error answer to a request that was forwarded and got an invalid
// answer. The server may have executed the request.
func UnusableAnswer(id []byte, r *frame.Refusal, record string) []byte {
	text := "The call was passed on, but its answer cannot be: " + visibleText(r.Reason, 300) + "."
	return errorReply(id, CodeRefused, text, machineFields("frame", r.Code, record))
}

// ServerEndedAnswer returns the error answer to a request that was in flight when the server ended.
// detail is an exit code or a signal.
func ServerEndedAnswer(id []byte, detail string) []byte {
	text := "The server ended before it answered."
	if detail != "" {
		text = "The server ended before it answered: " + visibleText(detail, 300) + "."
	}
	return errorReply(id, CodeGone, text, nil)
}

// ProgressNotification returns the n-th progress notification (from 1) for a request that waits for
// a person. Its values stay far below 1. So the server's own values can follow, which must be
// larger.
func ProgressNotification(token []byte, n int, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%.6f,"message":%s}}`,
		token, float64(n)/1e6, escape.QuoteText(visibleText(message, 300)))
}

// errorReply returns an error answer for a request id. data is JSON or nil.
func errorReply(id []byte, code int, text string, data []byte) []byte {
	if data != nil {
		data = append([]byte(`,"data":`), data...)
	}
	return ErrorLine(id, fmt.Appendf(nil, `{"code":%d,"message":%s%s}`, code, escape.QuoteText(text), data))
}

// machineFields returns the fields of a denial for programs, as JSON.
func machineFields(stage, code, record string) []byte {
	return fmt.Appendf(nil, `{"decision":"deny","stage":%s,"code":%s,"record":%s}`, escape.QuoteText(stage), escape.QuoteText(code), escape.QuoteText(record))
}
