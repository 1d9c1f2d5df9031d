package wrapcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/term"
)

// tokenCost is an estimate of how many tokens a server's tools add to each request to the model. It
// is based on the latest list of tools that a client received.
type tokenCost struct {
	Server string `json:"server"`
	Tools  int    `json:"tools"` // number of tools in the server's list
	// LeftOut is the number of these tools that the client did not get, because of a rule or list =
	// "allowed".
	LeftOut int       `json:"left_out"`
	Tokens  int       `json:"tokens_estimate"`
	Listed  time.Time `json:"listed"`

	session string
	bytes   int
	names   map[string]bool
}

const (
	// charactersPerToken is an approximate value for English text and JSON. It depends on the
	// model.
	charactersPerToken = 4
	// recentLists is the maximum age of the lists.
	recentLists = 30 * 24 * time.Hour
)

// addPage adds one page of a list. If the page names a tool that the list already has, a new list
// begins.
func (t *tokenCost) addPage(e *event.Entry) {
	again := t.names == nil || t.session != e.Session || slices.ContainsFunc(e.Declared, func(name string) bool { return t.names[name] })
	if again {
		*t = tokenCost{Server: t.Server, session: e.Session, names: map[string]bool{}}
	}
	for _, name := range e.Declared {
		t.names[name] = true
	}
	for _, what := range e.Altered {
		if strings.HasPrefix(what, "leave out ") {
			t.LeftOut++
		}
	}
	t.bytes += e.Bytes
	t.Tools, t.Tokens, t.Listed = len(t.names), (t.bytes+charactersPerToken-1)/charactersPerToken, e.Time
}

// tokenCosts reads the costs from the record. The server with the highest cost is first.
func tokenCosts(warn io.Writer) ([]*tokenCost, error) {
	dir, err := record.FindLogDir()
	if err != nil {
		return nil, err
	}
	by := map[string]*tokenCost{}
	costs := []*tokenCost{}
	add := func(e *event.Entry) error {
		name := e.Server
		if name == "" {
			name = e.ServerGuess + "?"
		}
		if e.Method != "tools/list" || name == "hub?" {
			return nil // each server of the hub is counted by itself, so the hub's common list is skipped
		}
		if by[name] == nil {
			by[name] = &tokenCost{Server: name}
			costs = append(costs, by[name])
		}
		by[name].addPage(e)
		return nil
	}
	f := audit.Filter{Kinds: []event.Kind{event.Listed}, Since: time.Now().Add(-recentLists)}
	if _, err := record.ShowEach(audit.Read(dir, f), add, warn); err != nil {
		return nil, err
	}
	slices.SortStableFunc(costs, func(a, b *tokenCost) int { return b.Tokens - a.Tokens })
	return costs, nil
}

// printTokens prints the output of clawai status --tokens.
func printTokens(c *cli.Context) error {
	costs, err := tokenCosts(c.App.ErrWriter)
	if err != nil {
		return err
	}
	w := c.App.Writer
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(w, map[string]any{"tokens": costs})
	}
	if len(costs) == 0 {
		_, err := fmt.Fprintln(w, "No server's list of tools is on record of the last 30 days: use a client whose servers stand behind clawai first.")
		return err
	}
	fmt.Fprintf(w, "An estimate, %d characters a token, of what each server's tools cost the model with a request:\n", charactersPerToken)
	total := 0
	for _, t := range costs {
		total += t.Tokens
		left := ""
		if t.LeftOut > 0 {
			left = fmt.Sprintf(" (%d of them left out for the client)", t.LeftOut)
		}
		fmt.Fprintf(w, "  %s  %7d tokens  %s  %s%s\n", cmdline.Pad(cmdline.CutMiddle(term.VisibleLine(t.Server), 24), 24), t.Tokens, t.Listed.Local().Format(time.DateOnly), cmdline.CountText(t.Tools, "1 tool", "%d tools"), left)
	}
	_, err = fmt.Fprintf(w, "  %s  %7d tokens\n", cmdline.Pad("together", 24), total)
	return err
}
