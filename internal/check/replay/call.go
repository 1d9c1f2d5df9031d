package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Why is the reason why a recorded decision cannot be judged again.
type Why string

// Values of Why. They are stable words of the JSON report.
const (
	Redacted   Why = "redacted"   // a rule looks at a secret that was redacted
	Cut        Why = "cut"        // a rule looks at a text of which the record has only the beginning
	LeftOut    Why = "left_out"   // a rule looks at arguments that the record does not have
	Several    Why = "several"    // one message had several requests, and the record has no arguments for them
	Malformed  Why = "malformed"  // the message was denied for its form, which the record does not have
	Unrecorded Why = "unrecorded" // a rule looks at data that no record has
	NoCall     Why = "no_call"    // for a reply: the records do not have the call
	Pinned     Why = "pinned"     // for a list entry: a pin decided, and not the rules
	Uncarried  Why = "uncarried"  // for a withheld reply: the alteration that the rules require was impossible
	Unknown    Why = "unknown"    // the record comes from a later version of clawai, or is no record
)

// Whys returns all values of Why.
func Whys() []Why {
	return []Why{Redacted, Cut, LeftOut, Several, Malformed, Unrecorded, NoCall, Pinned, Uncarried, Unknown}
}

// String returns the reason in words for people.
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
		return "a rule looks at data that is not recorded"
	case NoCall:
		return "the call that it answers is not among these records"
	case Pinned:
		return "a list entry that was compared with the approved one"
	case Uncarried:
		return "withheld because it could not be altered as the rules require"
	}
	return "no record that this version understands"
}

// Call is a recorded call, as the rules saw it.
type Call struct {
	policy.Call
	Was     policy.Action // the recorded answer of the rules; prompt if a person was asked
	Missing Missing       // the parts of the call that the record does not have
	odd     bool          // denied without a rule, perhaps for the form of the message

	lookedFor []string // the kinds of findings for which the call was searched
	empty     bool     // the call has no text that a detector could search
}

// isEmptyArgs reports whether the recorded arguments are missing, or an empty object.
func isEmptyArgs(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || string(args) == "{}"
}

// noRule is the recorded reason if the call was denied because no rule allowed it. With another
// reason and no rule, the call may have been denied for its form.
const noRule = "no rule allows it"

// methods has the request method of each subject with only one method. If a record of such a
// subject has another method, its message had several requests.
var methods = map[policy.Subject]string{
	policy.ToolSubject: "tools/call", policy.PromptSubject: "prompts/get",
	policy.SamplingSubject: "sampling/createMessage", policy.ElicitationSubject: "elicitation/create",
}

// IsJudged reports whether a record is a decision in which rules took part.
func IsJudged(e *event.Entry) bool { return e.Kind == event.Decision && e.Policy != "" }

// RebuildCall returns the call of a record. IsJudged must be true for the record. If why is not "",
// the call cannot be rebuilt.
func RebuildCall(e *event.Entry) (c Call, why Why) {
	c.Subject = policy.SubjectOf(e.Subject)
	was, err := policy.ParseAction(e.Policy)
	if err != nil {
		return c, Unknown
	}
	c.Was = was
	switch {
	case e.Method == "batch", e.Ref != "":
		return c, Several // this includes requests inside a reply to the client (e.Ref)
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
	c.Finds, c.lookedFor, c.Screened = findsOf(e), e.Looked, true // Screened is true although the call was searched only for some kinds: doubtfulRules handles rules about the other kinds
	c.empty = len(c.RequestTexts()) == 0 && len(e.Extra) == 0 && !e.ArgsCut && isEmptyArgs(e.Args)
	if redact.IsRedacted(e.Server) || redact.IsRedacted(e.Method) {
		return c, Redacted
	}
	if args := bytes.TrimSpace(e.Args); len(args) > 0 {
		if args[0] != '{' {
			return c, LeftOut // arguments that were no valid JSON are recorded as a string
		}
		c.Args = args
	}
	return c, c.Missing.readEntry(e)
}

// KnownPart returns the call with only those arguments that the record has completely. missing has
// the names of the other arguments. ok is false if the record does not have the name of the call,
// or the names of its arguments.
func (c *Call) KnownPart() (part policy.Call, missing []string, ok bool) {
	part = c.Call
	m := &c.Missing
	if m.names != "" {
		return part, nil, false
	}
	for _, g := range m.gaps {
		if len(g.path) == 0 {
			return part, nil, false
		}
		missing = append(missing, g.path[0])
	}
	if m.open && m.last != "" {
		missing = append(missing, m.last)
	}
	slices.Sort(missing)
	if missing = slices.Compact(missing); len(missing) > 0 {
		part.Args = withoutMembers(c.Args, missing)
	}
	return part, missing, part.Args != nil || len(missing) == 0
}

// IsCut reports whether the record lacks arguments and does not tell their names.
func (c *Call) IsCut() bool { return c.Missing.open }

// withoutMembers returns a JSON object without the named members; nil if object is no JSON object.
func withoutMembers(object []byte, names []string) []byte {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	out := []byte{'{'}
	for d.More() {
		t, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		name, text := t.(string)
		if err != nil || !text {
			return nil
		}
		if slices.Contains(names, name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // the error is ignored, because a string can always be encoded
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}')
}
