package export

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// column is one piece of information in a record, with its name in each form. CEF has names for
// some pieces, and six fields whose names the sender chooses (cs1Label). For all other pieces we
// use our own names. If a column has no name in a form, the form puts its text into another place.
type column struct {
	otlp, cef, label, syslog string
	value                    func(e *event.Entry) string // returns the text of the column; "" if the event has no text for it
	long                     bool                        // the text may be long, so its limit is room.long
}

// columns is the only list of all columns. The names that begin with mcp., gen_ai., jsonrpc. and
// error. come from OpenTelemetry's conventions for MCP.
var columns = []column{
	{otlp: "mcp.method.name", cef: "requestMethod", syslog: "method", value: func(e *event.Entry) string { return e.Method }},
	{otlp: "gen_ai.operation.name", value: operationName},
	{otlp: "gen_ai.tool.name", cef: "cs1", label: "tool", syslog: "tool", value: nameOf("tool")},
	{otlp: "gen_ai.prompt.name", cef: "clawaiPrompt", syslog: "prompt", value: nameOf("prompt")},
	{otlp: "mcp.resource.uri", cef: "request", syslog: "resource", value: nameOf("resource")},
	{otlp: "clawai.names", cef: "clawaiNames", syslog: "names", value: otherNames},
	{otlp: "gen_ai.tool.call.arguments", cef: "cs4", label: "arguments", syslog: "arguments", long: true, value: func(e *event.Entry) string { return argsOf(e, true) }},
	{otlp: "clawai.arguments", cef: "cs4", label: "arguments", syslog: "arguments", long: true, value: func(e *event.Entry) string { return argsOf(e, false) }},
	{otlp: "clawai.arguments_cut", cef: "clawaiArgumentsCut", syslog: "arguments_cut", value: func(e *event.Entry) string { return truth(e.ArgsCut) }},
	{otlp: "jsonrpc.request.id", cef: "clawaiRequestId", syslog: "id", value: func(e *event.Entry) string { return string(e.ID) }},
	{otlp: "error.type", cef: "clawaiErrorType", syslog: "error", value: errorType},
	{otlp: "clawai.server", cef: "cs3", label: "server", syslog: "server", value: func(e *event.Entry) string { return e.Server }},
	{otlp: "clawai.server_guess", cef: "clawaiServerGuess", syslog: "server_guess", value: func(e *event.Entry) string { return e.ServerGuess }},
	{otlp: "clawai.decision", cef: "act", syslog: "decision", value: func(e *event.Entry) string { return e.Decision }},
	{otlp: "clawai.policy", cef: "clawaiPolicy", syslog: "policy", value: func(e *event.Entry) string { return e.Policy }},
	{otlp: "clawai.observed", cef: "clawaiObserved", syslog: "observed", value: func(e *event.Entry) string { return truth(e.IsObserved()) }},
	{otlp: "clawai.outcome", cef: "outcome", syslog: "outcome", value: outcomeOf},
	{otlp: "clawai.stage", cef: "clawaiStage", syslog: "stage", value: func(e *event.Entry) string { return e.Stage }},
	{otlp: "clawai.code", cef: "clawaiCode", syslog: "code", value: func(e *event.Entry) string { return e.Code }},
	{otlp: "clawai.reason", cef: "reason", syslog: "reason", value: func(e *event.Entry) string { return e.Reason }},
	{otlp: "clawai.rule", cef: "cs2", label: "rule", syslog: "rule", value: rulePlace},
	{otlp: "clawai.rule_description", cef: "clawaiRuleDescription", syslog: "rule_description", value: func(e *event.Entry) string { return e.RuleText }},
	{otlp: "clawai.labels", cef: "clawaiLabels", syslog: "labels", value: func(e *event.Entry) string { return strings.Join(e.Labels.LabelWords(), ", ") }},
	{otlp: "clawai.finds", cef: "clawaiFinds", syslog: "finds", value: func(e *event.Entry) string { return strings.Join(e.Finds, ", ") }},
	{otlp: "clawai.altered", cef: "clawaiAltered", syslog: "altered", value: func(e *event.Entry) string { return strings.Join(e.Altered, ", ") }},
	{otlp: "clawai.answer", cef: "clawaiAnswer", syslog: "answer", value: func(e *event.Entry) string { return e.Answer }},
	{otlp: "clawai.answered_by", cef: "suser", syslog: "by", value: func(e *event.Entry) string { return e.By }},
	{otlp: "clawai.channel", cef: "clawaiChannel", syslog: "channel", value: func(e *event.Entry) string { return e.Channel }},
	{otlp: "clawai.waited_ms", cef: "clawaiWaitedMs", syslog: "waited_ms", value: waitedText},
	{otlp: "clawai.detail", cef: "clawaiDetail", syslog: "detail", value: func(e *event.Entry) string { return e.Detail }},
	{otlp: "clawai.invocation", cef: "clawaiInvocation", syslog: "invocation", value: func(e *event.Entry) string { return e.Invocation }},
	{otlp: "clawai.kind", cef: "cat", value: func(e *event.Entry) string { return string(e.Kind) }}, // syslog has the kind in MSGID
	{otlp: "clawai.session", cef: "cs5", label: "session", syslog: "session", value: func(e *event.Entry) string { return e.Session }},
	{otlp: "clawai.record", cef: "externalId", syslog: "record", value: func(e *event.Entry) string { return e.Record }},
	{otlp: "clawai.ref", cef: "cs6", label: "ref", syslog: "ref", value: func(e *event.Entry) string { return e.Ref }},
	{otlp: "clawai.digest", cef: "clawaiDigest", syslog: "digest", value: func(e *event.Entry) string { return e.Digest }},
	{otlp: "clawai.hash", cef: "clawaiHash", syslog: "hash", value: chainHash},
}

