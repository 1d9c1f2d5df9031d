package web

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
)

// RecordLength is the number of record entries from before its opening that a page shows.
const RecordLength = 50

// RecordKinds returns the kinds of entries that a page shows beside the questions.
func RecordKinds() []event.Kind {
	return []event.Kind{event.Decision, event.Answered, event.Dropped, event.Start, event.End, event.Policy, event.Recovery}
}

// line is one entry of the record.
type line struct {
	Time   int64  `json:"time"` // in ms
	Word   string `json:"word"`
	Tone   string `json:"tone"` // "good", "bad", "odd" or ""
	Server string `json:"server"`
	Text   string `json:"text"`
	Why    string `json:"why"`
}

const partLength = 120 // characters of one part of a line

func recordLine(e *event.Entry) line {
	word, tone := verdictText(e)
	server := e.Server
	if server == "" && e.ServerGuess != "" {
		server = e.ServerGuess + "?"
	}
	var what []string
	for _, s := range append([]string{e.Method}, e.Names...) {
		if s != "" && (len(what) == 0 || s != e.Method) {
			what = append(what, clipText(s))
		}
	}
	if len(e.Args) > 0 {
		what = append(what, clipText(escape.ReadableJSON(e.Args)))
	}
	if len(e.Extra) > 0 {
		what = append(what, "beside them "+clipText(escape.ReadableJSON(e.Extra)))
	}
	if e.Answer != "" {
		what = append(what, fmt.Sprintf("%s (%s, after %.1f s)", clipText(e.Answer), clipText(e.Channel), e.Waited.Seconds()))
	}
	var why []string
	for _, s := range []string{e.RuleText, e.Reason, e.Detail} {
		if s != "" {
			why = append(why, clipText(s))
		}
	}
	return line{e.Time.UnixMilli(), word, tone, clipText(server), strings.Join(what, "  "), strings.Join(why, "  ")}
}

func verdictText(e *event.Entry) (word, tone string) {
	switch e.Kind {
	case event.Decision:
		switch {
		case e.Stage == string(gate.StageObserve):
			return "observed", "odd"
		case e.Decision == "allow":
			return "allow", "good"
		}
		return clipText(e.Decision), "bad"
	case event.Answered:
		return "answer", "odd"
	case event.Dropped, event.Recovery:
		return string(e.Kind), "odd"
	}
	return clipText(string(e.Kind)), ""
}

// clipText makes s harmless and short.
func clipText(s string) string {
	n := 0
	for i := range s {
		if n++; n > partLength {
			return term.VisibleText(s[:i]) + "…"
		}
	}
	return term.VisibleText(s)
}
