package export

import (
	"encoding/hex"
	"strconv"

	"github.com/clawai/clawai/internal/event"
)

// The parts of OTLP/JSON documents for logs that clawai writes.
type (
	otlpLogs struct {
		ResourceLogs []otlpResource `json:"resourceLogs"`
	}
	otlpResource struct {
		Resource  otlpAttributes `json:"resource"`
		ScopeLogs []otlpScope    `json:"scopeLogs"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScope struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
		} `json:"scope"`
		LogRecords []otlpRecord `json:"logRecords"`
	}
	otlpRecord struct {
		Time           string          `json:"timeUnixNano"` // nanoseconds since 1970, as a text because OTLP/JSON writes 64-bit numbers as texts
		ObservedTime   string          `json:"observedTimeUnixNano"`
		SeverityNumber int             `json:"severityNumber"`
		SeverityText   string          `json:"severityText"`
		Body           otlpValue       `json:"body"`
		Attributes     []otlpAttribute `json:"attributes"`
		EventName      string          `json:"eventName"`
		Flags          int             `json:"flags,omitempty"`
		TraceID        string          `json:"traceId,omitempty"` // of the trace context that came with the call
		SpanID         string          `json:"spanId,omitempty"`  // of the span in which the client made the call
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String string `json:"stringValue"`
	}
)

// AppendOTLP appends an event as logs of OTLP/JSON with one log record.
func AppendOTLP(dst []byte, e *event.Entry, s Source) []byte {
	return AppendOTLPBatch(dst, []*event.Entry{e}, s)
}

// AppendOTLPBatch appends the events of several records as one request of OTLP/JSON.
func AppendOTLPBatch(dst []byte, entries []*event.Entry, s Source) []byte {
	scope := otlpScope{LogRecords: make([]otlpRecord, 0, len(entries))}
	scope.Scope.Name, scope.Scope.Version = "clawai", s.Version
	for _, e := range entries {
		scope.LogRecords = append(scope.LogRecords, newOTLPRecord(e))
	}
	of := []otlpAttribute{{"service.name", otlpValue{"clawai"}}, {"service.version", otlpValue{s.Version}}}
	if s.Host != "" {
		of = append(of, otlpAttribute{"host.name", otlpValue{s.Host}})
	}
	return appendJSON(dst, otlpLogs{[]otlpResource{{otlpAttributes{of}, []otlpScope{scope}}}})
}

func newOTLPRecord(e *event.Entry) otlpRecord {
	at, l := strconv.FormatInt(e.Time.UnixNano(), 10), NewLog(e)
	r := otlpRecord{Time: at, ObservedTime: at, SeverityNumber: l.Severity, SeverityText: l.SeverityText, Body: otlpValue{l.Body}, EventName: l.Name}
	if trace, span, flags, ok := e.ReadTraceparent(); ok {
		r.TraceID, r.SpanID, r.Flags = hex.EncodeToString(trace[:]), hex.EncodeToString(span[:]), int(flags)
	}
	for _, a := range l.Attributes {
		r.Attributes = append(r.Attributes, otlpAttribute{a.Name, otlpValue{a.Text}})
	}
	return r
}
