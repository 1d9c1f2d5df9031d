package approve

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
)

// page is one question as both forms of asking show it.
type page struct {
	facts    []string // harmless lines; any of them may be scrolled out of sight
	decision string   // one line, always shown, directly above the choices
	choices  []choice // the first one denies and is preset
	footer   string   // one line below the choices
}

// choice is one answer: word is typed in full where there is no menu.
type choice struct{ word, label string }

const (
	wordDeny    = "deny"
	wordAllow   = "allow"
	wordSession = "session"
	wordAlways  = "always"
	wordNever   = "never"
	wordMore    = "more"
)

// ask is the page of a question. Without offers "always" is no answer, and
// whyNot, when not empty, says why.
func ask(q gate.Question, offers []queue.Offer, whyNot string) (page, error) {
	facts, err := describe(q)
	if err != nil {
		return page{}, err
	}
	pg := page{
		facts:    facts,
		decision: "clawai asks: let this through?",
		choices: []choice{
			{wordDeny, "Deny"},
			{wordAllow, "Allow once"},
		},
		footer: footer(q),
	}
	if q.Session {
		pg.choices = append(pg.choices, choice{wordSession, "Allow this until the session ends"})
	}
	if len(q.Calls) > 1 {
		pg.decision = fmt.Sprintf("clawai asks: let all %d through?", len(q.Calls))
	}
	switch {
	case len(offers) > 0:
		pg.choices = append(pg.choices, choice{wordAlways, "Always allow… (shows the rule)"})
		if len(denying(offers)) > 0 {
			pg.choices = append(pg.choices, choice{wordNever, "Always deny… (shows the rule)"})
		}
	case whyNot != "":
		pg.facts = append(pg.facts, "always     not offered: "+whyNot)
	}
	return pg, nil
}

func footer(q gate.Question) string {
	if q.Deadline.IsZero() {
		return ""
	}
	return "No answer by " + q.Deadline.Local().Format("15:04:05") + " denies."
}

// describe lists what would be executed, in fixed order: server, method and
// name, rule, arguments.
func describe(q gate.Question) ([]string, error) {
	var lines []string
	for i := range q.Calls {
		c := &q.Calls[i]
		if len(q.Calls) > 1 {
			lines = append(lines, fmt.Sprintf("request %d of %d", i+1, len(q.Calls)))
		}
		lines = append(lines, subject(c)...)
		if i == 0 {
			lines = append(lines, ruleLine(q.Rule))
		}
		args, err := arguments(c.Args)
		if err != nil {
			return nil, err
		}
		lines = append(lines, argumentLines(args)...)
		if len(lines) > maxValues+len(q.Calls)*4 {
			return nil, errTooMany
		}
	}
	return lines, nil
}

func subject(c *policy.Call) []string {
	server := "server     not named"
	if c.Server != "" {
		server = "server     " + term.Value(c.Server)
	}
	lines := []string{server, "method     " + term.Visible(c.Method)}
	word := subjectWord(c.Subject)
	for _, name := range c.Names {
		lines = append(lines, word+term.Value(name))
	}
	return lines
}

// subjectWord is the label of a call's names, as wide as the other labels.
func subjectWord(s policy.Subject) string {
	word := map[policy.Subject]string{
		policy.ToolSubject:        "tool",
		policy.ResourceSubject:    "resource",
		policy.PromptSubject:      "prompt",
		policy.SamplingSubject:    "text",
		policy.ElicitationSubject: "asks",
	}[s]
	return fmt.Sprintf("%-11s", word)
}

func ruleLine(r policy.Rule) string {
	line := fmt.Sprintf("rule       %s:%d", term.Visible(r.Pos.File), r.Pos.Line)
	if r.Description != "" {
		line += " " + term.Value(r.Description)
	}
	return line
}

func argumentLines(args []string) []string {
	if len(args) == 0 {
		return []string{"arguments  none"}
	}
	lines := []string{fmt.Sprintf("arguments  %d", len(args))}
	for _, a := range args {
		lines = append(lines, strings.Repeat(" ", 2)+a)
	}
	return lines
}
