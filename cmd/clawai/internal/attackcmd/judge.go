package attackcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
)

// These are the outcomes of an attack, the worst first.
const (
	reached = "reached" // the model or the server got the text unchanged
	// The model got the text with marks, with a warning, or with words removed. The effect on a
	// model is unknown.
	marked   = "marked"
	asked    = "asked"    // the rules would ask a person
	withheld = "withheld" // neither the model nor the server got the text
)

var outcomes = []struct{ word, meaning string }{
	{reached, "the model or the server got the text"},
	{marked, "the model got it in a fence, behind a warning, or with words taken out"},
	{asked, "a person would decide"},
	{withheld, "neither the model nor the server got it"},
}

// verdict is the result of one attack in the output of --json.
type verdict struct {
	Name    string `json:"name"`
	Says    string `json:"says"`
	Outcome string `json:"outcome"`
	// By has the actions of the gate and the rules that caused them. It is empty if the gate did
	// nothing.
	By      []string `json:"by"`
	Asked   []string `json:"asked"`   // the questions that a person would get
	Through []string `json:"through"` // the texts that came through, as "to the model: TEXT"
}

// judgeAttack returns the verdict on an attack. It compares the messages that the client and the
// server received with the texts of the attack.
func judgeAttack(a *attack, p *exchange) verdict {
	v := verdict{Name: a.Name, Says: a.Says, Outcome: withheld, By: listActions(p.events), Asked: []string{}, Through: []string{}}
	for _, q := range p.asked {
		v.Asked = append(v.Asked, questionReason(q.Rule.Description, q.Why))
	}
	seen, sent := findPassedTexts("to the model", p.seen, a.Reached, containsText), findPassedTexts("to the server", p.sent, a.Out, containsText)
	plain := findPassedTexts("to the model", slices.DeleteFunc(slices.Clone(p.seen), isLabelled), a.Reached, containsText)
	parts := findPassedTexts("to the model, with words taken out", p.seen, a.Reached, holdsMost)
	v.Through = append(v.Through, append(seen, sent...)...)
	switch {
	case len(plain)+len(sent) > 0:
		v.Outcome = reached
	case len(seen) > 0:
		v.Outcome = marked
	case len(parts) > 0:
		v.Outcome, v.Through = marked, append(v.Through, parts...)
	case len(p.asked) > 0:
		v.Outcome = asked
	}
	if v.Outcome == marked && len(seen) > 0 {
		v.By = slices.DeleteFunc(v.By, func(s string) bool { return !isLabel(s) })
	} else if others := slices.DeleteFunc(slices.Clone(v.By), isLabel); len(others) > 0 || v.Outcome != withheld {
		v.By = others // these actions changed other texts, so they did not stop the attack
	}
	return v
}

// isLabel reports whether an action only marked a text and still passed the text on.
func isLabel(what string) bool { return what == "fence" || what == "warn" }

// isLabelled reports whether a frame has our marks around a text, or our warning. This is certain,
// because no built-in attack forges our marks.
func isLabelled(frame string) bool {
	return strings.Contains(frame, " begin: what follows was sent by ") || strings.Contains(frame, "[clawai:warning: ")
}

// questionReason returns the reason why a person is asked.
func questionReason(rule, why string) string { return cmp.Or(rule, why, "a rule asks") }

// findPassedTexts returns the texts that are in one of the frames. Each returned text has the form
// "WHERE: TEXT". The parameter came is a function. It reports whether a frame contains a text.
func findPassedTexts(where string, frames, texts []string, came func(frame, text string) bool) (all []string) {
	for _, text := range texts {
		if slices.ContainsFunc(frames, func(f string) bool { return came(f, text) }) {
			all = append(all, where+": "+text)
		}
	}
	return all
}

// containsText reports whether a frame contains a text in one of its decoded strings.
func containsText(frame, text string) bool {
	var v any
	if json.Unmarshal([]byte(frame), &v) != nil {
		return strings.Contains(frame, text)
	}
	found := false
	visitStrings(v, func(s string) { found = found || strings.Contains(s, text) })
	return found
}

// holdsMost reports whether one of the frame's strings was redacted, but still has at least half of
// the words of the parameter text.
func holdsMost(frame, text string) bool {
	var v any
	_ = json.Unmarshal([]byte(frame), &v) // a frame that is not JSON has no strings
	words, found := strings.Fields(text), false
	visitStrings(v, func(s string) {
		if !strings.Contains(s, "[clawai:withheld ") {
			return
		}
		n, left := 0, strings.Fields(s)
		for _, w := range words {
			if slices.Contains(left, w) {
				n++
			}
		}
		found = found || 2*n >= len(words)
	})
	return found
}

func visitStrings(v any, say func(string)) {
	switch v := v.(type) {
	case string:
		say(v)
	case []any:
		for _, one := range v {
			visitStrings(one, say)
		}
	case map[string]any:
		for name, one := range v {
			say(name)
			visitStrings(one, say)
		}
	}
}

// textOf returns the text of a result that a model reads.
func textOf(line []byte) string {
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &m) // without a text, the result is ""
	var texts []string
	for _, c := range m.Result.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// listActions returns the actions in the record without duplicates.
func listActions(events []event.Event) []string {
	all := []string{}
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, ev := range events {
		for _, what := range ev.Altered {
			add(what)
		}
		if ev.Decision != "deny" {
			continue
		}
		switch {
		case ev.RuleText != "":
			add(ev.RuleText)
		case ev.Reason != "":
			add(ev.Reason)
		case ev.Code == gate.CodeNoRule:
			add("no rule allows it")
		default:
			add(ev.Code)
		}
	}
	return all
}

// renderCounts returns the number of attacks with each outcome, as a text.
func renderCounts(all []verdict) string {
	var parts []string
	for _, o := range outcomes {
		parts = append(parts, fmt.Sprintf("%d %s", countOutcome(all, o.word), o.word))
	}
	return strings.Join(parts, ", ")
}

func countOutcome(all []verdict, word string) int {
	n := 0
	for i := range all {
		if all[i].Outcome == word {
			n++
		}
	}
	return n
}
