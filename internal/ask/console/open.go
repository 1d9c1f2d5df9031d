package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// Opening holds the rules that could allow a recorded call in the future, for the person to choose
// one. All its texts are harmless.
type Opening struct {
	About   []string     // the recorded decision, and the parts of the call that the record does not have
	Dangers []string     // why the call needs care
	Offers  []view.Offer // the possible rules, the narrowest first
	// Preview returns lines about the rule of Offers[at]: its text, its place, the calls that it
	// allows and the calls that stay refused.
	Preview func(at int) ([]string, error)
	// Write writes the rule of Offers[at]. It returns a sentence that tells how to undo this.
	Write func(ctx context.Context, at int) (string, error)
}

// Messages to Update about a call of the record.
type (
	openedMsg struct {
		what     string
		about    string // one line about the call
		opening  *Opening
		previews [][]string
		err      error
	}
	wroteMsg struct {
		what, said string
		err        error
	}
	explainedMsg struct {
		what  string
		lines []string // the first line is about the call itself
		err   error
	}
)

// pressRow handles a key on a page of the overview.
func (m *model) pressRow(key string) {
	c := m.page().list.cursorRow()
	switch {
	case c == nil || m.grace.IsEarly():
	case key == "o" && m.tab == callsTab:
		m.openCall(c)
		return
	case key == "enter" && c.Explain != nil:
		m.explainCall(c)
		return
	}
	m.startGrace()
}

// openCall prepares the rules that would allow a call. It makes all previews before it asks the
// person, because a preview takes long.
func (m *model) openCall(c *Row) {
	switch {
	case c.Open == nil && c.Look == view.Allowed:
		m.addNews("%s: it is open, it was allowed", rowTitle(c))
		return
	case c.Open == nil:
		m.addNews("%s: no rule can open this", rowTitle(c))
		return
	}
	what, about, open := rowTitle(c), c.Facts(0)[0], c.Open
	m.addNews("%s: trying what a rule would open", what)
	m.runJob(func(ctx context.Context) tea.Msg {
		msg := openedMsg{what: what, about: about}
		if msg.opening, msg.err = open(ctx); msg.err != nil {
			return msg
		}
		for i := range msg.opening.Offers {
			lines, err := msg.opening.Preview(i)
			if err != nil {
				msg.err = err
				return msg
			}
			msg.previews = append(msg.previews, lines)
		}
		return msg
	})
}

// askToOpen asks the person to choose one of the rules and to confirm it, like an "always" answer.
func (m *model) askToOpen(msg openedMsg) {
	if msg.err != nil {
		m.addNews("%s: %s", msg.what, term.VisibleText(msg.err.Error()))
		return
	}
	if m.ask != nil || m.edit != nil || m.tab != callsTab {
		m.addNews("%s: press o again for its rules", msg.what)
		return
	}
	o, f := msg.opening, &Facts{Question: view.Question{Dangers: msg.opening.Dangers}}
	m.chooseOffer("", len(o.Offers), func(at int) dialog.Page {
		facts := slices.Concat(dangerLines(f, gate.AllowAlways), []string{msg.about}, o.About, []string{""}, scopeLines(o.Offers, at), []string{""}, msg.previews[at])
		page := dialog.ConfirmPage(alwaysTitle(f, gate.AllowAlways), "write it and allow", true, facts...)
		page.Alarm = f.NeedsCare()
		return page
	}, func(at int) {
		write := o.Write
		m.runJob(func(ctx context.Context) tea.Msg {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
			defer cancel()
			said, err := write(ctx, at)
			return wroteMsg{msg.what, said, err}
		})
	})
}

func (m *model) reportWritten(msg wroteMsg) {
	if msg.err != nil {
		m.addNews("%s: %s", msg.what, term.VisibleText(msg.err.Error()))
		return
	}
	m.addNews("%s: %s", msg.what, msg.said)
}

func (m *model) explainCall(c *Row) {
	what, about, explain := rowTitle(c), c.Facts(0)[0], c.Explain
	near := m.neighbourLines(c)
	m.runJob(func(ctx context.Context) tea.Msg {
		why, rules, err := explain(ctx)
		return explainedMsg{what, slices.Concat([]string{about, ""}, why, near, []string{""}, rules), err}
	})
}

func (m *model) showExplanation(msg explainedMsg) {
	switch {
	case msg.err != nil:
		m.addNews("%s: %s", msg.what, term.VisibleText(msg.err.Error()))
	case m.ask == nil && m.edit == nil && m.tab == callsTab:
		lines := msg.lines
		m.openQuestion(&question{Question: dialog.Question{Page: dialog.Page{
			Facts:    func(width int) ([]string, int) { return view.Wrap(lines, width), 0 },
			Headed:   true,
			Decision: "Why it was decided so. Nothing is answered while this is open.",
			Choices:  []dialog.Choice{{Word: dialog.No, Label: "Go back", Brief: "go back"}},
			Hints:    []string{"PgUp PgDn scroll"},
		}}})
	}
}

// maxNear is the maximum number of calls shown before a call, and again after it.
const maxNear = 3

// neighbourLines returns the calls of the same session before and after a call. It knows only the
// calls that the screen holds.
func (m *model) neighbourLines(c *Row) []string {
	var same []*Row
	for i := range m.pages[0].list.all {
		if r := &m.pages[0].list.all[i]; r.Session == c.Session {
			same = append(same, r)
		}
	}
	at := slices.IndexFunc(same, func(r *Row) bool { return r.ID == c.ID })
	if at < 0 || len(same) == 1 {
		return nil
	}
	lines := []string{"", "Around it, in the same session, the newest first:"}
	for i := max(0, at-maxNear); i < min(len(same), at+maxNear+1); i++ {
		mark := "  "
		if i == at {
			mark = "> "
		}
		lines = append(lines, mark+same[i].Line(m.width-len(mark)))
	}
	return lines
}

// titleCells is the width of a call's name in a line of news. The line also needs room for the
// result.
const titleCells = 24

// rowTitle returns a short name of a call.
func rowTitle(c *Row) string {
	return view.Cut(strings.TrimSpace(strings.TrimPrefix(c.Facts(0)[0], c.Word)), titleCells)
}

// scopeLines returns a line for each offered rule with its scope. The parameter at is the index of
// the chosen rule.
func scopeLines(offers []view.Offer, at int) []string {
	lines := []string{"How far should the rule reach?", ""}
	for i, o := range offers {
		cursor := "  "
		if i == at {
			cursor = "> "
		}
		lines = append(lines, fmt.Sprintf("%s%d  %-7s %s", cursor, i+1, term.VisibleLine(o.Scope), term.VisibleText(o.Title)))
	}
	return lines
}
