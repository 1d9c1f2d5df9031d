package approvecmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// sessionsPage returns the page of the agents' sessions.
func sessionsPage(o *overview.Overview) console.Page {
	return console.Page{
		Name: "Sessions", Decision: "Sessions of agents, the last used first.",
		Empty: "No session of an agent is known yet.", Early: true,
		Load: func(ctx context.Context) (rows []console.Row, err error) {
			all, err := o.LoadSessions(ctx)
			for i := range all {
				rows = append(rows, sessionRow(&all[i], o.Home))
			}
			return rows, err
		},
	}
}

func sessionRow(s *overview.Session, home string) console.Row {
	word := strings.Join(s.Labels(), ", ")
	if word == "" && len(s.Closed) == 0 {
		word = "no labels"
	}
	counts, _, active := s.Activity()
	end := s.ClosedText()
	if end == "" && active {
		end = counts.Text()
	}
	line := func(width int) string {
		return view.Cut(fmt.Sprintf("%s  %s  %s  %s", s.Used.Local().Format("15:04:05"), cmdline.Pad(cmdline.CutMiddle(s.ClientName()+" "+s.Name(), 24), 24), cmdline.Pad(word, 18), end), width)
	}
	row := console.Row{ID: s.Key, Line: line, Word: word, Look: s.Look(), Search: strings.ToLower(line(wideLine)), Facts: func(width int) []string { return sessionFacts(s, home, width) }}
	if closed := s.ClosedText(); closed != "" {
		row.Closed = s.ClientName() + " " + closed
		if !active {
			row.Closed = s.ClientName() + " " + s.Name() + " " + closed
		}
	}
	return row
}

// sessionFacts returns the lines that the screen shows about one session.
func sessionFacts(s *overview.Session, home string, width int) []string {
	lines := []string{s.ClientName() + " " + s.Name()}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, view.LabelLine(label, text))
		}
	}
	for _, c := range s.Closed {
		add("forbidden", c.Text()+", by "+view.TildePath(c.Rule, home))
	}
	if len(s.Closed) == 0 {
		add("forbidden", "nothing")
	}
	for _, seen := range s.Seen {
		add(seen.Kind, "read from "+overview.SourceText(seen.Source)+", "+seen.At.Local().Format(time.TimeOnly))
	}
	add("servers", strings.Join(s.ServerNames(), ", "))
	if counts, folder, ok := s.Activity(); ok {
		add("calls", counts.Text()+", of the latest")
		add("folder", term.VisibleText(view.TildePath(folder, home)))
	}
	add("last used", s.Used.Local().Format(time.DateTime))
	key := strings.TrimPrefix(s.Key, "proxy:")
	add("session", term.VisibleText(key))
	switch {
	case key != s.Key:
		add("its calls", "clawai log --session "+term.VisibleText(key))
	case len(s.Seen) > 0:
		add("try a call", "clawai policy explain --session "+term.VisibleText(key)+" --tool NAME")
	}
	return view.Wrap(lines, width)
}
