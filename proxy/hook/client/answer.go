package client

import (
	"encoding/json"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Answer is the output and the exit code of a hook.
type Answer struct {
	Stdout, Stderr []byte
	Code           int
}

// AnswerAllow returns the answer that lets the tool run, or the answer to an event without a
// decision. The answer is empty if the client runs the tool when the hook writes nothing. An
// explicit "allow" could turn off the client's own rules and questions.
func (r *Row) AnswerAllow(e Event) Answer {
	text := r.Allow
	if e.Kind != Before {
		if text = r.Pass; e.Pass != "" {
			text = e.Pass
		}
	}
	if text == "" {
		return Answer{}
	}
	return Answer{Stdout: []byte(text + "\n")}
}

// Exit codes of a hook. Clients treat any other code as a failed hook, and most of them then run
// the tool.
const (
	exitSilent = 0
	exitDenied = 2
)

// maxReason is the maximum length in bytes of a reason. A longer reason is cut.
const maxReason = 500

// AnswerDeny returns a denial in every form that the client may read (stdout, stderr, exit code).
// It uses all forms because clients, and versions of one client, read different forms.
func (r *Row) AnswerDeny(e Event, reason string) Answer {
	reason = singleLine(reason)
	a := Answer{Stderr: []byte(reason + "\n"), Code: exitDenied}
	if r.Exit0 {
		a.Code = exitSilent
	}
	switch r.Deny {
	case Specific, TopLevel:
		a.Stdout = r.hookOutput(e, "deny", reason)
	case Decision:
		a.Stdout = marshalLine(map[string]any{"decision": "deny", "reason": reason})
	case Block:
		a.Stdout = marshalLine(map[string]any{"decision": "block", "reason": reason})
	case Permission:
		a.Stdout = marshalLine(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason})
	case Cancel:
		a.Stdout = marshalLine(map[string]any{"cancel": true, "errorMessage": reason})
	case Plain:
	}
	return a
}

// AnswerAsk returns the answer that makes the client ask the person. It returns false if the client
// cannot do this.
func (r *Row) AnswerAsk(e Event, reason string) (Answer, bool) {
	reason = singleLine(reason)
	switch {
	case !r.Asks && !e.Asks:
	case r.Deny == Specific, r.Deny == TopLevel:
		return Answer{Stdout: r.hookOutput(e, "ask", reason)}, true
	case r.Deny == Permission:
		return Answer{Stdout: marshalLine(map[string]any{"permission": "ask", "user_message": reason, "agent_message": reason})}, true
	}
	return Answer{}, false
}

// IsDenial reports whether the client treats the answer as a denial.
func (r *Row) IsDenial(a Answer) bool {
	if a.Code == exitDenied {
		return true
	}
	var said struct {
		Decision, Permission string
		Cancel               bool
	}
	return a.Code == exitSilent && json.Unmarshal(a.Stdout, &said) == nil &&
		(said.Cancel && r.Deny == Cancel || said.Permission == "deny" && r.Deny == Permission || r.Deny == Decision && said.Decision == "deny")
}

func (r *Row) hookOutput(e Event, decision, reason string) []byte {
	name := e.Name
	if name == "" {
		name = "PreToolUse"
	}
	all := map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": name, "permissionDecision": decision, "permissionDecisionReason": reason,
	}}
	if r.Deny == TopLevel {
		all["permissionDecision"], all["permissionDecisionReason"] = decision, reason
	}
	return marshalLine(all)
}

// singleLine returns a reason as one line without control characters. It never returns an empty
// text, because Codex runs the tool if the reason is empty.
func singleLine(s string) string {
	out := []rune{}
	size := 0
	for _, c := range s {
		if textclass.IsControl(c) {
			c = ' '
		}
		if size += len(string(c)); size > maxReason {
			break
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return "denied"
	}
	return string(out)
}

func marshalLine(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen, because strings and maps of strings can always be marshalled
	}
	return append(b, '\n')
}
