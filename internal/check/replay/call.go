package replay

import (
	"bytes"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Why says why a recorded decision cannot be judged again.
type Why string

// The reasons, each a stable word of the JSON report.
const (
	Redacted   Why = "redacted"   // a rule looks at a secret that was replaced
	Cut        Why = "cut"        // a rule looks at a text of which the record keeps the beginning
	LeftOut    Why = "left_out"   // a rule looks at arguments that were left out
	Several    Why = "several"    // several requests in one message, of which the record keeps no arguments
	Malformed  Why = "malformed"  // it was denied for its shape, which is not recorded
	Unrecorded Why = "unrecorded" // a rule looks at what no record keeps
	NoCall     Why = "no_call"    // of an answer: the call it answers is not among the records
	Pinned     Why = "pinned"     // of a list's entry: it was held to what was approved
	Uncarried  Why = "uncarried"  // of what was withheld: rules could not be carried out on it
	Unknown    Why = "unknown"    // the record of a later version, or of none
)

// Whys lists the reasons.
func Whys() []Why {
	return []Why{Redacted, Cut, LeftOut, Several, Malformed, Unrecorded, NoCall, Pinned, Uncarried, Unknown}
}

// String is the reason for people.
func (w Why) String() string {
	switch w {
	case Redacted:
		return "a secret that a rule looks at was redacted"
	case Cut:
		return "a long text that a rule looks at was cut"
	case LeftOut:
		return "arguments that a rule looks at were left out"
	case Several:
		return "several requests in one message"
	case Malformed:
		return "denied for its shape, which is not recorded"
	case Unrecorded:
		return "a rule looks at what is not recorded"
	case NoCall:
		return "the call that it answers is not among these records"
	case Pinned:
		return "an entry of a list that was held to what was approved"
	case Uncarried:
		return "withheld because rules could not be carried out on it"
	}
	return "no record that this version understands"
}

// Call is a decision of the record as the rules saw it.
type Call struct {
	policy.Call
	Was     policy.Action // what the rules alone said; "a person said so" is prompt
	Missing Missing       // what the record does not keep
	odd     bool          // it was denied for what may have been its shape

	lookedFor []string // kinds: of those that were not found it is known, too
	empty     bool     // it carries nothing in which something could be found
}

// isEmptyArgs says that no arguments are recorded, or an object without members.
func isEmptyArgs(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || string(args) == "{}"
}

// noRule is the reason of a denial for which only the rules are a reason; any
// other without a rule may be of the message's shape.
const noRule = "no rule allows it"

// methods are those of the subjects that have one. A record that has another
// beside them is of a message that carries the request of its own among others.
var methods = map[policy.Subject]string{
	policy.ToolSubject: "tools/call", policy.PromptSubject: "prompts/get",
	policy.SamplingSubject: "sampling/createMessage", policy.ElicitationSubject: "elicitation/create",
}

// IsJudged reports whether a record is of a decision that the rules had a part in.
func IsJudged(e *event.Entry) bool { return e.Kind == event.Decision && e.Policy != "" }

// RebuildCall gives the call of a record for which Judged holds. A reason that is not
// "" says that there is none to be had.
func RebuildCall(e *event.Entry) (c Call, why Why) {
	c.Subject = policy.SubjectOf(e.Subject)
	was, err := policy.ParseAction(e.Policy)
	if err != nil {
		return c, Unknown
	}
	c.Was = was
	switch {
	case e.Method == "batch", e.Ref != "":
		return c, Several // also what an answer asks of the client in passing
	case c.Subject == policy.NoSubject, len(e.Names) == 0:
		if was == policy.Deny {
			return c, Malformed
		}
		return c, Unknown
	case methods[c.Subject] != "" && e.Method != methods[c.Subject] && !(c.Subject == policy.ToolSubject && e.Method == builtin.Method):
		return c, Several
	case c.Subject == policy.MethodSubject && (len(e.Names) != 1 || e.Names[0] != e.Method):
		return c, Several
	}
	c.Server, c.Method, c.Names = e.Server, e.Method, e.Names
	c.Facts = e.Facts
	c.odd = was == policy.Deny && e.RuleLine == 0 && e.Reason != "" && e.Reason != noRule && !strings.HasPrefix(e.Reason, "read as ")
	c.Finds, c.lookedFor, c.Screened = findsOf(e), e.Looked, true // rules about others are left out (doubtful)
	c.empty = len(c.RequestTexts()) == 0 && len(e.Extra) == 0 && !e.ArgsCut && isEmptyArgs(e.Args)
	if redact.IsRedacted(e.Server) || redact.IsRedacted(e.Method) {
		return c, Redacted
	}
	if args := bytes.TrimSpace(e.Args); len(args) > 0 {
		if args[0] != '{' {
			return c, LeftOut // what could not be read as JSON is kept as a text
		}
		c.Args = args
	}
	return c, c.Missing.readEntry(e)
}
