package export

import (
	"encoding/json"
	"strings"

	"github.com/clawai/clawai/internal/event"
)

// The class of all our events in OCSF.
const (
	ocsfVersion  = "1.9.0"
	ocsfCategory = 6    // Application Activity
	ocsfClass    = 6003 // API Activity
)

// The parts of OCSF documents that clawai writes.
type (
	ocsfEvent struct {
		ActivityID    int               `json:"activity_id"`
		ActivityName  string            `json:"activity_name"`
		CategoryUID   int               `json:"category_uid"`
		CategoryName  string            `json:"category_name"`
		ClassUID      int               `json:"class_uid"`
		ClassName     string            `json:"class_name"`
		TypeUID       int               `json:"type_uid"`
		TypeName      string            `json:"type_name"`
		Time          int64             `json:"time"` // milliseconds since 1970
		SeverityID    int               `json:"severity_id"`
		Severity      string            `json:"severity"`
		StatusID      int               `json:"status_id,omitempty"`
		Status        string            `json:"status,omitempty"`
		StatusCode    string            `json:"status_code,omitempty"`
		StatusDetail  string            `json:"status_detail,omitempty"`
		ActionID      int               `json:"action_id,omitempty"`
		Action        string            `json:"action,omitempty"`
		DispositionID int               `json:"disposition_id,omitempty"`
		Disposition   string            `json:"disposition,omitempty"`
		Message       string            `json:"message"`
		Metadata      ocsfMetadata      `json:"metadata"`
		Actor         ocsfActor         `json:"actor"`
		API           ocsfAPI           `json:"api"`
		Source        ocsfEndpoint      `json:"src_endpoint"`
		Target        *ocsfEndpoint     `json:"dst_endpoint,omitempty"`
		Resources     []ocsfResource    `json:"resources,omitempty"`
		Policy        *ocsfPolicy       `json:"policy,omitempty"`
		Unmapped      map[string]string `json:"unmapped,omitempty"`
	}
	ocsfMetadata struct {
		Version     string   `json:"version"`
		Profiles    []string `json:"profiles"`
		Product     product  `json:"product"`
		UID         string   `json:"uid"`
		Correlation string   `json:"correlation_uid"` // record id of the call that the event is about
		EventCode   string   `json:"event_code"`
		LogName     string   `json:"log_name"`
		Sequence    uint64   `json:"sequence"`
		Original    string   `json:"original_time"`
	}
	product struct {
		Name    string `json:"name"`
		Vendor  string `json:"vendor_name"`
		Version string `json:"version,omitempty"`
	}
	ocsfActor struct {
		App     string `json:"app_name"`
		Session struct {
			UID string `json:"uid"`
		} `json:"session"`
		User *ocsfName `json:"user,omitempty"` // the person who answered a question
	}
	ocsfName struct {
		Name string `json:"name"`
	}
	ocsfAPI struct {
		Operation string        `json:"operation"`
		Service   *ocsfName     `json:"service,omitempty"`
		Request   *ocsfRequest  `json:"request,omitempty"`
		Response  *ocsfResponse `json:"response,omitempty"`
	}
	ocsfRequest struct {
		UID  string          `json:"uid"`
		Data json.RawMessage `json:"data,omitempty"`
	}
	ocsfResponse struct {
		Error string `json:"error,omitempty"`
	}
	ocsfEndpoint struct {
		Host    string `json:"hostname,omitempty"`
		Service string `json:"svc_name,omitempty"`
	}
	ocsfResource struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	ocsfPolicy struct {
		Name        string `json:"name"`
		UID         string `json:"uid"`
		Description string `json:"desc,omitempty"`
		IsApplied   bool   `json:"is_applied"`
	}
)

// ocsfElsewhere are the columns that have their own member in OCSF. The other columns go into
// unmapped.
var ocsfElsewhere = map[string]bool{
	"method": true, "tool": true, "prompt": true, "resource": true, "arguments": true, "id": true, "error": true, "server": true,
	"decision": true, "outcome": true, "code": true, "reason": true, "rule": true, "rule_description": true, "by": true, "session": true, "record": true,
}

