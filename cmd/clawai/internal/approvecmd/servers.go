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

// firstCount is how long the first load of the page waits for the count of today's calls. The page
// then shows the calls that are counted so far.
const firstCount = 200 * time.Millisecond

// serversPage returns the page of servers. The count of calls stops when ctx ends.
func serversPage(ctx context.Context, o *overview.Overview) console.Page {
	return console.Page{
		Name: "Servers", Decision: "Servers of your clients, and their calls of today.",
		Empty: "No MCP client here has a server in a file that clawai knows.",
		Load: func(context.Context) (rows []console.Row, err error) {
			if o.StartCounting(ctx) {
				time.Sleep(firstCount)
			}
			all, err := o.LoadServers()
			for i := range all {
				rows = append(rows, serverRow(&all[i]))
			}
			return rows, err
		},
	}
}

func serverRow(s *overview.Server) console.Row {
	name, state := term.VisibleLine(s.Name), term.VisibleLine(s.State)
	line := func(width int) string {
		calls := "no calls today"
		if s.Calls.Total() > 0 {
			calls = s.Calls.Text()
		}
		if s.Pin != "" {
			calls += " · pins " + s.Pin
		}
		return view.Cut(fmt.Sprintf("%s  %s  %s", cmdline.Pad(cmdline.CutMiddle(name, 20), 20), cmdline.Pad(state, 9), calls), width)
	}
	return console.Row{ID: s.Name, Line: line, Word: state, Look: s.Look, Search: strings.ToLower(line(wideLine)), Facts: func(width int) []string { return serverFacts(s, width) }}
}

// serverFacts returns the lines that the screen shows about one server.
func serverFacts(s *overview.Server, width int) []string {
	lines := []string{term.VisibleLine(s.Name)}
	for _, e := range s.Entries {
		lines = append(lines, view.LabelLine("stands", e))
	}
	lines = append(lines, view.LabelLine("calls", s.Calls.Text()+", today"))
	if !s.Calls.Last.IsZero() {
		lines = append(lines, view.LabelLine("latest", s.Calls.Last.Local().Format(time.TimeOnly)))
	}
	pins := "the policy says nothing of changes in its lists (docs/pins.md)"
	if s.Pin != "" {
		pins = fmt.Sprintf("%q in the policy", s.Pin)
	}
	lines = append(lines, view.LabelLine("pins", pins))
	for _, p := range s.Pinned {
		lines = append(lines, view.LabelLine("", p))
	}
	if s.CanWrap() {
		lines = append(lines, view.LabelLine("next", "clawai wrap"))
	}
	return view.Wrap(append(lines, view.LabelLine("its calls", "clawai log --server "+term.VisibleText(s.Name))), width)
}
