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

// The outcomes of an attack, the worst first.
const (
	reached  = "reached"  // the model saw it, or the server got it
	marked   = "marked"   // it did, between marks, behind a warning or with words taken out, of which nobody knows what a model makes
	asked    = "asked"    // a person would decide
	withheld = "withheld" // neither
)

var outcomes = []string{reached, marked, asked, withheld}

// verdict is what --json has of an attack.
type verdict struct {
	Name    string   `json:"name"`
	Says    string   `json:"says"`
	Outcome string   `json:"outcome"`
	By      []string `json:"by"`    // what was done, and by which rules; empty where nothing was
	Asked   []string `json:"asked"` // what a person would have been asked
	Through []string `json:"through"`
}

// judgeAttack says what came of an attack by what its client and its server were given.
func judgeAttack(a *attack, p *played) verdict {
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
		v.By = others // a label elsewhere stopped nothing
	}
	return v
}

// isLabel says of what was done that the text went on all the same.
func isLabel(what string) bool { return what == "fence" || what == "warn" }

// isLabelled reports whether a frame stands between marks of ours, or has our warning: no attack
// that is shipped forges these.
func isLabelled(frame string) bool {
	return strings.Contains(frame, " begin: what follows was sent by ") || strings.Contains(frame, "[clawai:warning: ")
}

// questionReason says why a person would be asked.
func questionReason(rule, why string) string { return cmp.Or(rule, why, "a rule asks") }

// findPassedTexts gives the texts that came through in frames.
func findPassedTexts(where string, frames, texts []string, came func(frame, text string) bool) (all []string) {
	for _, text := range texts {
		if slices.ContainsFunc(frames, func(f string) bool { return came(f, text) }) {
			all = append(all, where+": "+text)
		}
	}
	return all
}

// containsText reports whether a frame says a text: in one of its strings, behind their escapes.
func containsText(frame, text string) bool {
	var v any
	if json.Unmarshal([]byte(frame), &v) != nil {
		return strings.Contains(frame, text)
	}
	found := false
	visitStrings(v, func(s string) { found = found || strings.Contains(s, text) })
	return found
}

// holdsMost reports whether one of a frame's strings has half of a text's words or more, after
// redaction has taken something out of it.
func holdsMost(frame, text string) bool {
	var v any
	_ = json.Unmarshal([]byte(frame), &v) // what is no JSON has no strings
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

// textOf gives what a model reads of a result.
func textOf(line []byte) string {
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &m) // what has no text gives none back
	var texts []string
	for _, c := range m.Result.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// listActions gives what the record says was done, each thing once.
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

// renderCounts says how many there are of each outcome.
func renderCounts(all []verdict) string {
	var parts []string
	for _, o := range outcomes {
		n := 0
		for i := range all {
			if all[i].Outcome == o {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, o))
	}
	return strings.Join(parts, ", ")
}
