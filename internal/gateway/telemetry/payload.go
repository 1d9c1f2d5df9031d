package telemetry

import (
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/shown"
)

// withoutPayload returns a record as it may leave the centre. Unless payload is wanted, this is a copy without
// what may hold arguments, as for a person without the role auditor.payload: the arguments, the reason of a
// decision, the description of a rule, details, the places of findings, and names and ids in a form that an
// argument could have.
func withoutPayload(e *event.Entry, payload bool) *event.Entry {
	if payload {
		return e
	}
	is := *e
	is.Args, is.ArgsCut, is.Reason, is.RuleText, is.Detail, is.Altered, is.Finds = nil, false, "", "", "", nil, e.FoundKinds()
	if is.Names = nil; (e.Subject == "tool" || e.Subject == "prompt") && len(e.Names) > 0 && shown.IsName(e.Names[0]) {
		is.Names = e.Names[:1]
	}
	if !shown.IsName(strings.Trim(string(e.ID), `"`)) {
		is.ID = nil
	}
	if !shown.IsName(strings.ReplaceAll(e.Invocation, "/", "")) {
		is.Invocation = ""
	}
	if e.Method != "" && !shown.IsName(strings.ReplaceAll(e.Method, "/", "")) {
		is.Method = "_OTHER" // OpenTelemetry's word for what is not known
	}
	if !strings.HasPrefix(e.Digest, "hmac:") {
		is.Digest, is.Raw = "", nil // who guesses a call could compare its digest, and that of the line
	}
	return &is
}
