package export

import (
	"github.com/clawai/clawai/internal/event"
)

// LoggedKinds are the kinds of records that are exported if the user chooses no kinds.
var LoggedKinds = []event.Kind{event.Decision, event.Outcome, event.Answered}

// Attribute is one column of a record under its OpenTelemetry name.
type Attribute struct {
	Name, Text string
	long       bool // see column.long
}

// Log is a record as a log record of OpenTelemetry.
type Log struct {
	Name         string // name of the event
	Body         string
	Severity     int
	SeverityText string
	Attributes   []Attribute
}

// NewLog returns a record as a log record, with the texts as they are in the record.
func NewLog(e *event.Entry) Log {
	l := levels[levelOf(e)]
	is := Log{Name: "clawai." + string(e.Kind), Body: summary(e), Severity: l.otlp, SeverityText: l.otlpText}
	for i := range columns {
		if v := columns[i].value(e); columns[i].otlp != "" && v != "" {
			is.Attributes = append(is.Attributes, Attribute{columns[i].otlp, v, columns[i].long})
		}
	}
	return is
}

// Fit returns the log record with its texts as clawai shows them, cut as in CEF and syslog.
func (l Log) Fit() Log {
	l.Name, l.Body, l.Attributes = rooms[0].fitText(l.Name, false), rooms[0].fitText(l.Body, false), fitAttributes(l.Attributes)
	return l
}

// Span is a call as a span of OpenTelemetry.
type Span struct {
	Name       string
	Failed     bool
	Attributes []Attribute
}

var (
	ofReply = map[string]bool{"clawai.outcome": true, "error.type": true} // columns that a span takes from the record of the reply
	ofLine  = map[string]bool{"clawai.kind": true, "clawai.hash": true}   // columns about a single line of the record; a span does not have them
)

// NewSpan returns a span for a call, in the form of the conventions for MCP. The span is made from the record
// of the call and from the record of the reply. reply is nil if the call has no later record. The texts are
// as in Log.Fit.
func NewSpan(call, reply *event.Entry) Span {
	last := call
	if reply != nil {
		last = reply
	}
	is := Span{Failed: outcomeOf(last) == "failure", Name: call.Method}
	for i := range columns {
		c := &columns[i]
		e := call
		if ofReply[c.otlp] {
			e = last
		}
		v := c.value(e)
		if c.otlp == "error.type" && last.Decision == "deny" && last.Kind == event.Decision {
			v = "denied" // clawai denied the call; the conventions have no word for this
		}
		if c.otlp == "" || v == "" || ofLine[c.otlp] {
			continue
		}
		is.Attributes = append(is.Attributes, Attribute{c.otlp, v, c.long})
		if c.otlp == "gen_ai.tool.name" || c.otlp == "gen_ai.prompt.name" {
			is.Name += " " + v
		}
	}
	is.Name, is.Attributes = rooms[1].fitText(is.Name, false), fitAttributes(is.Attributes)
	return is
}

func fitAttributes(all []Attribute) []Attribute {
	fitted := make([]Attribute, len(all))
	for i, a := range all {
		fitted[i] = a
		fitted[i].Text = rooms[0].fitText(a.Text, a.long)
	}
	return fitted
}