// AppendOCSF appends an event as one JSON object: API Activity of OCSF with the profile of security
// controls.
func AppendOCSF(dst []byte, e *event.Entry, s Source) []byte {
	const other = 99 // we do not know whether a call of a tool creates, reads, updates or deletes
	_, name := eventClass(e)
	l := levels[levelOf(e)]
	doc := ocsfEvent{
		ActivityID: other, ActivityName: name, CategoryUID: ocsfCategory, CategoryName: "Application Activity", ClassUID: ocsfClass, ClassName: "API Activity",
		TypeUID: ocsfClass*100 + other, TypeName: "API Activity: " + name, Time: e.Time.UnixMilli(), SeverityID: l.ocsf, Severity: l.ocsfText,
		StatusCode: e.Code, StatusDetail: e.Reason, Message: summary(e),
		Metadata: ocsfMetadata{
			Version: ocsfVersion, Profiles: []string{"security_control"}, Product: product{"clawai", "clawai", s.Version}, UID: e.Record, Correlation: e.Record,
			EventCode: string(e.Kind), LogName: "clawai record", Sequence: e.Seq, Original: stamp(e.Time),
		},
		Actor:  ocsfActor{App: "MCP client"},
		Source: ocsfEndpoint{Host: s.Host},
	}
	if e.Ref != "" {
		doc.Metadata.Correlation = e.Ref
	}
	doc.Actor.Session.UID = e.Session
	if e.By != "" {
		doc.Actor.User = &ocsfName{e.By}
	}
	if s.Host == "" {
		doc.Source.Service = "clawai" // OCSF requires a host or a service
	}
	doc.setAPI(e)
	doc.setResult(e)
	for _, c := range columns {
		if v := c.value(e); v != "" && c.syslog != "" && !ocsfElsewhere[c.syslog] {
			if doc.Unmapped == nil {
				doc.Unmapped = map[string]string{}
			}
			doc.Unmapped[strings.TrimPrefix(c.otlp, "clawai.")] = v
		}
	}
	return appendJSON(dst, &doc)
}

// setAPI sets the members that name the call: its method, server, arguments and names.
func (doc *ocsfEvent) setAPI(e *event.Entry) {
	doc.API.Operation = e.Method
	if e.Method == "" {
		doc.API.Operation = string(e.Kind)
	}
	if server := serverOf(e); server != "" {
		doc.API.Service, doc.Target = &ocsfName{server}, &ocsfEndpoint{Service: server}
	}
	if len(e.ID) > 0 || len(e.Args) > 0 {
		doc.API.Request = &ocsfRequest{UID: string(e.ID), Data: e.Args}
	}
	if e.IsError {
		doc.API.Response = &ocsfResponse{Error: "the reply is an error"}
	}
	for _, name := range e.Names {
		doc.Resources = append(doc.Resources, ocsfResource{e.Subject, name})
	}
}

// setResult sets the members that tell how the call ended, and which rule decided.
func (doc *ocsfEvent) setResult(e *event.Entry) {
	switch outcomeOf(e) {
	case "success":
		doc.StatusID, doc.Status = 1, "Success"
	case "failure":
		doc.StatusID, doc.Status = 2, "Failure"
	}
	switch {
	case e.Decision == "deny":
		doc.ActionID, doc.Action, doc.DispositionID, doc.Disposition = 2, "Denied", 2, "Blocked"
	case e.Decision == "allow" && e.IsObserved():
		doc.ActionID, doc.Action, doc.DispositionID, doc.Disposition = 3, "Observed", 17, "Logged"
	case e.Decision == "allow":
		doc.ActionID, doc.Action, doc.DispositionID, doc.Disposition = 1, "Allowed", 1, "Allowed"
	}
	if place := rulePlace(e); place != "" {
		doc.Policy = &ocsfPolicy{e.RuleFile, place, e.RuleText, !e.IsObserved()}
	}
}
