package telemetry

import (
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/shown"
)

// withoutPayload returns a record in the form in which it may leave the centre. If payload is false, this is a
// copy without the texts that may contain arguments, as a person without the role auditor.payload sees it. The
// copy has no arguments, no reason of a decision, no description of a rule, no details and no places of
// findings. It also has no names and ids that could be arguments by their form.
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
		is.Method = "_OTHER" // OpenTelemetry's word for an unknown method
	}
	if !strings.HasPrefix(e.Digest, "hmac:") {
		is.Digest, is.Raw = "", nil // with the digest of the call or of the line, somebody could confirm a guess of the arguments
	}
	return &is
}
