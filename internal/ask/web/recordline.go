package web

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
)

// RecordLength is how much of the record from before it was opened a page shows.
const RecordLength = 50

// RecordKinds are the entries a page shows beside the questions.
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
	word, tone := verdict(e)
	server := e.Server
	if server == "" && e.ServerGuess != "" {
		server = e.ServerGuess + "?"
	}
	var what []string
	for _, s := range append([]string{e.Method}, e.Names...) {
		if s != "" && (len(what) == 0 || s != e.Method) {
			what = append(what, clip(s))
		}
	}
	if len(e.Args) > 0 {
		what = append(what, clip(escape.Readable(e.Args)))
	}
	if len(e.Extra) > 0 {
		what = append(what, "beside them "+clip(escape.Readable(e.Extra)))
	}
	if e.Answer != "" {
		what = append(what, fmt.Sprintf("%s (%s, after %.1f s)", clip(e.Answer), clip(e.Channel), e.Waited.Seconds()))
	}
	var why []string
	for _, s := range []string{e.RuleText, e.Reason, e.Detail} {
		if s != "" {
			why = append(why, clip(s))
		}
	}
	return line{e.Time.UnixMilli(), word, tone, clip(server), strings.Join(what, "  "), strings.Join(why, "  ")}
}

func verdict(e *event.Entry) (word, tone string) {
	switch e.Kind {
	case event.Decision:
		switch {
		case e.Stage == string(gate.StageObserve):
			return "observed", "odd"
		case e.Decision == "allow":
			return "allow", "good"
		}
		return clip(e.Decision), "bad"
	case event.Answered:
		return "answer", "odd"
	case event.Dropped, event.Recovery:
		return string(e.Kind), "odd"
	}
	return clip(string(e.Kind)), ""
}

// clip makes s harmless and short.
func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > partLength {
			return term.Text(s[:i]) + "…"
		}
	}
	return term.Text(s)
}