// operationName returns the word that OpenTelemetry's conventions use for a call of a tool.
func operationName(e *event.Entry) string {
	if e.Subject == "tool" {
		return "execute_tool"
	}
	return ""
}

// nameOf returns a function. The function returns the first name in a record about this kind of
// subject; "" for any other record.
func nameOf(subject string) func(*event.Entry) string {
	return func(e *event.Entry) string {
		if e.Subject == subject && len(e.Names) > 0 {
			return e.Names[0]
		}
		return ""
	}
}

// otherNames returns the names in a record that have no column of their own, as JSON.
func otherNames(e *event.Entry) string {
	switch e.Subject {
	case "tool", "prompt", "resource":
		if len(e.Names) < 2 {
			return ""
		}
	}
	if len(e.Names) == 0 {
		return ""
	}
	return string(mustMarshal(e.Names))
}

func argsOf(e *event.Entry, ofTool bool) string {
	if (e.Subject == "tool") != ofTool {
		return ""
	}
	return string(e.Args)
}

// errorType returns the word that OpenTelemetry's conventions use for an error in the result of a
// tool.
func errorType(e *event.Entry) string {
	if e.Kind == event.Outcome && e.IsError {
		return "tool_error"
	}
	return ""
}

// outcomeOf returns how a call ended: "success", "failure", or "" if the record does not show it.
func outcomeOf(e *event.Entry) string {
	switch {
	case e.Kind == event.Decision && e.Decision == "deny":
		return "failure"
	case e.Kind == event.Outcome && e.IsError:
		return "failure"
	case e.Kind == event.Outcome, e.Kind == event.Listed:
		return "success"
	}
	return ""
}

func rulePlace(e *event.Entry) string {
	if e.RuleLine == 0 {
		return ""
	}
	return e.RuleFile + ":" + strconv.Itoa(e.RuleLine)
}

func waitedText(e *event.Entry) string {
	if e.Kind != event.Answered {
		return ""
	}
	return strconv.FormatInt(e.Waited.Milliseconds(), 10)
}

func truth(yes bool) string {
	if yes {
		return "true"
	}
	return ""
}

// chainHash returns the hash of the record's line. The next line of the session contains this hash
// too.
func chainHash(e *event.Entry) string {
	const member, end, digits = `,"hash":"`, `"}`, 64
	line := strings.TrimSuffix(string(e.Raw[max(0, len(e.Raw)-len(member)-digits-len(end)):]), end)
	hash, ok := strings.CutPrefix(line, member)
	if !ok || len(hash) != digits {
		return ""
	}
	return hash
}

// level is the importance of a record.
type level int

const (
	info    level = iota
	notice        // an error, a dropped message, a problem of the record, or a call that a session only observed and would have denied
	warning       // a denial
)

// levels holds the number or the word of each level in each form.
var levels = [...]struct {
	ocsf, cef, syslog, otlp int
	ocsfText, otlpText      string
}{
	info:    {ocsf: 1, ocsfText: "Informational", cef: 3, syslog: 6, otlp: 9, otlpText: "INFO"},
	notice:  {ocsf: 2, ocsfText: "Low", cef: 5, syslog: 5, otlp: 10, otlpText: "INFO2"},
	warning: {ocsf: 3, ocsfText: "Medium", cef: 7, syslog: 4, otlp: 13, otlpText: "WARN"},
}

func levelOf(e *event.Entry) level {
	switch {
	case e.Decision == "deny":
		return warning
	case e.IsObserved() && e.UnenforcedDecision() != "allow", e.IsError, e.Kind == event.Dropped, e.Kind == event.Recovery, e.Kind == event.Upkeep:
		return notice
	}
	return info
}

// summary returns one sentence about a record. It may contain unchanged texts from strangers.
func summary(e *event.Entry) string {
	words := []string{cmp.Or(e.Decision, string(e.Kind)), e.Method}
	if len(e.Names) > 0 {
		words = append(words, e.Names[0])
	}
	if server := serverOf(e); server != "" {
		words = append(words, "on "+server)
	}
	var all []string
	for _, w := range words {
		if w != "" {
			all = append(all, w)
		}
	}
	text := strings.Join(all, " ")
	if why := cmp.Or(e.Reason, e.RuleText); why != "" {
		text += ": " + why
	}
	return text
}

func serverOf(e *event.Entry) string { return cmp.Or(e.Server, e.ServerGuess) }

// stamp returns a time in the form of syslog, with microseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// mustMarshal returns a value as JSON. All values here have types that can be written.
func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
