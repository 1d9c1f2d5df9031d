package client

import (
	"encoding/json"

	"github.com/clawai/clawai/internal/screen"
)

// Answer is what a hook writes and ends with.
type Answer struct {
	Stdout, Stderr []byte
	Code           int
}

// Silence lets the tool run, as far as we are concerned: the client's own rules, and its
// own question, still hold. An explicit "allow" would switch them off.
func Silence() Answer { return Answer{} }

// Exit codes: clients take any other for a hook that failed, and most run the tool then.
const (
	exitSilent = 0
	exitDenied = 2
)

// maxReason is as much of a reason, in bytes, as clients show.
const maxReason = 500

// Refuse says no in every way that the client understands: which of them it goes by
// differs from client to client, and from version to version.
func (r *Row) Refuse(e Event, reason string) Answer {
	reason = line(reason)
	a := Answer{Stderr: []byte(reason + "\n"), Code: exitDenied}
	switch r.Deny {
	case Specific, TopLevel:
		a.Stdout = r.specific(e, "deny", reason)
	case Decision:
		a.Stdout = written(map[string]any{"decision": "deny", "reason": reason})
	case Permission:
		a.Stdout = written(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason})
	case Cancel:
		a.Stdout, a.Code = written(map[string]any{"cancel": true, "errorMessage": reason}), exitSilent
	case Plain:
	}
	return a
}

// Ask has the client put the question to the person; false when it would not.
func (r *Row) Ask(e Event, reason string) (Answer, bool) {
	reason = line(reason)
	switch {
	case !r.Asks && !e.Asks:
	case r.Deny == Specific, r.Deny == TopLevel:
		return Answer{Stdout: r.specific(e, "ask", reason)}, true
	case r.Deny == Permission:
		return Answer{Stdout: written(map[string]any{"permission": "ask", "user_message": reason, "agent_message": reason})}, true
	}
	return Answer{}, false
}

func (r *Row) specific(e Event, decision, reason string) []byte {
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
	return written(all)
}

// line is a reason on one line, harmless and not empty: Codex runs the tool where it is.
func line(s string) string {
	out := []rune{}
	size := 0
	for _, c := range s {
		if screen.Controls(c) {
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

func written(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts always marshal
	}
	return append(b, '\n')
}
