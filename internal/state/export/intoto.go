package export

import (
	"encoding/json"

	"github.com/clawai/clawai/internal/event"
)

// The types of in-toto. The predicate is our own draft, because the IETF's drafts of audit records
// of agents still change.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/clawai/clawai/attestation/agent-audit-record/draft-0"
)

type (
	statement struct {
		Type          string             `json:"_type"`
		Subject       []statementSubject `json:"subject"`
		PredicateType string             `json:"predicateType"`
		Predicate     predicate          `json:"predicate"`
	}
	statementSubject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	// predicate has one of three parts: Decision is the decision about a call, Effect is how the
	// call ended, and Agreement is the answer of a person.
	predicate struct {
		Draft     bool              `json:"draft"`
		Record    string            `json:"record"`
		Of        string            `json:"of,omitempty"` // record id of the call
		Kind      event.Kind        `json:"kind"`
		Time      string            `json:"time"`
		Session   string            `json:"session"`
		Producer  product           `json:"producer"`
		Action    map[string]string `json:"action"`
		Arguments json.RawMessage   `json:"arguments,omitempty"`
		Decision  map[string]string `json:"decision,omitempty"`
		Effect    map[string]string `json:"effect,omitempty"`
		Agreement map[string]string `json:"agreement,omitempty"`
	}
)

// The columns of each part of a predicate, by their names in syslog.
var (
	actionColumns    = []string{"method", "tool", "prompt", "resource", "names", "id", "server", "server_guess", "arguments_cut", "digest", "detail", "invocation"}
	decisionColumns  = []string{"decision", "policy", "observed", "stage", "code", "reason", "rule", "rule_description", "labels", "finds", "altered"}
	effectColumns    = []string{"outcome", "error", "finds", "altered"}
	agreementColumns = []string{"answer", "by", "channel", "waited_ms", "code", "reason"}
)

// AppendInToto appends an event as a statement of in-toto without a signature. The subject of the
// statement is the record's line in the chain, and the digest is the hash of that line.
func AppendInToto(dst []byte, e *event.Entry, s Source) []byte {
	doc := statement{
		Type: statementType, PredicateType: predicateType,
		Subject: []statementSubject{{e.Record, map[string]string{"sha256": chainHash(e)}}},
		Predicate: predicate{
			Draft: true, Record: e.Record, Of: e.Ref, Kind: e.Kind, Time: stamp(e.Time), Session: e.Session,
			Producer: product{"clawai", "clawai", s.Version}, Action: pickColumns(e, actionColumns), Arguments: e.Args,
		},
	}
	switch e.Kind {
	case event.Outcome, event.Listed:
		doc.Predicate.Effect = pickColumns(e, effectColumns)
	case event.Answered:
		doc.Predicate.Agreement = pickColumns(e, agreementColumns)
	default:
		doc.Predicate.Decision = pickColumns(e, decisionColumns)
	}
	return appendJSON(dst, &doc)
}

// pickColumns returns the texts of the columns with these names. It leaves out empty texts.
func pickColumns(e *event.Entry, names []string) map[string]string {
	picked := map[string]string{}
	for _, name := range names {
		for _, c := range columns {
			if c.syslog != name {
				continue
			}
			if v := c.value(e); v != "" {
				picked[name] = v
			}
		}
	}
	return picked
}
